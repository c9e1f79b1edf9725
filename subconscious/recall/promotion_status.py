"""Computes the promotion status of memories, from a passing remark to project knowledge.

The status is computed when requested and not stored, so that a repetition, correction or suspicion takes effect at
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from subconscious.domain.model import Level, Memory
from subconscious.domain.promotion import PROMOTED, Bars, Facts, PromotionStatus, promotion_status
from subconscious.domain.trust import Trust, trust_of
from subconscious.settings.settings import Settings
from subconscious.store import fading, poison, promotion, responses
from subconscious.store.connect import Database
from subconscious.store.promotion import Statements

AT_ONCE = 500
"""The most memories in one query."""


async def standings(database: Database, found: Sequence[Memory], settings: Settings) -> dict[int, PromotionStatus]:
    """Return the promotion status of each memory."""
    bars = Bars(settings.promote_from, settings.observe_from)
    known: dict[int, PromotionStatus] = {}
    for start in range(0, len(found), AT_ONCE):
        part = found[start : start + AT_ONCE]
        facts = await _facts(database, part)
        known |= await asyncio.to_thread(_weighed, part, facts, bars)
    return known


def _weighed(found: Sequence[Memory], facts: Mapping[int, Facts], bars: Bars) -> dict[int, PromotionStatus]:
    return {memory.id: promotion_status(memory, facts[memory.id], bars) for memory in found}


async def promoted(database: Database, found: Sequence[Memory], settings: Settings) -> set[int]:
    """Return the ids of the memories that are project knowledge."""
    known = await standings(database, found, settings)
    return {memory_id for memory_id, one in known.items() if one.status == PROMOTED}


async def _facts(database: Database, found: Sequence[Memory]) -> dict[int, Facts]:
    ids = [memory.id for memory in found]
    said = await promotion.statements(database, found)
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


def _flaw(memory: Memory, said: Statements, level: Level, *, superseded: bool) -> str:
    """Return why a memory must not be promoted; "" if it may be promoted."""
    worst = max(level, said.level, key=lambda one: one.rank)
    if memory.is_claude_note:
        return "an agent's own note"
    if said.quarantined:
        return "in quarantine"
    if trust_of(memory, level=worst) is Trust.SUSPECT:
        return f"it may be poisoned ({worst})"
    if superseded:
        return "it is superseded by another memory"
    if memory.unconfirmed:
        return "it is unconfirmed"
    return "archived" if memory.archived_at is not None else ""
