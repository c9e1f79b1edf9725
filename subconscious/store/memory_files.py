"""Files that memories are bound to or mention, and digests of the files as they were after the memory's session."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import time
from typing import NamedTuple

import aiosqlite

from subconscious.domain.model import Memory
from subconscious.store.connect import Database
from subconscious.store.rows import memory_from, qmarks


async def with_files(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return the latest memories of a project that name files or were stated on a branch."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE project_id = ? AND archived_at IS NULL AND (files <> '[]' OR branch <> '')"
        " ORDER BY id DESC LIMIT ?",
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def digests(database: Database, ids: Sequence[int]) -> dict[tuple[int, str], str]:
    """Return the stored digests of the files of memories, by memory and file."""
    rows = await database.rows(
        f"SELECT memory_id, file, digest FROM memory_files WHERE memory_id IN ({qmarks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {(row["memory_id"], row["file"]): row["digest"] for row in rows}


async def outside_open_sessions(database: Database, ids: Sequence[int]) -> set[int]:
    """Return which of ``ids`` come from no open session; an open session may still change its memories' files."""
    rows = await database.rows(
        "SELECT memories.id FROM memories LEFT JOIN sessions ON sessions.id = session_id"  # noqa: S608
        f" WHERE memories.id IN ({qmarks(ids)}) AND (sessions.id IS NULL OR sessions.status <> 'open')",
        tuple(ids),
    )
    return {row[0] for row in rows}


async def save_digests(tx: aiosqlite.Connection, found: Mapping[tuple[int, str], str]) -> None:
    """Store digests of files by memory and file; digests that are already stored are not replaced."""
    now = time()
    await tx.executemany(
        "INSERT OR IGNORE INTO memory_files (memory_id, file, digest, seen_at)"
        " SELECT id, ?, ?, ? FROM memories WHERE id = ?",
        [(file, digest, now, memory_id) for (memory_id, file), digest in found.items()],
    )


class Mention(NamedTuple):
    """A memory's text, the files that it is bound to, and whether the user stated it."""

    content: str
    files: tuple[str, ...]
    by_user: bool = False


async def mentions(database: Database) -> list[Mention]:
    """Return the text and files of all memories that sessions may receive, unconfirmed ones included."""
    rows = await database.rows(
        "SELECT content, files, origin = 'user' FROM memories WHERE archived_at IS NULL OR unconfirmed", long=True
    )
    return [Mention(row[0], tuple(json.loads(row[1])), bool(row[2])) for row in rows]
