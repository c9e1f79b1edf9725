"""Vectors, and the indexes that find the nearest of them.

The table ``embeddings`` is authoritative; an index is derived from it. After a transaction that changed vectors has
committed, ``refresh`` makes the index read those rows again. So the index is not part of the transaction; after a crash
in between, it is corrected when it is opened again.

Both indexes are exact. sqlite-vec keeps no vectors in memory: on two quiet cores, a search of one project takes 8 ms
for 10,000 vectors, 17 ms for 20,000, and 4 ms for 5,000 if the index has 100,000 in all. numpy caches the vectors that
it has searched (15 MB for 10,000): the first search of 10,000 takes 25 ms, later ones 1 ms. So there is no approximate
index: it would be more to maintain, for store sizes that don't occur.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from typing import Protocol

from subconscious.store.connect import Database
from subconscious.store.vectors.array import Row, Scored, Vector
from subconscious.store.vectors.scan import NumpyIndex
from subconscious.store.vectors.table import activate, digests, requeue, save, stored_vectors, vector_of
from subconscious.store.vectors.vec0 import SqliteVecIndex, file_of, remove, sweep

__all__ = [
    "NumpyIndex",
    "Row",
    "Scored",
    "SqliteVecIndex",
    "Vector",
    "VectorIndex",
    "activate",
    "digests",
    "open_index",
    "requeue",
    "save",
    "stored_vectors",
    "sweep",
    "vector_of",
]

log = logging.getLogger("subconscious.store")


class VectorIndex(Protocol):
    """Finds the nearest vectors of one model among active memories."""

    name: str
    """The name that ``doctor`` and ``status`` show."""

    def on(self, database: Database) -> VectorIndex:
        """Return a variant of this index that reads the table through another view of the database."""
        ...

    async def search(
        self, projects: Sequence[str], vector: Vector, k: int, among: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest memories of ``projects`` (empty: all) with their cosines, -1 to 1.

        The best comes first; ties are ordered by id. ``vector`` must have unit length, and k is at most 4,064.
        With ``among``, only memories with these ids are returned.
        """
        ...

    async def vectors(self, ids: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors of active memories, by id; memories without a vector are left out."""
        ...

    async def refresh(self, ids: Sequence[int]) -> None:
        """Read the vectors of these memories from the table into the index. Call it after the change has committed."""
        ...

    async def shrink(self) -> None:
        """Free the caches; they only make the next search faster."""
        ...

    async def close(self) -> None:
        """Release files and memory."""
        ...


async def open_index(database: Database, model: str, dim: int) -> VectorIndex:
    """Return the index over the vectors of ``model``: sqlite-vec if this Python can load it, else numpy."""
    try:
        return await SqliteVecIndex.open(database, model, dim)
    except (ImportError, AttributeError, OSError, sqlite3.Error) as error:
        log.info("sqlite-vec can't be used (%s): vectors are compared by numpy", error)
        # A file of an earlier run would keep vectors of memories that are purged later.
        remove(file_of(database, model))
        return NumpyIndex(database, model)
