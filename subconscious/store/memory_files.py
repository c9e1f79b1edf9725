"""How the files looked that memories are bound to, when they were said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time

import aiosqlite

from subconscious.model import Memory
from subconscious.store.connect import Database
from subconscious.store.rows import marks, memory_from


async def bound(database: Database, project_id: str, limit: int) -> list[Memory]:
    """The latest memories of a project that name files, or were said on a branch."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE project_id = ? AND archived_at IS NULL AND (files <> '[]' OR branch <> '')"
        " ORDER BY id DESC LIMIT ?",
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def stamps(database: Database, ids: Sequence[int]) -> dict[tuple[int, str], str]:
    """The digests on record, by memory and file."""
    rows = await database.rows(
        f"SELECT memory_id, file, digest FROM memory_files WHERE memory_id IN ({marks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {(row["memory_id"], row["file"]): row["digest"] for row in rows}


async def at_rest(database: Database, ids: Sequence[int]) -> set[int]:
    """Those of ``ids`` that no open session brought: who is still at work may change what they have just spoken of."""
    rows = await database.rows(
        "SELECT memories.id FROM memories LEFT JOIN sessions ON sessions.id = session_id"  # noqa: S608
        f" WHERE memories.id IN ({marks(ids)}) AND (sessions.id IS NULL OR sessions.status <> 'open')",
        tuple(ids),
    )
    return {row[0] for row in rows}


async def keep(tx: aiosqlite.Connection, found: Mapping[tuple[int, str], str]) -> None:
    """Put on record how files look."""
    now = time()
    await tx.executemany(
        "INSERT OR IGNORE INTO memory_files (memory_id, file, digest, seen_at)"
        " SELECT id, ?, ?, ? FROM memories WHERE id = ?",
        [(file, digest, now, memory_id) for (memory_id, file), digest in found.items()],
    )
