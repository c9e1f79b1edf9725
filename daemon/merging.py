"""Merges at night what was said twice: each memory is compared once with those that are near it.

A merge, and the note that a memory was compared, are one transaction, so that a run which is cut short at any point
repeats nothing. What a merge did is one act: whoever takes it back leaves the two apart for good.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiosqlite

from subconscious.flow.merging import NEIGHBOURS, fold, staying, twins_of
from subconscious.model import Memory
from subconscious.store import memories, merges

from .core import Core

if TYPE_CHECKING:
    from subconscious.store.vectors import Vector

PORTION = 20
"""Memories that one step compares."""

A_NIGHT = 2000
"""Memories that one run compares; the next goes on where it stopped."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories that say the same, as they were found."""

    gone: Memory
    stays: Memory
    cosine: float


@dataclass(frozen=True, slots=True)
class Done:
    """How many memories were compared, how many merges that came to, and the id to go on behind."""

    compared: int = 0
    merged: int = 0
    last: int = 0


async def portion(core: Core, after: int = 0) -> Done:
    """Compare some memories that were not compared yet, behind an id."""
    if not await _may(core):
        return Done()
    model = core.embedding.sense.model
    batch = await merges.unsearched(core.database, model, PORTION, after)
    merged = 0
    for memory in batch:
        merged += await _compare(core, memory, model)
    return Done(len(batch), merged, batch[-1].id if batch else after)


async def _may(core: Core) -> bool:
    """Whether it is wanted, and there is something to look in; a daemon that has just started has it in a moment."""
    await core.embedding.opened()
    return core.embedding.index is not None and core.in_force(core.settings).dedupe


async def _compare(core: Core, memory: Memory, model: str) -> int:
    """Merge one memory with what says the same; how many merges that came to."""
    near = await nearest(core, memory)
    async with core.database.write() as tx:
        pairs = await _pairs(tx, memory, near, Outlook())
        for pair in pairs:
            gone, stays = [await memories.held(tx, one.id) for one in (pair.gone, pair.stays)]
            await fold(tx, gone, stays, pair.cosine)
        await merges.note(tx, memory, model)
    await core.embedding.refresh([pair.gone.id for pair in pairs])
    return len(pairs)


@dataclass(frozen=True, slots=True)
class Outlook:
    """How memories will stand after merges that were found and not yet done: what goes into what, and what stays."""

    into: dict[int, int] = field(default_factory=dict)
    stays: dict[int, Memory] = field(default_factory=dict)

    def add(self, pair: Pair) -> Memory:
        """Count on one more; what stays, as it will be."""
        self.into[pair.gone.id] = pair.stays.id
        self.stays[pair.stays.id] = merges.whole(pair.gone, pair.stays)
        return self.stays[pair.stays.id]

    def of(self, memory: Memory | None) -> Memory | None:
        """A memory as it will be; None for one that goes."""
        return None if memory is None or memory.id in self.into else self.stays.get(memory.id, memory)

    def behind(self, number: int) -> set[int]:
        """A memory with all that will have been merged into it: it will have their links, too."""
        return {number, *(one for gone, stays in self.into.items() if stays == number for one in self.behind(gone))}


async def _pairs(tx: aiosqlite.Connection, memory: Memory, near: dict[int, float], outlook: Outlook) -> list[Pair]:
    """The merges that one memory comes to, in their order: what stays is compared on with the rest."""
    known = await merges.free(tx, [memory.id, *near])
    chosen = await merges.chosen(tx, list(known))
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
    return any([await merges.opposed(tx, one, other) for one in ones for other in others])


def _pair(one: Memory, other: Memory, cosine: float, chosen: set[int]) -> Pair | None:
    """Which of two goes; None where a person has chosen both, each for its own sake."""
    stays = staying(one, other, chosen)
    gone = other if stays is one else one
    return None if gone.pinned or gone.id in chosen else Pair(gone, stays, cosine)


async def nearest(core: Core, memory: Memory) -> dict[int, float]:
    """The memories of the same project, or the user's own, that are near enough to say the same."""
    index, vector = core.embedding.index, await _vector(core, memory)
    if index is None or vector is None:
        return {}
    least = core.in_force(core.settings).dedupe_likeness
    found = await index.search((memory.project_id or "",), vector, NEIGHBOURS + 1)
    return {number: cosine for number, cosine in found if cosine > least and number != memory.id}


async def _vector(core: Core, memory: Memory) -> Vector | None:
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    return await vectors.vector_of(core.database, core.embedding.sense.model, memory.id)


async def preview(core: Core, project_id: str | None, limit: int) -> list[Pair]:
    """What the next run would merge of one project and the user's own, or of all; changes nothing."""
    if not await _may(core):
        return []
    found: list[Pair] = []
    outlook = Outlook()
    for memory in await merges.unsearched(core.database, core.embedding.sense.model, A_NIGHT):
        if memory.id in outlook.into or (project_id and memory.project_id not in (None, project_id)):
            continue
        found += await _pairs(core.database.reader, memory, await nearest(core, memory), outlook)
        if len(found) >= limit:
            break
    return found[:limit]
