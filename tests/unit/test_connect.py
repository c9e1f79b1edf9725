"""The connections to the store: whatever prevents that all are opened, none is left open."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from threading import Event

import pytest

from subconscious.domain.errors import StoreError
from subconscious.store.connect import open_database


class Connector:
    """Opens connections, of which the third one waits or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.opened: list[sqlite3.Connection] = []
        self.third = Event()
        self.go_on = Event()
        self._error = error

    def __call__(self, path: Path) -> sqlite3.Connection:
        if len(self.opened) == 2:
            self.third.set()
            if self._error:
                raise self._error
            assert self.go_on.wait(10)
        self.opened.append(sqlite3.connect(path, isolation_level=None, check_same_thread=False))
        return self.opened[-1]

    def open_ones(self) -> int:
        """How many connections still answer."""
        return sum(_answers(connection) for connection in self.opened)


def _answers(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


async def test_an_opening_that_is_cancelled_closes_what_is_open(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    connector = Connector()
    opening = asyncio.create_task(open_database(tmp_path / "memory.db", connector))
    assert await asyncio.to_thread(connector.third.wait, 10)
    assert connector.open_ones() == 2
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert connector.open_ones() == 0
    connector.go_on.set()
    while any("_connection_worker_thread" in thread.name for thread in set(threading.enumerate()) - before):
        await asyncio.sleep(0.01)  # the third one ends by itself, while this loop can still be told


async def test_an_opening_that_fails_closes_what_is_open(tmp_path: Path) -> None:
    connector = Connector(sqlite3.OperationalError("unable to open database file"))
    with pytest.raises(StoreError, match="can't be opened"):
        await open_database(tmp_path / "memory.db", connector)
    assert len(connector.opened) == 2
    assert connector.open_ones() == 0


async def test_a_closing_that_is_cancelled_closes_all(tmp_path: Path) -> None:
    opened: list[sqlite3.Connection] = []

    def connect(path: Path) -> sqlite3.Connection:
        opened.append(sqlite3.connect(path, isolation_level=None, check_same_thread=False))
        return opened[-1]

    database = await open_database(tmp_path / "memory.db", connect)
    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0)  # it waits for the first connection now
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert len(opened) == 4
    assert [_answers(connection) for connection in opened] == [False] * 4


async def test_a_failed_commit_is_rolled_back(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "memory.db")
    try:
        async with database.write() as tx:
            await tx.execute("CREATE TABLE one (id INTEGER PRIMARY KEY)")
            await tx.execute("CREATE TABLE other (one INTEGER REFERENCES one (id) DEFERRABLE INITIALLY DEFERRED)")
        with pytest.raises(sqlite3.IntegrityError):
            async with database.write() as tx:
                await tx.execute("INSERT INTO other VALUES (1)")
        async with database.write() as tx:
            assert list(await tx.execute_fetchall("SELECT * FROM other")) == []
    finally:
        await database.close()
