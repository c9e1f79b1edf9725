"""What the remote embedders owe beyond the contract: failures told apart, answers doubted, nothing from outside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.errors import EmbedderBusyError, EmbedderError, EmbedderKeyError, EmbedderTextError
from subconscious.embeddings.embedder import Access, Embedder, open_embedder
from subconscious.embeddings.ollama import OllamaEmbedder
from subconscious.embeddings.openai import OpenAIEmbedder
from subconscious.embeddings.remote import BLANK, Answer, portions, verified
from tests.support.embedding_server import EmbeddingServer, Failure, embedding_server, is_unit, wide

REMOTE = ("openai", "ollama")
both = pytest.mark.parametrize("name", REMOTE)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def opened(name: str, server: EmbeddingServer, **changes: Any) -> Embedder:
    values = {"base_url": server.url + ("/v1" if name == "openai" else ""), "key": "dummy", "model": "toy"}
    embedder = open_embedder(name, Access(**{**values, **changes}))
    assert embedder is not None
    return embedder


@both
def test_a_models_dimension_is_learned_and_part_of_its_name(name: str, server: EmbeddingServer) -> None:
    server.models["broad"] = wide
    one, other = opened(name, server), opened(name, server, model="broad")
    assert (one.dim, one.name) == (32, f"{name}:toy:32")
    assert (other.dim, other.name) == (48, f"{name}:broad:48")
    one.close()
    other.close()


@both
@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(401), EmbedderKeyError),
        (Failure(403), EmbedderKeyError),
        (Failure(404), EmbedderError),
        (Failure(400), EmbedderTextError),
        (Failure(429, headers={"retry-after": "7"}), EmbedderBusyError),
        (Failure(500), EmbedderBusyError),
        (Failure(503, b"<html>overloaded</html>"), EmbedderBusyError),
        (Failure(302, headers={"location": "http://127.0.0.1:9/"}), EmbedderBusyError),
        (Failure(200, b"not json"), EmbedderBusyError),
        (Failure(200, b'["another kind"]'), EmbedderBusyError),
        (Failure(200, b'{"data": [{}], "embeddings": "none"}'), EmbedderBusyError),
        (Failure(200, b'{"data": [', cut=True), EmbedderBusyError),
        (Failure(seconds=1.0), EmbedderBusyError),
    ],
    ids=lambda value: f"{value.status}-{len(value.body)}-{value.seconds}" if isinstance(value, Failure) else "",
)
def test_failures_are_distinguished(
    name: str, server: EmbeddingServer, failure: Failure, kind: type[Exception]
) -> None:
    embedder = opened(name, server, timeout=0.3)
    before = len(server.asked)
    server.failures = [failure]
    with pytest.raises(EmbedderError) as raised:
        embedder.embed(["once"])
    assert type(raised.value) is kind
    assert raised.value.remedy
    assert len(server.asked) == before + 1  # retries are the caller's
    assert len(embedder.embed(["and again"])) == 1
    embedder.close()


@both
def test_a_pause_that_is_asked_for_is_passed_on(name: str, server: EmbeddingServer) -> None:
    embedder = opened(name, server)
    for header, seconds in (("7", 7.0), ("0.5", 0.5), ("Sun, 06 Nov 1994 08:49:37 GMT", None)):
        server.failures = [Failure(429, headers={"retry-after": header})]
        with pytest.raises(EmbedderBusyError) as raised:
            embedder.embed(["x"])
        assert raised.value.retry_after == seconds
    embedder.close()


@both
def test_a_wrong_key_is_known_when_it_is_opened(name: str, server: EmbeddingServer) -> None:
    server.always = Failure(401)
    with pytest.raises(EmbedderKeyError) as raised:
        opened(name, server)
    assert raised.value.code == "E050"
    assert "embedder_key" in raised.value.remedy
    assert "dummy" not in str(raised.value) + raised.value.remedy


@both
def test_the_check_does_not_wait_for_long(name: str, server: EmbeddingServer) -> None:
    server.failures = [Failure(seconds=1.0)]
    with pytest.raises(EmbedderBusyError):
        opened(name, server, check_seconds=0.2)


@both
def test_an_unreachable_server_is_reported_with_a_remedy(name: str) -> None:
    with pytest.raises(EmbedderBusyError) as raised:
        open_embedder(name, Access(base_url="http://127.0.0.1:9", key="dummy"))
    assert "embedder_base_url" in raised.value.remedy


def test_openai_itself_is_not_asked_without_a_key() -> None:
    with pytest.raises(EmbedderKeyError):
        open_embedder("openai", Access())


@both
def test_nothing_comes_from_the_environment(
    name: str, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that happens to lie there, an address, headers, a proxy."""
    elsewhere = "http://127.0.0.1:9"
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OLLAMA_API_KEY"):
        monkeypatch.setenv(variable, "strays")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Stray: strays\nAuthorization: Bearer strays")
    for variable in ("OPENAI_BASE_URL", "OLLAMA_HOST", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, elsewhere)
    for key, header in (("dummy", "Bearer dummy"), ("", "Bearer none" if name == "openai" else None)):
        opened(name, server, key=key).close()
        assert server.asked[-1].headers.get("authorization") == header
    assert "strays" not in str([asked.headers for asked in server.asked])


def test_without_an_address_the_makers_own_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    asked = []

    def answer(self: Any, texts: list[str], timeout: float) -> Answer:
        client = self._client if self.provider == "openai" else self._client(timeout)._client
        asked.append(str(client.base_url).rstrip("/"))
        return Answer([[1.0, 0.0]], 1)

    monkeypatch.setattr(OpenAIEmbedder, "_ask", answer)
    monkeypatch.setattr(OllamaEmbedder, "_ask", answer)
    for embedder in (OpenAIEmbedder(Access(key="dummy")), OllamaEmbedder(Access())):
        embedder.close()
    assert asked == ["https://api.openai.com/v1", "http://127.0.0.1:11434"]


@both
@pytest.mark.parametrize(
    "spoil",
    [
        lambda found: found[:-1],
        lambda found: [*found, found[0]],
        lambda found: [[0.0] * 32 for _ in found],
        lambda found: [vector[:-1] for vector in found],
        lambda found: [found[0][:5], *found[1:]],
        lambda found: [[] for _ in found],
        lambda found: [[1e300 * number for number in vector] for vector in found],
    ],
    ids=["one too few", "one too many", "zeros", "shorter", "ragged", "empty", "beyond numbers"],
)
def test_an_invalid_vector_is_rejected(name: str, server: EmbeddingServer, spoil: Any) -> None:
    embedder = opened(name, server)
    server.vectors = spoil
    with pytest.raises(EmbedderTextError):
        embedder.embed(["one", "two"])
    embedder.close()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_points_nowhere_is_refused(number: float) -> None:
    with pytest.raises(EmbedderTextError):
        verified([[1.0, number]], 1, 2)


@both
def test_texts_come_back_in_their_order_and_portions_are_bounded(name: str, server: EmbeddingServer) -> None:
    embedder = opened(name, server)
    server.asked.clear()
    texts = ["abcdefghij"[n % 10] * (n + 1) for n in range(150)]
    together = embedder.embed(texts)
    assert max(len(asked.texts) for asked in server.asked) <= embedder.batch
    assert len(server.asked) > 1
    assert np.array_equal(together, np.concatenate([embedder.embed([text]) for text in texts]))
    assert is_unit(together)
    embedder.close()


def test_a_text_that_is_too_long_is_cut_until_the_model_takes_it(server: EmbeddingServer) -> None:
    embedder = opened("openai", server)
    server.longest = 1000
    server.asked.clear()
    vectors = embedder.embed(["short", "long " * 1500, "too"])
    assert is_unit(vectors)
    taken = [text for asked in server.asked if max(map(len, asked.texts)) <= 1000 for text in asked.texts]
    assert [len(text) for text in taken] == [5, 937, 3]
    embedder.close()


def test_a_model_without_embeddings_is_reported(server: EmbeddingServer) -> None:
    embedder = opened("openai", server)
    server.longest = 0
    with pytest.raises(EmbedderTextError):
        embedder.embed(["long " * 1500])
    embedder.close()


def test_ollama_is_asked_to_truncate(server: EmbeddingServer) -> None:
    opened("ollama", server).close()
    assert server.asked[0].path == "/api/embed"
    assert server.asked[0].body["truncate"] is True


@both
def test_every_call_is_reported_to_the_budget(name: str, server: EmbeddingServer) -> None:
    spent: list[tuple[str, str, int]] = []
    embedder = opened(name, server, spent=lambda *call: spent.append(call))
    embedder.embed(["four" * 10])
    embedder.close()
    assert [call[:2] for call in spent] == [(name, "toy")] * 2  # the check costs too
    assert spent[1][2] == 11


words = st.lists(st.text(max_size=30), max_size=40)


@given(words, st.integers(1, 7), st.integers(1, 60))
def test_portions_have_all_texts_in_order_within_the_limit(texts: list[str], count: int, characters: int) -> None:
    found = list(portions(texts, count, characters))
    assert [text for portion in found for text in portion] == texts
    for portion in found:
        assert 1 <= len(portion) <= count
        assert len(portion) == 1 or sum(map(len, portion)) <= characters
    # No portion would have taken what stands first in the next one.
    for portion, following in pairwise(found):
        assert len(portion) == count or sum(map(len, portion)) + len(following[0]) > characters


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4), min_size=1, max_size=5))
def test_vectors_are_of_unit_length_or_refused(vectors: list[list[float]]) -> None:
    try:
        found = verified(vectors, len(vectors), 4)
    except EmbedderTextError:
        assert any(math.hypot(*vector) <= 1e-11 for vector in vectors)
    else:
        assert is_unit(found)


def test_what_servers_refuse_is_not_sent(server: EmbeddingServer) -> None:
    embedder = opened("openai", server)
    server.asked.clear()
    embedder.embed(["", " \0 ", "a\ud800b"])
    assert server.texts == [BLANK, BLANK, "a?b"]
    embedder.close()
