"""The table ``embeddings``, from which the indexes are derived."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from time import time, time_ns
from typing import Any

import aiosqlite
import numpy as np

from subconscious.store.connect import Database
from subconscious.store.rows import qmarks
from subconscious.store.vectors.array import STORED, Row, Vector

FROM = "FROM embeddings WHERE active AND model = ?"


async def save(tx: aiosqlite.Connection, model: str, rows: Sequence[Row]) -> None:
    """Store vectors, replacing older ones of that model.

    Vectors of memories that were archived meanwhile are stored but not indexed; vectors of purged memories are dropped.
    """
    await tx.executemany(
        "INSERT OR REPLACE INTO embeddings (memory_id, project, model, dim, vector, active, stamp, digest)"
        " SELECT id, ?, ?, ?, ?, archived_at IS NULL, ?, ? FROM memories WHERE id = ?",
        [(row.project, model, len(row.vector), _stored(row), time_ns(), row.digest, row.memory_id) for row in rows],
    )


def _stored(row: Row) -> bytes:
    return row.vector.astype(STORED).tobytes()


async def activate(tx: aiosqlite.Connection, ids: Sequence[int], active: bool) -> None:
    """Include the vectors of memories in the index if ``active``, else exclude them."""
    await tx.execute(
        f"UPDATE embeddings SET active = ?, stamp = ? WHERE memory_id IN ({qmarks(ids)})",  # noqa: S608
        (active, time_ns(), *ids),
    )


async def requeue(tx: aiosqlite.Connection, model: str) -> int:
    """Queue memories that have no vector of ``model`` or a failed embedding; return how many.

    If memories are queued because ``model`` is new, the time is stored in the model's record.
    """
    again = await tx.execute("UPDATE memories SET embedding_status = 'pending' WHERE embedding_status = 'failed'")
    other = await tx.execute(
        "UPDATE memories SET embedding_status = 'pending' WHERE embedding_status = 'done'"
        " AND id NOT IN (SELECT memory_id FROM embeddings WHERE model = ?)",
        (model,),
    )
    if other.rowcount:
        await tx.execute("UPDATE embedding_models SET wanted_at = ? WHERE name = ?", (time(), model))
    return again.rowcount + other.rowcount


async def digests(database: Database, model: str, ids: Sequence[int]) -> dict[int, str]:
    """Return the digest of the text from which each memory's vector of ``model`` was made, by the memory's id."""
    rows = await database.rows(
        f"SELECT memory_id, digest FROM embeddings WHERE model = ? AND memory_id IN ({qmarks(ids)})",  # noqa: S608
        (model, *ids),
    )
    return {row[0]: row[1] for row in rows}


async def vector_of(database: Database, model: str, memory_id: int) -> Vector | None:
    """Return a memory's vector of ``model``; None if it has none."""
    rows = await database.rows("SELECT vector FROM embeddings WHERE model = ? AND memory_id = ?", (model, memory_id))
    return np.frombuffer(rows[0][0], STORED).astype(np.float32) if rows else None


async def stored_vectors(database: Database, ids: Sequence[int]) -> dict[int, Vector]:
    """Return a stored vector of each memory, of any model, by the memory's id; archived memories included."""
    rows = await database.rows(
        f"SELECT memory_id, vector FROM embeddings WHERE memory_id IN ({qmarks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {row[0]: np.frombuffer(row[1], STORED).astype(np.float32) for row in rows}


class Table:
    """The vectors of one model for active memories."""

    def __init__(self, database: Database, model: str) -> None:
        self._database = database
        self._model = model

    def on(self, database: Database) -> Table:
        """Return the same table, read through another view of the database."""
        return Table(database, self._model)

    async def rows(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        """Return rows of the active memories in ``ids``, each with its stamp: a number that rises with every write."""
        found = await self._select(f"memory_id, project, vector, stamp {FROM} AND memory_id IN ({qmarks(ids)})", *ids)
        return [(Row(row[0], row[1], np.frombuffer(row[2], STORED)), row[3]) for row in found]

    async def vectors(self, ids: Sequence[int]) -> list[sqlite3.Row]:
        """Return (memory_id, vector) of the active memories in ``ids``."""
        return await self._select(f"memory_id, vector {FROM} AND memory_id IN ({qmarks(ids)})", *ids)

    async def by_id(self, ids: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors of the active memories among ``ids``."""
        return {row[0]: np.frombuffer(row[1], STORED) for row in await self.vectors(ids)}

    async def of_project(self, project: str) -> list[sqlite3.Row]:
        """Return (memory_id, vector) of the active memories of a project."""
        return await self._select(f"memory_id, vector {FROM} AND project = ?", project, long=True)

    async def projects(self) -> list[str]:
        """Return the projects that have vectors, '' for user-wide memories."""
        return [row[0] for row in await self._select(f"DISTINCT project {FROM}", long=True)]

    async def stamps(self) -> dict[int, int]:
        """Return each memory's stamp, ordered by project.

        The order matters: vec0 is filled 15 times faster if the rows of a partition follow each other.
        """
        return {row[0]: row[1] for row in await self._select(f"memory_id, stamp {FROM} ORDER BY project")}

    async def _select(self, sql: str, *values: Any, long: bool = False) -> list[sqlite3.Row]:
        return await self._database.rows(f"SELECT {sql}", (self._model, *values), long=long)
