"""The table ``embeddings``: the truth that indexes are derived from."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from time import time, time_ns
from typing import Any

import aiosqlite
import numpy as np

from subconscious.store.connect import Database
from subconscious.store.rows import marks
from subconscious.store.vectors.shelf import STORED, Row, Vector

FROM = "FROM embeddings WHERE active AND model = ?"


async def save(tx: aiosqlite.Connection, model: str, rows: Sequence[Row]) -> None:
    """Store vectors in place of older ones of that model.

    Those of memories archived meanwhile stay out of the index, those of memories purged meanwhile are left out.
    """
    await tx.executemany(
        "INSERT OR REPLACE INTO embeddings (memory_id, project, model, dim, vector, active, stamp, digest)"
        " SELECT id, ?, ?, ?, ?, archived_at IS NULL, ?, ? FROM memories WHERE id = ?",
        [(row.project, model, len(row.vector), _stored(row), time_ns(), row.digest, row.memory_id) for row in rows],
    )


def _stored(row: Row) -> bytes:
    return row.vector.astype(STORED).tobytes()


async def activate(tx: aiosqlite.Connection, ids: Sequence[int], active: bool) -> None:
    """Bring the vectors of these memories into the index, or keep them out of it."""
    await tx.execute(
        f"UPDATE embeddings SET active = ?, stamp = ? WHERE memory_id IN ({marks(ids)})",  # noqa: S608
        (active, time_ns(), *ids),
    )


async def requeue(tx: aiosqlite.Connection, model: str) -> int:
    """Let memories that have no vector of ``model``, or could not be given one, wait for it; return how many.

    For those that begin to wait because the model is another one, it says so in the model's record.
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
    """Memory -> digest of the text that its vector of ``model`` was made from."""
    rows = await database.rows(
        f"SELECT memory_id, digest FROM embeddings WHERE model = ? AND memory_id IN ({marks(ids)})",  # noqa: S608
        (model, *ids),
    )
    return {row[0]: row[1] for row in rows}


async def vector_of(database: Database, model: str, memory_id: int) -> Vector | None:
    """The vector by which a memory is found; None where it has none of this model."""
    rows = await database.rows("SELECT vector FROM embeddings WHERE model = ? AND memory_id = ?", (model, memory_id))
    return np.frombuffer(rows[0][0], STORED).astype(np.float32) if rows else None


async def stored(database: Database, ids: Sequence[int]) -> dict[int, Vector]:
    """The vectors of memories, whether an index has them or not."""
    rows = await database.rows(
        f"SELECT memory_id, vector FROM embeddings WHERE memory_id IN ({marks(ids)})",  # noqa: S608
        tuple(ids),
    )
    return {row[0]: np.frombuffer(row[1], STORED).astype(np.float32) for row in rows}


class Table:
    """The vectors of one model's active memories, as the database has them."""

    def __init__(self, database: Database, model: str) -> None:
        self._database = database
        self._model = model

    async def rows(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        """Those of ``ids`` that are active, each with its stamp."""
        found = await self._select(f"memory_id, project, vector, stamp {FROM} AND memory_id IN ({marks(ids)})", *ids)
        return [(Row(row[0], row[1], np.frombuffer(row[2], STORED)), row[3]) for row in found]

    async def vectors(self, ids: Sequence[int]) -> list[sqlite3.Row]:
        """(memory_id, vector) of those of ``ids`` that are active."""
        return await self._select(f"memory_id, vector {FROM} AND memory_id IN ({marks(ids)})", *ids)

    async def by_id(self, ids: Sequence[int]) -> dict[int, Vector]:
        """The vectors of those of ``ids`` that are active."""
        return {row[0]: np.frombuffer(row[1], STORED) for row in await self.vectors(ids)}

    async def of_project(self, project: str) -> list[sqlite3.Row]:
        """(memory_id, vector) of a project's active memories."""
        return await self._select(f"memory_id, vector {FROM} AND project = ?", project, long=True)

    async def projects(self) -> list[str]:
        """The projects that have vectors, '' for memories that hold everywhere."""
        return [row[0] for row in await self._select(f"DISTINCT project {FROM}", long=True)]

    async def stamps(self) -> dict[int, int]:
        """Memory -> stamp, by project: vec0 is filled fifteen times as fast when a partition's rows come together."""
        return {row[0]: row[1] for row in await self._select(f"memory_id, stamp {FROM} ORDER BY project")}

    async def _select(self, sql: str, *values: Any, long: bool = False) -> list[sqlite3.Row]:
        return await self._database.rows(f"SELECT {sql}", (self._model, *values), long=long)
