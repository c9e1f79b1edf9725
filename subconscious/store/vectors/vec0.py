"""The vector index in a file: sqlite-vec's vec0 table."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self

import aiosqlite

from subconscious.store.connect import SHRINK, Database
from subconscious.store.vectors.array import SPARE, STORED, Row, Scored, Vector, VectorArray
from subconscious.store.vectors.table import Table
from subconscious.system.safe_files import NotRegularError, require_regular

MOST = 4096
"""The maximum number of neighbours that sqlite-vec can return."""

PORTION = 100
"""The number of memories that are refreshed at once; a search waits meanwhile."""

NEAREST = "SELECT memory_id FROM nearest WHERE vector MATCH ? AND k = ?"

LAYOUT = 1
"""The layout of the index file. Increase it when the tables below change: a file with another layout is rebuilt."""

ANEW = """
DELETE FROM about;
DROP TABLE IF EXISTS nearest;
DROP TABLE IF EXISTS held;
CREATE TABLE held (memory_id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL);
CREATE VIRTUAL TABLE nearest USING vec0 (
    memory_id INTEGER PRIMARY KEY,
    project TEXT PARTITION KEY,
    vector FLOAT[{dim}] distance_metric=cosine
);
"""


class SqliteVecIndex:
    """A vec0 table, partitioned by project, in a separate file beside the database.

    The file is separate so that the database never depends on an extension, and because derived data needs no backup: a
    missing or broken file is rebuilt.
    """

    name = "sqlite-vec"

    def __init__(self, table: Table, connection: aiosqlite.Connection) -> None:
        self._table = table
        self._connection = connection
        # Search and refresh share one connection. Without a lock, a search between two statements of a refresh would
        # miss the memories that are being replaced.
        self._turn = asyncio.Lock()

    @classmethod
    async def open(
        cls, database: Database, model: str, dim: int, connector: Callable[..., sqlite3.Connection] = sqlite3.connect
    ) -> Self:
        """Open the index file and update it: a run without the extension may have changed the table.

        Raises ImportError, AttributeError or sqlite3.Error if the extension can't be loaded.
        """
        path = file_of(database, model)
        try:
            connection = await _open_file(path, connector, f"{LAYOUT} {model} {dim}", dim)
        except sqlite3.DatabaseError:
            remove(path)
            connection = await _open_file(path, connector, f"{LAYOUT} {model} {dim}", dim)
        index = cls(Table(database, model), connection)
        try:
            await index._reconcile()
        except BaseException:
            # Close it even after cancellation: an abandoned index would keep its file open.
            await index.close()
            raise
        return index

    def on(self, database: Database) -> Self:
        """Return the same index on another view of the database (see VectorIndex)."""
        same = copy(self)  # shares the connection and the lock
        same._table = self._table.on(database)
        return same

    async def search(
        self, projects: Sequence[str], vector: Vector, k: int, among: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest memories (see VectorIndex)."""
        wanted: list[Any] = [vector.astype(STORED).tobytes(), min(k + SPARE, MOST)]
        nearest = NEAREST
        if among is not None:
            nearest += " AND memory_id IN (SELECT value FROM json_each(?))"
            wanted.append(json.dumps(list(among)))
        near: list[int] = []
        for project in dict.fromkeys(projects):
            near += await self._ids(f"{nearest} AND project = ?", *wanted, project)
        if not projects:
            near = await self._ids(nearest, *wanted)
        # Read from the table, because vec0 takes half a millisecond to return one vector.
        return VectorArray.of(await self._table.vectors(near)).nearest(vector, k)

    async def vectors(self, ids: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors of these memories (see VectorIndex)."""
        return await self._table.by_id(ids)

    async def _ids(self, sql: str, *values: Any) -> list[int]:
        async with self._turn:
            return [row[0] for row in await self._connection.execute_fetchall(sql, values)]

    async def refresh(self, ids: Sequence[int]) -> None:
        """Read the vectors of these memories from the table again (see VectorIndex)."""
        for start in range(0, len(ids), PORTION):
            async with self._turn:
                portion = ids[start : start + PORTION]
                await self._replace(portion, await self._table.rows(portion))

    async def shrink(self) -> None:
        """Free the page cache (see VectorIndex)."""
        await self._connection.execute(SHRINK)

    async def close(self) -> None:
        """Close the file."""
        await self._connection.close()

    async def _reconcile(self) -> None:
        held = await self._connection.execute_fetchall("SELECT memory_id, stamp FROM held")
        before, now = {row[0]: row[1] for row in held}, await self._table.stamps()
        await self.refresh([*(before.keys() - now.keys()), *(id_ for id_ in now if before.get(id_) != now[id_])])

    async def _replace(self, ids: Sequence[int], rows: Sequence[tuple[Row, int]]) -> None:
        known = [(memory_id,) for memory_id in ids]
        vectors = [(row.memory_id, row.project, row.vector.tobytes()) for row, _ in rows]
        stamps = [(row.memory_id, stamp) for row, stamp in rows]
        await self._connection.execute("BEGIN IMMEDIATE")
        try:
            await self._connection.executemany("DELETE FROM nearest WHERE memory_id = ?", known)
            await self._connection.executemany("DELETE FROM held WHERE memory_id = ?", known)
            await self._connection.executemany("INSERT INTO nearest VALUES (?, ?, ?)", vectors)
            await self._connection.executemany("INSERT INTO held VALUES (?, ?)", stamps)
        except BaseException:
            # Roll back even after cancellation: the next write must not include half of this one.
            await self._connection.rollback()
            raise
        await self._connection.commit()


def file_of(database: Database, model: str) -> Path:
    """Return the path of the index of ``model``: the index of one model can be in use while another is filled."""
    return index_path(database.path, model)


def index_path(path: Path, model: str) -> Path:
    """Return the path of a model's index for the database file at ``path``."""
    return path.with_name(f"vectors-{hashlib.sha256(model.encode()).hexdigest()[:8]}.db")


def sweep(database: Database, models: Sequence[str]) -> None:
    """Delete the indexes of all models except ``models``: they would keep vectors of memories that are purged later."""
    kept = {file_of(database, model).name for model in models}
    for file in database.path.parent.glob("vectors*.db"):
        if file.name not in kept:
            remove(file)


def remove(path: Path) -> None:
    """Delete an index file, and the WAL and journal files beside it."""
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink(missing_ok=True)


async def _open_file(
    path: Path, connector: Callable[..., sqlite3.Connection], shape: str, dim: int
) -> aiosqlite.Connection:
    """Open the index file and create its tables; rebuild it if its ``shape`` (layout, model, dimension) differs."""
    path.touch(mode=0o600)
    try:
        require_regular(path)
    except NotRegularError:
        remove(path)  # something else is at the path of the index: replace it
    connection = await aiosqlite.Connection(lambda: _connect(connector, path), iter_chunk_size=64)
    try:
        await connection.execute("CREATE TABLE IF NOT EXISTS about (shape TEXT NOT NULL)")
        about = await connection.execute_fetchall("SELECT shape FROM about")
        if [row[0] for row in about] != [shape]:
            await connection.executescript(ANEW.format(dim=dim))
            # Last, so that an interrupted rebuild is repeated.
            await connection.execute("INSERT INTO about VALUES (?)", (shape,))
    except BaseException:
        # Close it even after cancellation: an abandoned connection would keep its file open.
        await connection.close()
        raise
    return connection


def _connect(connector: Callable[..., sqlite3.Connection], path: Path) -> sqlite3.Connection:
    import sqlite_vec

    connection = connector(path, isolation_level=None, check_same_thread=False)
    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        # Close it even after cancellation: an abandoned connection would keep its file open.
        connection.close()
        raise
    return connection
