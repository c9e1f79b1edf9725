"""Which memories' links were looked for, and with which rules."""

from __future__ import annotations

from collections.abc import Sequence

import aiosqlite

from subconscious.model import Memory
from subconscious.store.connect import Database
from subconscious.store.rows import marks, memory_from


async def waiting(database: Database, version: str, limit: int, *, embedded: bool) -> list[Memory]:
    """Active memories whose links were never looked for, then those of other rules; the latest first.

    ``embedded``: those whose embedding is still to be made wait for it.
    """
    rows = await database.rows(
        "SELECT memories.* FROM memories LEFT JOIN link_searches AS search ON search.memory_id = memories.id"
        " WHERE archived_at IS NULL AND (search.version IS NULL OR search.version <> ?)"
        " AND (NOT ? OR embedding_status <> 'pending')"
        " ORDER BY search.version IS NOT NULL, memories.id DESC LIMIT ?",
        (version, embedded, limit),
    )
    return [memory_from(row) for row in rows]


async def version_of(tx: aiosqlite.Connection, memory_id: int) -> str | None:
    """With which rules a memory's links were looked for last; None if never."""
    rows = list(await tx.execute_fetchall("SELECT version FROM link_searches WHERE memory_id = ?", (memory_id,)))
    return str(rows[0][0]) if rows else None


async def note(tx: aiosqlite.Connection, memory_id: int, version: str, at: float) -> None:
    """A memory's links were looked for."""
    await tx.execute(
        "INSERT INTO link_searches (memory_id, version, searched_at) VALUES (?, ?, ?) ON CONFLICT (memory_id)"
        " DO UPDATE SET version = excluded.version, searched_at = excluded.searched_at",
        (memory_id, version, at),
    )


async def found(tx: aiosqlite.Connection, ids: Sequence[int], by_hand: Sequence[str]) -> dict[int, int]:
    """How many links of each of these memories were found, not made ``by_hand``, and stand."""
    counts = dict.fromkeys(ids, 0)
    for end in ("source_id", "target_id"):
        rows = await tx.execute_fetchall(
            f"SELECT {end}, count(*) FROM memory_links WHERE {end} IN ({marks(ids)})"  # noqa: S608
            f" AND status IN ('active', 'proposed') AND created_by NOT IN ({marks(by_hand)}) GROUP BY 1",
            (*ids, *by_hand),
        )
        for row in rows:
            counts[row[0]] += row[1]
    return counts
