"""Habits of a project that sessions showed: which memory tells of one, and whether another session showed it."""

from __future__ import annotations

import json

import aiosqlite

from subconscious.model import Memory
from subconscious.store.capture_rows import Place
from subconscious.store.rows import content_hash, memory_from


async def told(tx: aiosqlite.Connection, project_id: str, extractor: str, habit: str) -> list[Memory]:
    """Return the memories of a habit, active ones first."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM memories WHERE project_id = ? AND extractor = ? AND tags = ?"
        " ORDER BY archived_at IS NOT NULL, id",
        (project_id, extractor, json.dumps([habit])),
    )
    return [memory_from(row) for row in rows]


async def seen_elsewhere(
    tx: aiosqlite.Connection, place: Place, extractor: str, content: str, reservation: str
) -> bool:
    """Whether another session showed the same, and nobody has refused it.

    What was rolled back does not count, nor what was kept for another reason than ``reservation``.
    """
    rows = await tx.execute_fetchall(
        "SELECT status = 'rejected' OR quarantined, session_id FROM implicit_captures WHERE project_id = ?"
        " AND extractor = ? AND content_hash = ? AND NOT (status = 'discarded' AND decided_at IS NOT NULL)"
        " AND (status = 'rejected' OR reservation = ?)",
        (place.project_id, extractor, content_hash(content), reservation),
    )
    found = list(rows)
    return not any(row[0] for row in found) and any(row[1] != place.session_id for row in found)


async def waiting(tx: aiosqlite.Connection, project_id: str, extractor: str, habit: str) -> list[int]:
    """Return the captures that still ask a person about a habit."""
    rows = await tx.execute_fetchall(
        "SELECT id FROM implicit_captures WHERE project_id = ? AND extractor = ? AND tags = ? AND status = 'review'"
        " AND memory_id IS NULL AND NOT quarantined ORDER BY id",
        (project_id, extractor, json.dumps([habit])),
    )
    return [row[0] for row in rows]
