"""What changes while an index is opened reaches it, however many are opened at once; one that fails leaves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from daemon.chain import Opened
from daemon.embedding import Embedding
from daemon.sense import Manners, Sense
from daemon.serving import Serving
from subconscious.store import vectors
from subconscious.store.connect import Database
from subconscious.store.models import Known

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
async def serving(database: Database) -> AsyncIterator[Serving]:
    embedding = Embedding("none", database)
    yield embedding._serving
    await embedding.close()


def model(name: str) -> Known:
    return Known(name, name, 8)


async def test_two_that_are_opened_at_once_each_hear_of_everything(serving: Serving, indexes: dict[str, Any]) -> None:
    one, other = indexes.setdefault("one", Listed()), indexes.setdefault("other", Listed())
    first = asyncio.create_task(serving.sense_of(model("one")))
    second = asyncio.create_task(serving.sense_of(model("other")))
    await asyncio.sleep(0)
    await serving.refresh([1])
    one.may_open.set()
    await first
    await serving.refresh([2])
    other.may_open.set()
    await second
    assert (one.told, sorted(other.told)) == ([1], [1, 2])


async def test_one_that_cannot_be_opened_collects_nothing_for_ever(serving: Serving, indexes: dict[str, Any]) -> None:
    indexes["one"] = FULL
    with pytest.raises(OSError, match="no space"):
        await serving.sense_of(model("one"))
    await serving.refresh([1])
    assert not serving._missed


async def test_one_that_cannot_take_over_what_it_missed_is_closed(serving: Serving, indexes: dict[str, Any]) -> None:
    one = indexes.setdefault("one", Listed(FULL))
    opening = asyncio.create_task(serving.sense_of(model("one")))
    await asyncio.sleep(0)
    await serving.refresh([1])
    one.may_open.set()
    with pytest.raises(OSError, match="no space"):
        await opening
    assert one.closed
    assert not serving._missed


async def test_one_that_comes_hears_of_what_changes_before_it_is_known_who_serves(
    serving: Serving, indexes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    coming = indexes.setdefault("new", Listed())
    coming.may_open.set()
    old: Any = Listed()
    serving.sense = Sense("old", old, Manners())

    async def looked_for() -> bool:
        await serving.refresh([7])  # a purge, say
        return True

    monkeypatch.setattr(serving, "_old_still_answers", looked_for)
    embedder: Any = NoEmbedder()
    await serving.aim(Opened("openai", embedder, model("new")))
    assert serving.coming is not None
    assert coming.told == [7]


class NoEmbedder:
    """Is never asked."""

    remote = True

    def close(self) -> None:
        pass
