"""Merges at night what was said twice (SPEC D12): each memory is compared once with those that are near it.

A merge, and the note that a memory was compared, are one transaction, so that a run which is cut short at any point
repeats nothing. What a merge did is one act: whoever takes it back leaves the two apart for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiosqlite

from subconscious.flow.merging import NEIGHBOURS, fold, is_twin, staying
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
    """Merge one memory with what says the same; what stays is compared on with the rest."""
    near = await nearest(core, memory)
    gone: list[int] = []
    async with core.database.write() as tx:
        known = await merges.free(tx, [memory.id, *near])
        held = known.pop(memory.id, None)
        for other in known.values() if held is not None else ():
            if held is None or not is_twin(held, other) or await merges.opposed(tx, held.id, other.id):
                continue
            pair = _pair(held, other, near[other.id], await merges.chosen(tx, [held.id, other.id]))
            if pair is not None:
                await fold(tx, pair.gone, pair.stays, pair.cosine)
                gone.append(pair.gone.id)
                held = await memories.held(tx, pair.stays.id)
        await merges.note(tx, memory, model)
    await core.embedding.refresh(gone)
    return len(gone)


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
    gone: set[int] = set()
    for memory in await merges.unsearched(core.database, core.embedding.sense.model, A_NIGHT):
        if memory.id in gone or (project_id and memory.project_id not in (None, project_id)):
            continue
        near = await nearest(core, memory)
        async with core.database.write() as tx:
            found += [pair for pair in await _pairs(tx, memory, near) if pair.gone.id not in gone]
        gone.update(pair.gone.id for pair in found)
        if len(found) >= limit:
            break
    return found[:limit]


async def _pairs(tx: aiosqlite.Connection, memory: Memory, near: dict[int, float]) -> list[Pair]:
    known = await merges.free(tx, [memory.id, *near])
    chosen = await merges.chosen(tx, list(known))
    if known.pop(memory.id, None) is None:
        return []
    twins = [one for one in known.values() if is_twin(memory, one) and not await merges.opposed(tx, memory.id, one.id)]
    pairs = [_pair(memory, one, near[one.id], chosen) for one in twins]
    return [pair for pair in pairs if pair is not None]
