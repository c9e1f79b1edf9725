"""Which texts the local model can read."""

from __future__ import annotations

import pytest

from subconscious.embeddings.local import LocalEmbedder
from subconscious.embeddings.query_embedder import QueryEmbedder, RemoteOptions
from subconscious.embeddings.readable import is_readable


@pytest.mark.parametrize(
    "text",
    [
        "Deploy from main \U0001f680, at \u2764\ufe0f.",
        "wir loggen nur als JSON, eine Zeile je Ereignis",
        "répertoire des migrations : n'y touche pas",
        "prod db is on 6543",
        "\u0394t is 5 ms in the simulation",
    ],
)
def test_words_in_latin_letters_can_be_read(text: str) -> None:
    assert is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 30",
        "\u2192",
        "\u672c\u756a",
        "\U00020000",
        "деплой только по вторникам",
        "배포는 화요일에만",
        "xqzt brglf",
    ],
)
def test_other_scripts_numbers_and_made_up_words_cannot(text: str) -> None:
    assert not is_readable(text)


async def test_a_query_that_the_model_cannot_read_is_searched_by_words() -> None:
    queries = QueryEmbedder("minilm", None, RemoteOptions())
    queries.set_embedder(LocalEmbedder())
    assert await queries.search_vector("деплой по вторникам") is None
    for text in ("deploys on tuesdays", "kafka", "oauth", "Gr\u00f6\u00dfe"):
        assert await queries.search_vector(text) is not None
    assert await queries.local_vector("деплой по вторникам") is not None
