"""Which texts of a session are embedded again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from subconscious.embeddings import query_embedder
from subconscious.embeddings.local import LocalEmbedder
from subconscious.embeddings.query_embedder import QueryEmbedder, RemoteOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Counting(LocalEmbedder):
    """The local model, and what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().embed(texts)


async def test_a_text_is_embedded_once_while_its_vector_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_embedder, "RECENT", 2)
    one, embedder = QueryEmbedder("local", None, RemoteOptions()), Counting()
    one.set_embedder(embedder)
    first, again = await one.prompt_vector("where is the retry?"), await one.prompt_vector("where is the retry?")
    assert first is again
    for text in ("the retry is in upload.py", "the footer is blue", "where is the retry?"):
        assert await one.prompt_vector(text) is not None
    assert embedder.asked.count("where is the retry?") == 2  # the third text took its place
    assert await one.local_vector("to be stored") is not None
    assert await one.prompt_vector("where is the retry?") is not None
    assert embedder.asked.count("where is the retry?") == 2  # what is stored takes no place
    await one.close()
