"""Opens the database in WAL mode: one connection for writes, three for reads.

A connection runs one query after the other, so interactive requests have their own read connection: they must not wait
for maintenance's queries over thousands of memories. That connection has no thread: a prompt or a search makes about 35
short queries, and passing each to a thread and back takes several times as long as the query, especially while another
thread computes. The few queries whose time grows with the store (full text, faded memories, all vectors of a project, a
rare kind or a long period) would block the event loop, so they use connections with a thread: hooks have their own, and
searches share one with maintenance.

Only the daemon writes, because it holds the lock of the state folder; `subconscious doctor` only reads. So no process
waits for SQLite's writer lock, and an asyncio lock is enough to serialise the transactions.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiosqlite

from subconscious.domain.errors import StoreError
from subconscious.system.safe_files import require_regular

Connector = Callable[[], sqlite3.Connection]

CURRENT_ACT: ContextVar[str] = ContextVar("act", default="")
"""The act id of the running transaction: its events share this id, so that they are undone together."""

_SHARED_ACT: ContextVar[str] = ContextVar("shared act", default="")
"""The act id that the next transactions of the running task share; "" if each gets its own."""

PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    # Commits must survive the death of the process; a power failure may undo the latest ones.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA temp_store = MEMORY",
    # 16 MB, to keep the pages that every search reads: one query alone fills SQLite's default cache of 2 MB.
    "PRAGMA cache_size = -16384",
    "PRAGMA journal_size_limit = 16777216",
)

SHRINK = "PRAGMA shrink_memory"


@contextmanager
def shared_act(act: str) -> Iterator[None]:
    """Give all transactions of the running task the same act id, so that they are undone together; "" changes nothing.

    A long operation, such as an import, has many transactions, between which others run.
    """
    token = _SHARED_ACT.set(act)
    try:
        yield
    finally:
        _SHARED_ACT.reset(token)


def new_act() -> str:
    """Return the id of an act, whose changes are undone together: that of the running `shared_act`, or a new one."""
    return _SHARED_ACT.get() or uuid4().hex


class Database:
    """A connection for writes, one for reads, and two for interactive requests, to the same file.

    ``interactive`` and ``for_search`` are views of the same database for hooks and searches.
    """

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
        self._short: sqlite3.Connection | None = None
        self._long = reader

    @cached_property
    def interactive(self) -> Database:
        """The view for hook requests: its queries don't wait for other queries."""
        return self._view(self._searcher)

    @cached_property
    def for_search(self) -> Database:
        """The view for searches: short queries use the hooks' connection, long queries the one for maintenance."""
        return self._view(self.reader)

    def _view(self, long: aiosqlite.Connection) -> Database:
        view = copy(self)  # shares the connections and the lock of transactions
        view._short, view._long = self._front, long
        return view

    async def rows(self, sql: str, values: Sequence[Any] = (), *, long: bool = False) -> list[sqlite3.Row]:
        """Return a query's rows, from committed data only; ``long`` marks queries whose time grows with the store."""
        if self._short is not None and not long:
            return self._short.execute(sql, values).fetchall()
        return list(await self._long.execute_fetchall(sql, values))

    async def version(self) -> int:
        """Return a number that changes with each change of the database; numbers of two views can't be compared."""
        rows = await self.rows("PRAGMA data_version", long=True)
        return int(rows[0][0])

    @asynccontextmanager
    async def write(self) -> AsyncIterator[aiosqlite.Connection]:
        """Run a block as one transaction, which commits all changes or none. Blocks run one after the other."""
        async with self._turn:
            token = CURRENT_ACT.set(new_act())
            # The connection's thread processes its queue in order, even if the caller is gone. If the caller is
            # cancelled during BEGIN, the rollback runs after BEGIN, so the next block never finds an open transaction.
            try:
                await self.writer.execute("BEGIN IMMEDIATE")
                yield self.writer
                await self.writer.commit()
            except BaseException:
                # Roll back also after cancellation or a failed commit (for example, because of a deferred foreign key):
                # the next transaction must not include half of this one.
                await self.writer.rollback()
                raise
            finally:
                CURRENT_ACT.reset(token)

    async def compact(self) -> None:
        """Rewrite the file without deleted data, so that no free page, index or WAL contains any of it."""
        async with self._turn:
            rows = await self.writer.execute_fetchall(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%USING fts5%'"
            )
            for row in rows:
                await self.writer.execute(f"INSERT INTO {row[0]} ({row[0]}) VALUES ('rebuild')")  # noqa: S608
            await self.writer.execute("VACUUM")
            await self.writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    async def shrink(self) -> None:
        """Free the page caches of all connections, up to 16 MB each."""
        for connection in (self.writer, self.reader, self._searcher):
            await connection.execute(SHRINK)
        self._front.execute(SHRINK)

    async def close(self) -> None:
        """Close all connections, even if the task is cancelled meanwhile; closing the last one checkpoints the WAL."""
        async with AsyncExitStack() as closing:  # in reverse order
            for connection in (self.writer, self.reader, self._searcher):
                closing.push_async_callback(connection.close)
            self._front.close()


async def open_database(path: Path, connector: Callable[[Path], sqlite3.Connection] | None = None) -> Database:
    """Open the database at ``path``; create it with mode 0600 if missing. Raises StoreError if it can't be opened."""
    make = connector or _connect
    # Closes all connections on errors and cancellation: an abandoned one would keep its file and its thread alive.
    async with AsyncExitStack() as unless_complete:
        opened: list[aiosqlite.Connection] = []
        try:
            await asyncio.to_thread(_create_file, path)
            for _ in range(3):
                opened.append(await _open(lambda: make(path)))
                unless_complete.push_async_callback(opened[-1].close)
            front = await asyncio.to_thread(_open_front, lambda: make(path))
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{path} can't be opened: {error}", "run `subconscious doctor`") from error
        unless_complete.pop_all()
    return Database(path, opened[0], opened[1], opened[2], front)


def _create_file(path: Path) -> None:
    """Create the file if missing.

    Raises OSError if the path is not a regular file: SQLite would block forever on a FIFO.
    """
    path.touch(mode=0o600, exist_ok=True)
    require_regular(path)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


async def _open(connector: Connector) -> aiosqlite.Connection:
    connection = await aiosqlite.Connection(connector, iter_chunk_size=64)
    try:
        connection.row_factory = sqlite3.Row
        await connection.create_function("casefold", 1, str.casefold, deterministic=True)
        for pragma in PRAGMAS:
            await connection.execute(pragma)
    except BaseException:
        await connection.close()  # also when cancelled
        raise
    return connection


def _open_front(connector: Connector) -> sqlite3.Connection:
    connection = connector()
    try:
        connection.row_factory = sqlite3.Row
        connection.create_function("casefold", 1, str.casefold, deterministic=True)
        for pragma in PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.close()  # after any error: an abandoned connection would keep its file open
        raise
    return connection
