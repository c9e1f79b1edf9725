"""Collects reasons to distrust memories: contradicting or superseding memories, suspicion of poisoning, staleness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from subconscious import decay
from subconscious.domain.hits import Hit
from subconscious.domain.model import Level, Link, Memory
from subconscious.domain.trust import Repute, trust_of
from subconscious.settings.settings import Settings
from subconscious.store import links, poison
from subconscious.store.connect import Database

AT_ONCE = 10
"""The most memories in one query: for many ids, SQLite scans whole tables instead of using the index."""


async def reputes(
    database: Database, found: Sequence[Memory], settings: Settings, now: float, project_id: str | None = None
) -> dict[int, Repute]:
    """Return the trust in each memory as seen from ``project_id``; {} if trust marks are switched off."""
    if not settings.trust_marks:
        return {}
    known: dict[int, Repute] = {}
    for start in range(0, len(found), AT_ONCE):
        known |= await _reputes(database, found[start : start + AT_ONCE], settings, now, project_id)
    return known


async def _reputes(
    database: Database, found: Sequence[Memory], settings: Settings, now: float, project_id: str | None
) -> dict[int, Repute]:
    ids = [memory.id for memory in found]
    bearing = await links.conflicts_and_successions(database, ids, project_id) if settings.links else []
    levels = await poison.levels(database, ids)
    return {
        memory.id: _repute(
            memory, bearing, levels.get(memory.id, Level.NONE), _is_stale(memory, now, settings.stale_days)
        )
        for memory in found
    }


async def of_hits(
    database: Database, hits: Sequence[Hit], settings: Settings, now: float, project_id: str | None = None
) -> list[Hit]:
    """Return the hits with the trust in their memories, which is looked up only for hits without it."""
    missing = [hit.memory for hit in hits if hit.repute is None]
    known = await reputes(database, missing, settings, now, project_id)
    return [replace(hit, repute=hit.repute or known.get(hit.memory.id)) for hit in hits]


def _repute(memory: Memory, bearing: Iterable[Link], level: Level, stale: bool) -> Repute:
    mine = [link for link in bearing if memory.id in (link.source_id, link.target_id)]
    conflicts = tuple(link.other(memory.id) for link in mine if link.type == "CONTRADICTS")
    successors = tuple(link.source_id for link in mine if link.type == "SUPERSEDES" and link.target_id == memory.id)
    trust = trust_of(memory, level=level, disputed=bool(conflicts or successors), stale=stale)
    return Repute(trust, conflicts, successors, stale)


def _is_stale(memory: Memory, now: float, days: float) -> bool:
    """Whether a memory was neither stated nor used in the last ``days``; pinned memories are never stale."""
    return not memory.pinned and now - decay.last_alive(memory) > days * decay.DAY
