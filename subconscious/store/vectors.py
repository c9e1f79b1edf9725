"""Vectors and the indexes that find the nearest of them.

The table ``embeddings`` is the truth; an index is derived from it. After a transaction that changed vectors has
committed, ``refresh`` tells the index which, and it takes over what the table then says: it needs no part in the
transaction and can't disagree for long, whatever happened in between.

Both indexes are exact. sqlite-vec keeps nothing in memory: on two quiet cores 8 ms for 10,000 vectors of one project,
17 for 20,000, 4 for one project's 5,000 among 100,000. numpy holds the vectors it was asked about (15 MB for 10,000)
and takes 1 ms for 10,000, after 25 for the first question. So there is no approximate index: it would be one more
thing to keep right, for stores that nobody has.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from typing import Any, Protocol, Self

import aiosqlite
import numpy as np
from numpy.typing import NDArray

from subconscious.store.connect import Database
from subconscious.store.rows import marks

log = logging.getLogger("subconscious.store")

Vector = NDArray[np.float32]
Scored = tuple[int, float]

STORED = np.dtype("<f4")
"""How a number stands in the database."""

SPARE = 32
"""Candidates beyond k that are scored exactly, so that rounding and ties at the edge choose nobody."""

MOST = 4096
"""Neighbours sqlite-vec gives at most."""

PORTION = 500
"""Memories refreshed in one statement."""

CACHED = 100_000
"""Vectors the numpy index may hold: 150 MB at 384 dimensions."""

FROM = "FROM embeddings WHERE active AND model = ?"

NEAREST = "SELECT memory_id FROM nearest WHERE vector MATCH ? AND k = ?"

LAYOUT = 1
"""Rises when the tables below change; a file of another layout is made anew."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The vector of one memory, of unit length. ``project`` is '' for memories that hold everywhere."""

    memory_id: int
    project: str
    vector: Vector


class VectorIndex(Protocol):
    """Finds the nearest vectors of one model among active memories."""

    name: str
    """What it is called in ``doctor`` and ``status``."""

    async def search(self, projects: Sequence[str], vector: Vector, k: int) -> list[Scored]:
        """The k nearest memories of these projects, all projects if there are none: id and cosine, -1..1.

        Best first, equals by id. ``vector`` is of unit length; k is at most 4,064.
        """
        ...

    async def refresh(self, ids: Sequence[int]) -> None:
        """Take over what the table says of these memories. Call it when the change has committed."""
        ...

    async def close(self) -> None:
        """Let go of files and memory."""
        ...


async def save(tx: aiosqlite.Connection, model: str, rows: Sequence[Row]) -> None:
    """Store vectors in place of older ones.

    Those of memories archived meanwhile stay out of the index, those of memories purged meanwhile are left out.
    """
    await tx.executemany(
        "INSERT OR REPLACE INTO embeddings (memory_id, project, model, dim, vector, active, stamp)"
        " SELECT id, ?, ?, ?, ?, archived_at IS NULL, ? FROM memories WHERE id = ?",
        [
            (row.project, model, len(row.vector), row.vector.astype(STORED).tobytes(), time_ns(), row.memory_id)
            for row in rows
        ],
    )


async def activate(tx: aiosqlite.Connection, ids: Sequence[int], active: bool) -> None:
    """Bring the vectors of these memories into the index, or keep them out of it."""
    await tx.execute(
        f"UPDATE embeddings SET active = ?, stamp = ? WHERE memory_id IN ({marks(ids)})",  # noqa: S608
        (active, time_ns(), *ids),
    )


async def requeue(tx: aiosqlite.Connection, model: str) -> int:
    """Let memories whose vector is of another model, or could not be made, wait for a new one; return how many."""
    cursor = await tx.execute(
        "UPDATE memories SET embedding_status = 'pending' WHERE embedding_status = 'failed' OR"
        " embedding_status = 'done' AND id NOT IN (SELECT memory_id FROM embeddings WHERE model = ?)",
        (model,),
    )
    return cursor.rowcount


async def open_index(database: Database, model: str, dim: int) -> VectorIndex:
    """The index over the vectors of ``model``: sqlite-vec where this Python can load it, numpy elsewhere."""
    try:
        return await SqliteVecIndex.open(database, model, dim)
    except (ImportError, AttributeError, OSError, sqlite3.Error) as error:
        log.info("sqlite-vec can't be used (%s): vectors are compared by numpy", error)
        # What an earlier run left there would keep vectors of memories that are purged from now on.
        _remove(_file_of(database))
        return NumpyIndex(database, model)


class NumpyIndex:
    """Compares with every vector of a project. Keeps those of the projects asked about last."""

    name = "numpy"

    def __init__(self, database: Database, model: str, capacity: int = CACHED) -> None:
        self._table = _Table(database, model)
        self._capacity = capacity
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()
        self._changes = 0

    async def search(self, projects: Sequence[str], vector: Vector, k: int) -> list[Scored]:
        """The k nearest memories (see VectorIndex)."""
        found: list[Scored] = []
        for project in dict.fromkeys(projects or await self._table.projects()):
            shelf = await self._shelf(project)
            found += shelf.candidates(vector, k + SPARE).nearest(vector, k)
        return _best(found, k)

    async def refresh(self, ids: Sequence[int]) -> None:
        """Take over what the table says of these memories (see VectorIndex)."""
        self._changes += 1
        rows = [row for row, _ in await self._table.rows(ids)]
        for project, shelf in self._shelves.items():
            self._shelves[project] = shelf.without(ids).plus([row for row in rows if row.project == project])

    async def close(self) -> None:
        """Let go of memory."""
        self._shelves.clear()

    async def _shelf(self, project: str) -> _Shelf:
        if project in self._shelves:
            self._shelves.move_to_end(project)
            return self._shelves[project]
        before = self._changes
        shelf = _Shelf.of(await self._table.of_project(project))
        # Something that changed while the table was read may be missing from what was read: use it once, don't keep it.
        if before == self._changes:
            self._keep(project, shelf)
        return shelf

    def _keep(self, project: str, shelf: _Shelf) -> None:
        self._shelves[project] = shelf
        while len(self._shelves) > 1 and sum(len(kept.ids) for kept in self._shelves.values()) > self._capacity:
            self._shelves.popitem(last=False)


class SqliteVecIndex:
    """A vec0 table, partitioned by project, in a file of its own beside the database.

    Of its own, so that the database never depends on an extension, and because what is derived needs no backup: a
    file that is missing or broken is made anew.
    """

    name = "sqlite-vec"

    def __init__(self, table: _Table, connection: aiosqlite.Connection) -> None:
        self._table = table
        self._connection = connection
        self._turn = asyncio.Lock()

    @classmethod
    async def open(
        cls, database: Database, model: str, dim: int, connector: Callable[..., sqlite3.Connection] = sqlite3.connect
    ) -> Self:
        """Open the file and bring it up to date, for a run without the extension may have changed the table.

        Raises ImportError, AttributeError or sqlite3.Error where the extension can't be loaded.
        """
        path = _file_of(database)
        try:
            connection = await _open_file(path, connector, f"{LAYOUT} {model} {dim}", dim)
        except sqlite3.DatabaseError:
            _remove(path)
            connection = await _open_file(path, connector, f"{LAYOUT} {model} {dim}", dim)
        index = cls(_Table(database, model), connection)
        try:
            await index._reconcile()
        except BaseException:
            await index.close()
            raise
        return index

    async def search(self, projects: Sequence[str], vector: Vector, k: int) -> list[Scored]:
        """The k nearest memories (see VectorIndex)."""
        wanted = vector.astype(STORED).tobytes(), min(k + SPARE, MOST)
        near: list[int] = []
        for project in dict.fromkeys(projects):
            near += await self._ids(f"{NEAREST} AND project = ?", *wanted, project)
        if not projects:
            near = await self._ids(NEAREST, *wanted)
        # From the table and not from vec0, which takes half a millisecond to read one vector back.
        return _Shelf.of(await self._table.vectors(near)).nearest(vector, k)

    async def _ids(self, sql: str, *values: Any) -> list[int]:
        return [row[0] for row in await self._connection.execute_fetchall(sql, values)]

    async def refresh(self, ids: Sequence[int]) -> None:
        """Take over what the table says of these memories (see VectorIndex)."""
        async with self._turn:
            for start in range(0, len(ids), PORTION):
                portion = ids[start : start + PORTION]
                await self._replace(portion, await self._table.rows(portion))

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
            await self._connection.rollback()
            raise
        await self._connection.commit()


def _file_of(database: Database) -> Path:
    return database.path.with_name("vectors.db")


def _remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink(missing_ok=True)


async def _open_file(
    path: Path, connector: Callable[..., sqlite3.Connection], shape: str, dim: int
) -> aiosqlite.Connection:
    """Open the index's file and see to its tables; ``shape`` says what they must have been made for."""
    path.touch(mode=0o600)
    connection = await aiosqlite.Connection(lambda: _connect(connector, path), iter_chunk_size=64)
    try:
        await connection.execute("CREATE TABLE IF NOT EXISTS about (shape TEXT NOT NULL)")
        about = await connection.execute_fetchall("SELECT shape FROM about")
        if [row[0] for row in about] != [shape]:
            await connection.executescript(ANEW.format(dim=dim))
            # Last, so that tables whose making was cut short are made again.
            await connection.execute("INSERT INTO about VALUES (?)", (shape,))
    except BaseException:
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
        connection.close()
        raise
    return connection


class _Table:
    """The vectors of one model's active memories, as the database has them."""

    def __init__(self, database: Database, model: str) -> None:
        self._database = database
        self._model = model

    async def rows(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        """Those of ``ids`` that are active, each with its stamp."""
        found = await self._select(f"memory_id, project, vector, stamp {FROM} AND memory_id IN ({marks(ids)})", *ids)
        return [(Row(row[0], row[1], np.frombuffer(row[2], STORED)), row[3]) for row in found]

    async def vectors(self, ids: Sequence[int]) -> list[sqlite3.Row]:
        return await self._select(f"memory_id, vector {FROM} AND memory_id IN ({marks(ids)})", *ids)

    async def of_project(self, project: str) -> list[sqlite3.Row]:
        return await self._select(f"memory_id, vector {FROM} AND project = ?", project)

    async def projects(self) -> list[str]:
        return [row[0] for row in await self._select(f"DISTINCT project {FROM}")]

    async def stamps(self) -> dict[int, int]:
        """Memory -> stamp, by project: vec0 is filled fifteen times as fast when a partition's rows come together."""
        return {row[0]: row[1] for row in await self._select(f"memory_id, stamp {FROM} ORDER BY project")}

    async def _select(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        return await self._database.rows(f"SELECT {sql}", (self._model, *values))


@dataclass(frozen=True, slots=True, eq=False)
class _Shelf:
    """Some memories and their vectors, a row each."""

    ids: NDArray[np.int64]
    vectors: Vector

    @classmethod
    def of(cls, rows: Iterable[sqlite3.Row]) -> Self:
        """From rows of (memory_id, vector)."""
        pairs = list(rows)
        numbers = np.frombuffer(b"".join(row[1] for row in pairs), STORED)
        return cls(np.array([row[0] for row in pairs], np.int64), numbers.reshape(len(pairs), -1 if pairs else 0))

    def without(self, ids: Sequence[int]) -> _Shelf:
        kept = ~np.isin(self.ids, ids)
        return self if kept.all() else _Shelf(self.ids[kept], self.vectors[kept])

    def plus(self, rows: Sequence[Row]) -> _Shelf:
        if not rows:
            return self
        added = _Shelf(np.array([row.memory_id for row in rows]), np.stack([row.vector for row in rows]))
        if not len(self.ids):
            return added
        return _Shelf(np.concatenate((self.ids, added.ids)), np.concatenate((self.vectors, added.vectors)))

    def candidates(self, vector: Vector, k: int) -> _Shelf:
        """The k nearest, in no order, by the fast product in single precision."""
        if len(self.ids) <= k:
            return self
        nearest = np.argpartition(self.vectors @ -vector, k)[:k]
        return _Shelf(self.ids[nearest], self.vectors[nearest])

    def nearest(self, vector: Vector, k: int) -> list[Scored]:
        """The k nearest, in order, in double precision.

        Summed row by row and not by a matrix product, whose last digits depend on the matrix's size: both indexes must
        give the same score.
        """
        if not len(self.ids):
            return []
        cosines = (self.vectors.astype(np.float64) * vector).sum(axis=1)
        return _best(zip(self.ids.tolist(), cosines.tolist(), strict=True), k)


def _best(found: Iterable[Scored], k: int) -> list[Scored]:
    return sorted(found, key=lambda scored: (-scored[1], scored[0]))[:k]
