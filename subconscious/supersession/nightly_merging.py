"""Merges memories that say the same, at night. Each memory is compared once with the most similar ones.

A merge and the record of the comparison are one transaction, so that an interrupted run repeats nothing. A merge can be
undone as a whole; the two memories are then not merged again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiosqlite

from subconscious.app import App
from subconscious.domain.model import Memory
from subconscious.store import memories, merges
from subconscious.supersession.merging import NEIGHBOURS, fold, staying, twins_of

if TYPE_CHECKING:
    from subconscious.store.vectors import Vector

PORTION = 20
"""The number of memories that one step compares."""

A_NIGHT = 2000
"""The number of memories that one run compares; the next run continues after them."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories that say the same, and their cosine; ``gone`` is merged into ``stays``."""

    gone: Memory
    stays: Memory
    cosine: float


@dataclass(frozen=True, slots=True)
class Done:
    """How many memories were compared and how many merged, and the id after which to continue."""

    compared: int = 0
    merged: int = 0
    last: int = 0


async def portion(app: App, after: int = 0) -> Done:
    """Compare the next memories with an id above ``after`` that have not been compared yet, and merge repetitions."""
    if not await _may(app):
        return Done()
    model = app.embedding.current.model
    batch = await merges.unsearched(app.database, model, PORTION, after)
    merged = 0
    for memory in batch:
        merged += await _compare(app, memory, model)
    return Done(len(batch), merged, batch[-1].id if batch else after)


async def _may(app: App) -> bool:
    """Whether merging is enabled and the index is loaded. Waits if the daemon has just started."""
    await app.embedding.wait_until_open()
    return app.embedding.index is not None and app.config.current.dedupe


async def _compare(app: App, memory: Memory, model: str) -> int:
    """Merge one memory with those that say the same; return the number of merges."""
    near = await nearest(app, memory)
    async with app.database.write() as tx:
        pairs = await _pairs(tx, memory, near, Outlook())
        for pair in pairs:
            gone, stays = [await memories.require(tx, one.id) for one in (pair.gone, pair.stays)]
            await fold(tx, gone, stays, pair.cosine)
        await merges.record_search(tx, memory, model)
    await app.embedding.refresh([pair.gone.id for pair in pairs])
    return len(pairs)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The result of merges that have been found but not carried out yet."""

    into: dict[int, int] = field(default_factory=dict)
    stays: dict[int, Memory] = field(default_factory=dict)

    def add(self, pair: Pair) -> Memory:
        """Add a merge; return the merged memory as it will be."""
        self.into[pair.gone.id] = pair.stays.id
        self.stays[pair.stays.id] = merges.merged(pair.gone, pair.stays)
        return self.stays[pair.stays.id]

    def of(self, memory: Memory | None) -> Memory | None:
        """Return a memory as it will be after the merges; None if it will be merged into another."""
        return None if memory is None or memory.id in self.into else self.stays.get(memory.id, memory)

    def behind(self, number: int) -> set[int]:
        """Return the id of a memory and the ids of all memories that will be merged into it, and whose links it will inherit."""
        return {number, *(one for gone, stays in self.into.items() if stays == number for one in self.behind(gone))}


async def _pairs(tx: aiosqlite.Connection, memory: Memory, near: dict[int, float], outlook: Outlook) -> list[Pair]:
    """Return the merges to make for one memory, in order; each merged memory is compared with the other neighbours."""
    known = await merges.mergeable(tx, [memory.id, *near])
    chosen = await merges.rated(tx, list(known))
    held = outlook.of(known.pop(memory.id, None))
    if held is None:
        return []
    found: list[Pair] = []
    for one in await twins_of(held, known.values()):
        other = outlook.of(one)
        if other is None or await _opposed(tx, outlook.behind(held.id), outlook.behind(other.id)):
            continue
        pair = _pair(held, other, near[other.id], chosen)
        if pair is not None:
            held = outlook.add(pair)
            found.append(pair)
    return found


async def _opposed(tx: aiosqlite.Connection, ones: Collection[int], others: Collection[int]) -> bool:
    return any([await merges.are_conflicting(tx, one, other) for one in ones for other in others])


def _pair(one: Memory, other: Memory, cosine: float, chosen: set[int]) -> Pair | None:
    """Return the merge of two memories; None if both are pinned or have an importance that a person set."""
    stays = staying(one, other, chosen)
    gone = other if stays is one else one
    return None if gone.pinned or gone.id in chosen else Pair(gone, stays, cosine)


async def nearest(app: App, memory: Memory) -> dict[int, float]:
    """Return the cosine of each similar memory, by id; {} while the index loads or if the memory has no vector.

    Only memories of the same project are compared; for a user-wide memory, only other user-wide memories.
    """
    index, vector = app.embedding.index, await _vector(app, memory)
    if index is None or vector is None:
        return {}
    least = app.config.current.dedupe_likeness
    found = await index.search((memory.project_id or "",), vector, NEIGHBOURS + 1)
    return {number: cosine for number, cosine in found if cosine > least and number != memory.id}


async def _vector(app: App, memory: Memory) -> Vector | None:
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    return await vectors.vector_of(app.database, app.embedding.current.model, memory.id)


async def preview(app: App, project_id: str | None, limit: int) -> list[Pair]:
    """Return the merges that the next run would make, without making them.

    With a project, only merges of its memories and of user-wide ones are returned; with None, those of all projects.
    """
    if not await _may(app):
        return []
    found: list[Pair] = []
    outlook = Outlook()
    for memory in await merges.unsearched(app.database, app.embedding.current.model, A_NIGHT):
        if memory.id in outlook.into or (project_id and memory.project_id not in (None, project_id)):
            continue
        found += await _pairs(app.database.reader, memory, await nearest(app, memory), outlook)
        if len(found) >= limit:
            break
    return found[:limit]
