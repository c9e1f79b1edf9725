"""Triggers: due dates ("until 2026-12-01") and milestones ("when we upgrade to 3.13") in the texts of memories.

The table ``surfaces`` records which triggers a session received.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.domain.model import Memory
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE
from subconscious.store.rows import memory_from

OPEN_MILESTONES = 200
"""The maximum number of milestones that one prompt is compared with."""


@dataclass(frozen=True, slots=True)
class Due:
    """One trigger of a memory that was stated at ``said_at``. ``due_at`` is None for a milestone."""

    id: int
    memory_id: int
    words: str
    due_at: float | None
    said_at: float = 0.0


async def unsearched(database: Database, version: int, limit: int) -> list[Memory]:
    """Return active memories whose current text has not been searched with this version of the trigger rules."""
    # The inner query reads only an index: reading the rows of thousands of memories takes 0.1 s.
    rows = await database.rows(
        f"SELECT * FROM memories WHERE archived_at IS NULL AND {NO_NOTE} AND id IN ("  # noqa: S608
        "SELECT known.id FROM memories AS known LEFT JOIN trigger_searches AS done ON done.memory_id = known.id"
        " WHERE done.memory_id IS NULL OR done.version <> ? OR done.content_hash <> known.content_hash"
        ") ORDER BY id DESC LIMIT ?",
        (version, limit),
    )
    return [memory_from(row) for row in rows]


async def replace(
    tx: aiosqlite.Connection, memory: Memory, version: int, found: Sequence[tuple[str, float | None]]
) -> None:
    """Replace a memory's triggers after its text changed; triggers that a session has received are kept."""
    await tx.execute(
        "DELETE FROM memory_triggers WHERE memory_id = ? AND id NOT IN"
        " (SELECT trigger_id FROM surfaces WHERE trigger_id IS NOT NULL)",
        (memory.id,),
    )
    given = await tx.execute_fetchall("SELECT words FROM memory_triggers WHERE memory_id = ?", (memory.id,))
    known = {row["words"] for row in given}
    await tx.executemany(
        "INSERT INTO memory_triggers (memory_id, sort, due_at, words, made_at) VALUES (?, ?, ?, ?, ?)",
        [
            (memory.id, "milestone" if due_at is None else "date", due_at, words, time())
            for words, due_at in found
            if words not in known
        ],
    )
    await tx.execute(
        "INSERT OR REPLACE INTO trigger_searches (memory_id, content_hash, version, searched_at) VALUES (?, ?, ?, ?)",
        (memory.id, memory.content_hash, version, time()),
    )


FAR_AHEAD = 30 * 86_400.0
"""If a due date was shown to a session more than this many seconds in the future, the clock was wrong at that time.

Such a date is shown again when it is really due. Smaller corrections of the clock are common.
"""


async def due(database: Database, project_id: str, since: float, until: float) -> list[Due]:
    """Return up to ten due dates between ``since`` and ``until`` that no session has received yet, latest first.

    Memories of one project and user-wide ones count. A due date that was shown too early because of a wrong clock is
    returned again when it is due.
    """
    # CROSS JOIN fixes the order: there are few triggers and many memories, which SQLite doesn't know.
    rows = await database.rows(
        "SELECT memory_triggers.id, memory_id, words, due_at, said_at"
        " FROM memory_triggers CROSS JOIN memories ON memories.id = memory_id"
        " WHERE due_at BETWEEN ? AND ? AND archived_at IS NULL AND (project_id = ? OR project_id IS NULL)"
        " AND NOT EXISTS (SELECT 1 FROM surfaces WHERE trigger_id = memory_triggers.id AND at <= ?)"
        " ORDER BY due_at DESC LIMIT 10",
        (since, until, project_id, until + FAR_AHEAD),
    )
    return [Due(**dict(row)) for row in rows]


async def milestones(database: Database, project_id: str) -> list[Due]:
    """Return milestones of a project's memories and user-wide ones that no session has received yet, latest first."""
    rows = await database.rows(
        "SELECT memory_triggers.id, memory_id, words, due_at, said_at"
        " FROM memory_triggers CROSS JOIN memories ON memories.id = memory_id"
        " WHERE sort = 'milestone' AND archived_at IS NULL AND (project_id = ? OR project_id IS NULL)"
        " AND NOT EXISTS (SELECT 1 FROM surfaces WHERE trigger_id = memory_triggers.id)"
        " ORDER BY memory_triggers.id DESC LIMIT ?",
        (project_id, OPEN_MILESTONES),
    )
    return [Due(**dict(row)) for row in rows]
