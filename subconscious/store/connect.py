"""Open the database: one writing connection, three reading ones, WAL between them.

A connection runs one query after the other, so interactive requests have a reading connection of their own: they must
not wait for upkeep's queries over thousands of memories. That connection has no thread: a prompt or a search makes some
35 short queries, and passing each to a thread and back takes several times as long as the query, most of all while
another thread computes. The few queries that grow with the store (full text, faded memories, all vectors of a project,
a rare kind or a whole period) have an interactive connection with a thread, because they would block the event loop.

Only the daemon writes (it holds the lock of the state folder); the terminal's doctor reads. So no process ever waits
for SQLite's writer lock, and an asyncio lock serialises the transactions.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiosqlite

from subconscious.errors import StoreError
from subconscious.safe_files import require_regular

Connector = Callable[[], sqlite3.Connection]

ACT: ContextVar[str] = ContextVar("act", default="")
"""What the running transaction's events are known by as one act."""

HURRIED: ContextVar[bool] = ContextVar("hurried", default=False)
"""Whether a hook waits for the current query."""

AWAITED: ContextVar[bool] = ContextVar("awaited", default=False)
"""Whether a search waits for it: short queries run as for a hook, long ones on the shared connection."""

PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    # The promise is to survive the death of a process, not loss of power; NORMAL syncs at checkpoints.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA temp_store = MEMORY",
    # Of what searches read again and again; SQLite's own 2 MB are passed through once a query.
    "PRAGMA cache_size = -16384",
    "PRAGMA journal_size_limit = 16777216",
)

SHRINK = "PRAGMA shrink_memory"


class Database:
    """A writing connection to one file, a reading one, and two for interactive requests."""

    def __init__(
        self,
        path: Path,
        writer: aiosqlite.Connection,
        reader: aiosqlite.Connection,
        searcher: aiosqlite.Connection,
        front: sqlite3.Connection,
    ) -> None:
        self.path = path
        self.writer = writer
        self.reader = reader
        self._searcher = searcher
        self._front = front
        self._turn = asyncio.Lock()

    async def rows(self, sql: str, values: Sequence[Any] = (), *, long: bool = False) -> list[sqlite3.Row]:
        """Read, outside of any transaction in progress. ``long``: the more is remembered, the longer it takes."""
        if (HURRIED.get() or AWAITED.get()) and not long:
            return self._front.execute(sql, values).fetchall()
        connection = self._searcher if HURRIED.get() else self.reader
        return list(await connection.execute_fetchall(sql, values))

    @asynccontextmanager
    async def write(self) -> AsyncIterator[aiosqlite.Connection]:
        """One transaction: all of the block's changes or none. Blocks wait for each other."""
        async with self._turn:
            token = ACT.set(uuid4().hex)
            # The connection's thread works its queue off in order, whoever still waits for it: should we be cancelled
            # while it begins, the rollback comes after, and the next block never meets a transaction left open.
            try:
                await self.writer.execute("BEGIN IMMEDIATE")
                yield self.writer
            except BaseException:
                # Also when cancelled: the next writer must not find this one's half.
                await self.writer.rollback()
                raise
            finally:
                ACT.reset(token)
            await self.writer.commit()

    async def compact(self) -> None:
        """Write the file anew without anything that was deleted: no free page, no index and no WAL keeps a trace."""
        async with self._turn:
            rows = await self.writer.execute_fetchall(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%USING fts5%'"
            )
            for row in rows:
                await self.writer.execute(f"INSERT INTO {row[0]} ({row[0]}) VALUES ('rebuild')")  # noqa: S608
            await self.writer.execute("VACUUM")
            await self.writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    async def shrink(self) -> None:
        """Free the pages that each connection keeps for the next question, up to 16 MB each."""
        for connection in (self.writer, self.reader, self._searcher):
            await connection.execute(SHRINK)
        self._front.execute(SHRINK)

    async def close(self) -> None:
        """Close all connections; the last one folds the WAL back into the file."""
        self._front.close()
        await self._searcher.close()
        await self.reader.close()
        await self.writer.close()


async def open_database(path: Path, connector: Callable[[Path], sqlite3.Connection] | None = None) -> Database:
    """Open ``path`` (made if need be, 0600). Raises StoreError when it is no database or can't be reached."""
    make = connector or _connect
    opened: list[aiosqlite.Connection] = []
    try:
        await asyncio.to_thread(_make, path)
        for _ in range(3):
            opened.append(await _open(lambda: make(path)))
        front = await asyncio.to_thread(_open_front, lambda: make(path))
    except (sqlite3.Error, OSError) as error:
        for connection in opened:
            await connection.close()
        raise StoreError(f"{path} can't be opened: {error}", "run `subconscious doctor`") from error
    return Database(path, opened[0], opened[1], opened[2], front)


def _make(path: Path) -> None:
    """Make the file if need be. Raises OSError where a FIFO, say, is in its place: SQLite would wait for ever."""
    path.touch(mode=0o600, exist_ok=True)
    require_regular(path)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


async def _open(connector: Connector) -> aiosqlite.Connection:
    connection = await aiosqlite.Connection(connector, iter_chunk_size=64)
    try:
        connection.row_factory = sqlite3.Row
        for pragma in PRAGMAS:
            await connection.execute(pragma)
    except BaseException:
        # Also when cancelled: a connection that nobody holds would keep its file and its thread.
        await connection.close()
        raise
    return connection


def _open_front(connector: Connector) -> sqlite3.Connection:
    connection = connector()
    try:
        connection.row_factory = sqlite3.Row
        for pragma in PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.close()  # after any error: an abandoned connection would keep its file open
        raise
    return connection
