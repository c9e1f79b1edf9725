"""Finds and repairs inconsistencies: rows without an index entry, and index entries without a row.

Only derived data is repaired; a memory's own row can't be reconstructed. To add a check, add a row to ``CHECKS``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote

import aiosqlite

from subconscious.domain.errors import StoreError
from subconscious.store import embedding_queue, full_text, memories
from subconscious.store.check import open_readonly
from subconscious.store.rows import qmarks
from subconscious.system.safe_files import NotRegularError, require_regular

PORTION = 200
FORGOTTEN = 7 * 86_400.0
"""Seconds after the end of a session until its stored prompts are deleted."""

Mend = Callable[[aiosqlite.Connection, Sequence[Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of inconsistency: SQL that selects the keys of wrong rows, and a function that repairs such rows."""

    name: str
    wrong: str
    mend: Mend


async def _reindex(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    for memory_id in ids:
        await full_text.reindex(tx, await memories.require(tx, memory_id))


async def _unindex(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    await tx.execute(f"DELETE FROM memories_fts WHERE rowid IN ({qmarks(ids)})", tuple(ids))  # noqa: S608


async def _activate(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    from subconscious.store import vectors  # not at the top: it loads numpy, which would delay a start by 0.1 s

    for memory_id in ids:
        await vectors.activate(tx, [memory_id], (await memories.require(tx, memory_id)).archived_at is None)


async def _requeue(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    await embedding_queue.set_status(tx, list(ids), "pending")


CHECKS = (
    Check(
        "memories that are missing from the search index",
        "SELECT id FROM memories WHERE archived_at IS NULL AND id NOT IN (SELECT rowid FROM memories_fts)",
        _reindex,
    ),
    Check(
        "search index entries that differ from their memory",
        "SELECT id FROM memories JOIN memories_fts AS indexed ON indexed.rowid = memories.id WHERE archived_at IS NULL"
        " AND (indexed.summary <> memories.summary OR indexed.content <> memories.content"
        " OR indexed.rationale <> memories.rationale)",
        _reindex,
    ),
    Check(
        "search index entries without an active memory",
        "SELECT rowid FROM memories_fts WHERE rowid NOT IN (SELECT id FROM memories WHERE archived_at IS NULL)",
        _unindex,
    ),
    Check(
        "vectors with a wrong active flag",
        "SELECT DISTINCT memory_id FROM embeddings JOIN memories ON id = memory_id"
        " WHERE active <> (archived_at IS NULL)",
        _activate,
    ),
    Check(
        "memories that are marked as embedded but have no vector",
        "SELECT id FROM memories WHERE embedding_status = 'done' AND archived_at IS NULL"
        " AND id NOT IN (SELECT memory_id FROM embeddings)",
        _requeue,
    ),
)


async def repair(tx: aiosqlite.Connection, check: Check) -> list[Any]:
    """Repair up to ``PORTION`` rows of one check; return their keys."""
    rows = await tx.execute_fetchall(f"{check.wrong} LIMIT {PORTION}")
    found = [row[0] for row in rows]
    if found:
        await check.mend(tx, found)
    return found


async def repair_full_text(tx: aiosqlite.Connection) -> bool:
    """Rebuild the full-text index if its integrity check fails; return whether that was needed."""
    try:
        await tx.execute("INSERT INTO memories_fts (memories_fts) VALUES ('integrity-check')")
    except sqlite3.DatabaseError:
        await tx.execute("INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')")
        return True
    return False


async def delete_old_prompts(tx: aiosqlite.Connection) -> int:
    """Delete the prompts of sessions that ended at least ``FORGOTTEN`` seconds ago; return how many."""
    done = await tx.execute(
        "DELETE FROM prompts WHERE session_id IN (SELECT id FROM sessions WHERE ended_at < ?)", (time() - FORGOTTEN,)
    )
    return int(done.rowcount)


def verdict(path: Path) -> str:
    """Return the result of SQLite's integrity checks: "ok" or the first problem. Slow, so run it in a thread."""
    try:
        with open_readonly(path) as connection:
            broken = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            dangling = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    except (sqlite3.Error, OSError) as error:
        return str(error)
    return f"rows with dangling references: {dangling}" if broken == "ok" and dangling else broken


def count_inconsistencies(path: Path) -> dict[str, int]:
    """Return the number of inconsistent rows of each failed check, without repairing them.

    For `doctor`, which works without the daemon. Raises StoreError if the database can't be read.
    """
    try:
        with open_readonly(path) as connection:
            counts = {
                check.name: int(connection.execute(f"SELECT count(*) FROM ({check.wrong})").fetchone()[0])  # noqa: S608
                for check in CHECKS
            }
            counts["vectors missing or outdated in the index"] = _in_index(path, connection)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{path} can't be checked: {error}", "run `subconscious doctor --fix`") from error
    return {name: count for name, count in counts.items() if count}


def _in_index(path: Path, connection: sqlite3.Connection) -> int:
    """Return the number of memories for which the vector index file differs from the table; 0 if there is no index."""
    serving = connection.execute("SELECT name FROM embedding_models WHERE serving").fetchone()
    if serving is None:
        return 0
    from subconscious.store.vectors.vec0 import index_path

    index = index_path(path, serving[0])
    try:
        require_regular(index)
    except NotRegularError:
        return 1
    except FileNotFoundError:
        return 0
    stamps = dict(
        connection.execute("SELECT memory_id, stamp FROM embeddings WHERE active AND model = ?", serving).fetchall()
    )
    try:
        with closing(sqlite3.connect(f"file:{quote(str(index))}?mode=ro", uri=True, timeout=2)) as other:
            held = dict(other.execute("SELECT memory_id, stamp FROM held").fetchall())
    except sqlite3.Error:
        return max(1, len(stamps))
    return len({memory_id for memory_id, _ in held.items() ^ stamps.items()})
