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

import logging
import sqlite3
from collections.abc import Sequence
from typing import Protocol

from subconscious.store.connect import Database
from subconscious.store.vectors.scan import NumpyIndex
from subconscious.store.vectors.shelf import Row, Scored, Vector
from subconscious.store.vectors.table import activate, digests, requeue, save, stored, vector_of
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
    "stored",
    "sweep",
    "vector_of",
]

log = logging.getLogger("subconscious.store")


class VectorIndex(Protocol):
    """Finds the nearest vectors of one model among active memories."""

    name: str
    """What it is called in ``doctor`` and ``status``."""

    async def search(
        self, projects: Sequence[str], vector: Vector, k: int, among: Sequence[int] | None = None
    ) -> list[Scored]:
        """The k nearest memories of these projects, all projects if there are none: id and cosine, -1..1.

        Best first, equals by id. ``vector`` is of unit length; k is at most 4,064. With ``among`` only those count.
        """
        ...

    async def vectors(self, ids: Sequence[int]) -> dict[int, Vector]:
        """The vectors of those of these memories that are active and have one."""
        ...

    async def refresh(self, ids: Sequence[int]) -> None:
        """Take over what the table says of these memories. Call it when the change has committed."""
        ...

    async def shrink(self) -> None:
        """Let go of memory that only makes the next question quicker."""
        ...

    async def close(self) -> None:
        """Let go of files and memory."""
        ...


async def open_index(database: Database, model: str, dim: int) -> VectorIndex:
    """The index over the vectors of ``model``: sqlite-vec where this Python can load it, numpy elsewhere."""
    try:
        return await SqliteVecIndex.open(database, model, dim)
    except (ImportError, AttributeError, OSError, sqlite3.Error) as error:
        log.info("sqlite-vec can't be used (%s): vectors are compared by numpy", error)
        # What an earlier run left there would keep vectors of memories that are purged from now on.
        remove(file_of(database, model))
        return NumpyIndex(database, model)
