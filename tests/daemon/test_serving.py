"""What changes while an index is opened reaches it, however many are opened at once; one that fails leaves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from subconscious.embeddings.background import Embedding
from subconscious.embeddings.embedder_fallback import OpenedEmbedder
from subconscious.embeddings.model_switch import ModelSwitch
from subconscious.embeddings.query_embedder import QueryEmbedder, RemoteOptions
from subconscious.store import vectors
from subconscious.store.connect import Database
from subconscious.store.embedding_models import EmbeddingModel

FULL = OSError("no space left on device")


class Listed:
    """An index that only notes what it is told, and that its opening can be held up."""

    def __init__(self, error: Exception | None = None) -> None:
        self.told: list[int] = []
        self.closed = False
        self.may_open = asyncio.Event()
        self.error = error

    async def refresh(self, ids: Sequence[int]) -> None:
        if self.error is not None:
            raise self.error
        self.told += ids

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The index, or the error, that opening brings, by model."""
    known: dict[str, Any] = {}

    async def opened(database: Database, model: str, dim: int) -> Any:
        found = known[model]
        if isinstance(found, Exception):
            raise found
        await found.may_open.wait()
        return found

    monkeypatch.setattr(vectors, "open_index", opened)
    return known


@pytest.fixture
async def serving(database: Database) -> AsyncIterator[ModelSwitch]:
    embedding = Embedding("none", database)
    yield embedding._switch
    await embedding.close()


def model(name: str) -> EmbeddingModel:
    return EmbeddingModel(name, name, 8)


async def test_two_that_are_opened_at_once_each_hear_of_everything(
    serving: ModelSwitch, indexes: dict[str, Any]
) -> None:
    one, other = indexes.setdefault("one", Listed()), indexes.setdefault("other", Listed())
    first = asyncio.create_task(serving.open_model(model("one")))
    second = asyncio.create_task(serving.open_model(model("other")))
    await asyncio.sleep(0)
    await serving.refresh([1])
    one.may_open.set()
    await first
    await serving.refresh([2])
    other.may_open.set()
    await second
    assert (one.told, sorted(other.told)) == ([1], [1, 2])


async def test_one_that_cannot_be_opened_collects_nothing_for_ever(
    serving: ModelSwitch, indexes: dict[str, Any]
) -> None:
    indexes["one"] = FULL
    with pytest.raises(OSError, match="no space"):
        await serving.open_model(model("one"))
    await serving.refresh([1])
    assert not serving._missed


async def test_a_model_that_can_not_catch_up_is_closed(serving: ModelSwitch, indexes: dict[str, Any]) -> None:
    one = indexes.setdefault("one", Listed(FULL))
    opening = asyncio.create_task(serving.open_model(model("one")))
    await asyncio.sleep(0)
    await serving.refresh([1])
    one.may_open.set()
    with pytest.raises(OSError, match="no space"):
        await opening
    assert one.closed
    assert not serving._missed


async def test_a_new_model_gets_changes_before_it_is_active(
    serving: ModelSwitch, indexes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    coming = indexes.setdefault("new", Listed())
    coming.may_open.set()
    old: Any = Listed()
    serving.current = QueryEmbedder("old", old, RemoteOptions())

    async def looked_for() -> bool:
        await serving.refresh([7])  # a purge, say
        return True

    monkeypatch.setattr(serving, "_can_current_embed", looked_for)
    embedder: Any = NoEmbedder()
    await serving.switch_to(OpenedEmbedder("openai", embedder, model("new")))
    assert serving.upcoming is not None
    assert coming.told == [7]


class NoEmbedder:
    """Is never asked."""

    remote = True

    def close(self) -> None:
        pass
