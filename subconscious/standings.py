"""How memories stand between passing remark and project knowledge: looked up and weighed when asked.

Nothing of it is stored: a memory that is said again, corrected or flagged stands otherwise the next time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from subconscious.model import Level, Memory, Trust
from subconscious.promote import PROMOTED, Bars, Facts, Standing, standing
from subconscious.settings import Settings
from subconscious.store import fading, poison, promotion, responses
from subconscious.store.connect import Database
from subconscious.store.promotion import Said
from subconscious.trust import trust_of

AT_ONCE = 500
"""Memories that are looked up at once."""


async def standings(database: Database, found: Sequence[Memory], settings: Settings) -> dict[int, Standing]:
    """How each of these memories stands."""
    bars = Bars(settings.promote_from, settings.observe_from)
    known: dict[int, Standing] = {}
    for start in range(0, len(found), AT_ONCE):
        part = found[start : start + AT_ONCE]
        facts = await _facts(database, part)
        known |= await asyncio.to_thread(_weighed, part, facts, bars)
    return known


def _weighed(found: Sequence[Memory], facts: Mapping[int, Facts], bars: Bars) -> dict[int, Standing]:
    return {memory.id: standing(memory, facts[memory.id], bars) for memory in found}


async def promoted(database: Database, found: Sequence[Memory], settings: Settings) -> set[int]:
    """Those of these memories that are project knowledge."""
    known = await standings(database, found, settings)
    return {memory_id for memory_id, one in known.items() if one.status == PROMOTED}


async def _facts(database: Database, found: Sequence[Memory]) -> dict[int, Facts]:
    ids = [memory.id for memory in found]
    said = await promotion.said(database, found)
    levels = await poison.levels(database, ids)
    used = await fading.facts(database, ids)
    known = await responses.of_memories(database, ids)
    return {
        memory.id: Facts(
            sessions=max(1, len(said[memory.id].sessions)),
            citations=used[memory.id].citations if memory.id in used else 0,
            used=known.get(memory.id, responses.NONE).used,
            violated=known.get(memory.id, responses.NONE).violated,
            flaw=_flaw(
                memory,
                said[memory.id],
                levels.get(memory.id, Level.NONE),
                superseded=memory.id in used and used[memory.id].superseded,
            ),
        )
        for memory in found
    }


def _flaw(memory: Memory, said: Said, level: Level, *, superseded: bool) -> str:
    """Why a memory may not be promoted; "" where nothing speaks against it."""
    worst = max(level, said.level, key=lambda one: one.rank)
    if memory.is_claude_note:
        return "a note of Claude's own"
    if said.held:
        return "in quarantine"
    if trust_of(memory, level=worst) is Trust.SUSPECT:
        return f"it may be poisoned ({worst})"
    if superseded:
        return "another has taken its place"
    return "archived" if memory.archived_at is not None else ""
