"""What of the store has drifted apart: rows without their index, indexes without their rows.

Only derived data is repaired; a memory's own row can't be guessed. To add a check, add a row to ``CHECKS``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import StoreError
from subconscious.safe_files import NotRegularError, require_regular
from subconscious.store import embedding_queue, full_text, memories
from subconscious.store.check import reading
from subconscious.store.rows import marks

PORTION = 200
FORGOTTEN = 7 * 86_400.0
"""Seconds after a session's end from which its unread prompts are leftovers."""

Mend = Callable[[aiosqlite.Connection, Sequence[Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Check:
    """One sort of drift: SQL for the keys of what is wrong, and what mends a portion of them."""

    name: str
    wrong: str
    mend: Mend


async def _index_anew(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    for memory_id in ids:
        await full_text.reindex(tx, await memories.held(tx, memory_id))


async def _unindex(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    await tx.execute(f"DELETE FROM memories_fts WHERE rowid IN ({marks(ids)})", tuple(ids))  # noqa: S608


async def _activate(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    for memory_id in ids:
        await vectors.activate(tx, [memory_id], (await memories.held(tx, memory_id)).archived_at is None)


async def _embed_anew(tx: aiosqlite.Connection, ids: Sequence[Any]) -> None:
    await embedding_queue.mark(tx, list(ids), "pending")


CHECKS = (
    Check(
        "memories without their full text",
        "SELECT id FROM memories WHERE archived_at IS NULL AND id NOT IN (SELECT rowid FROM memories_fts)",
        _index_anew,
    ),
    Check(
        "full text of other words than the memory's",
        "SELECT id FROM memories JOIN memories_fts AS told ON told.rowid = memories.id WHERE archived_at IS NULL"
        " AND (told.summary <> memories.summary OR told.content <> memories.content"
        " OR told.rationale <> memories.rationale)",
        _index_anew,
    ),
    Check(
        "full text of no active memory",
        "SELECT rowid FROM memories_fts WHERE rowid NOT IN (SELECT id FROM memories WHERE archived_at IS NULL)",
        _unindex,
    ),
    Check(
        "vectors out of step with their memory",
        "SELECT DISTINCT memory_id FROM embeddings JOIN memories ON id = memory_id"
        " WHERE active <> (archived_at IS NULL)",
        _activate,
    ),
    Check(
        "memories that count as embedded and have no vector",
        "SELECT id FROM memories WHERE embedding_status = 'done' AND archived_at IS NULL"
        " AND id NOT IN (SELECT memory_id FROM embeddings)",
        _embed_anew,
    ),
)


async def mend(tx: aiosqlite.Connection, check: Check) -> list[Any]:
    """Repair a portion of one sort of drift; the keys of what was repaired."""
    rows = await tx.execute_fetchall(f"{check.wrong} LIMIT {PORTION}")
    found = [row[0] for row in rows]
    if found:
        await check.mend(tx, found)
    return found


async def mend_full_text(tx: aiosqlite.Connection) -> bool:
    """Make the full text's index anew where it contradicts itself; whether that was needed."""
    try:
        await tx.execute("INSERT INTO memories_fts (memories_fts) VALUES ('integrity-check')")
    except sqlite3.DatabaseError:
        await tx.execute("INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')")
        return True
    return False


async def forget_prompts(tx: aiosqlite.Connection) -> int:
    """Drop the prompts of sessions that were over long ago: nobody will read them any more."""
    done = await tx.execute(
        "DELETE FROM prompts WHERE session_id IN (SELECT id FROM sessions WHERE ended_at < ?)", (time() - FORGOTTEN,)
    )
    return int(done.rowcount)


def verdict(path: Path) -> str:
    """What SQLite says of the whole file: "ok", or what is wrong. Slow: run it in a thread."""
    try:
        with reading(path) as connection:
            broken = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            dangling = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    except (sqlite3.Error, OSError) as error:
        return str(error)
    return f"rows that refer to none: {dangling}" if broken == "ok" and dangling else broken


def drift(path: Path) -> dict[str, int]:
    """How much of each sort is wrong, changing nothing; only what is wrong. For `doctor`, which needs no daemon."""
    try:
        with reading(path) as connection:
            counts = {
                check.name: int(connection.execute(f"SELECT count(*) FROM ({check.wrong})").fetchone()[0])  # noqa: S608
                for check in CHECKS
            }
            counts["vectors that the index does not have as they are"] = _in_index(path, connection)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{path} can't be looked through: {error}", "subconscious doctor --fix") from error
    return {name: count for name, count in counts.items() if count}


def _in_index(path: Path, connection: sqlite3.Connection) -> int:
    """How many vectors differ between the table and the index in a file, where there is one."""
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
        with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True, timeout=2)) as other:
            held = dict(other.execute("SELECT memory_id, stamp FROM held").fetchall())
    except sqlite3.Error:
        return max(1, len(stamps))
    return len(held.items() ^ stamps.items())
