"""Memories that were stored without a review and have not been reported to the user yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import aiosqlite

from subconscious.store import links
from subconscious.store.connect import Database
from subconscious.store.rows import qmarks


@dataclass(frozen=True, slots=True)
class Receipt:
    """A memory to report: its id, its summary, and the summaries of the memories that it superseded."""

    memory_id: int
    summary: str
    replaced: tuple[str, ...] = ()


async def insert(tx: aiosqlite.Connection, capture_ids: Sequence[int], at: float) -> None:
    """Queue the memories of captures that were stored without a review: they are reported with the next prompt."""
    await tx.execute(
        "INSERT OR IGNORE INTO receipts (memory_id, session_id, project_id, at)"  # noqa: S608
        " SELECT memory_id, coalesce(session_id, ''), project_id, ? FROM implicit_captures"
        f" WHERE id IN ({qmarks(capture_ids)}) AND status = 'captured' AND memory_id IS NOT NULL"
        " AND project_id IS NOT NULL",
        (at, *capture_ids),
    )


async def pending(database: Database, project_id: str, session_id: str | None = None) -> list[Receipt]:
    """Return the memories to report in a project, or in one of its sessions, without archived ones."""
    rows = await database.rows(
        "SELECT r.memory_id, m.summary FROM receipts AS r JOIN memories AS m ON m.id = r.memory_id"
        " WHERE r.project_id = ?1 AND (?2 IS NULL OR r.session_id = ?2) AND m.archived_at IS NULL ORDER BY r.memory_id",
        (project_id, session_id),
    )
    found = await links.replaced_by(database, [row["memory_id"] for row in rows])
    return [
        Receipt(row["memory_id"], row["summary"], tuple(old.summary for old in found.get(row["memory_id"], ())))
        for row in rows
    ]


async def delete(tx: aiosqlite.Connection, project_id: str, session_id: str | None = None) -> None:
    """Remove the memories of a project, or of one of its sessions, from the queue, because they were reported."""
    await tx.execute(
        "DELETE FROM receipts WHERE project_id = ?1 AND (?2 IS NULL OR session_id = ?2)", (project_id, session_id)
    )
