"""An array of vectors, and the search for the vectors nearest to another one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Scored = tuple[int, float]

STORED = np.dtype("<f4")
"""The format of numbers in the database."""

SPARE = 32
"""How many candidates beyond k are scored exactly, so that rounding does not decide which k are returned."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The vector of one memory, of unit length. ``project`` is '' for user-wide memories.

    ``digest`` is the digest of the text from which the vector was made, '' if unknown.
    """

    memory_id: int
    project: str
    vector: Vector
    digest: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class VectorArray:
    """Memories and their vectors, one per row."""

    ids: NDArray[np.int64]
    vectors: Vector

    @classmethod
    def of(cls, rows: Iterable[sqlite3.Row]) -> Self:
        """Return an array from rows of (memory_id, vector)."""
        pairs = list(rows)
        numbers = np.frombuffer(b"".join(row[1] for row in pairs), STORED)
        return cls(np.array([row[0] for row in pairs], np.int64), numbers.reshape(len(pairs), -1 if pairs else 0))

    def without(self, ids: Sequence[int]) -> VectorArray:
        """Return a copy of the array without the memories in ``ids``."""
        kept = ~np.isin(self.ids, ids)
        return self if kept.all() else VectorArray(self.ids[kept], self.vectors[kept])

    def within(self, ids: Sequence[int]) -> VectorArray:
        """Return a copy of the array with only the memories in ``ids``."""
        kept = np.isin(self.ids, np.array(ids, np.int64))
        return self if kept.all() else VectorArray(self.ids[kept], self.vectors[kept])

    def plus(self, rows: Sequence[Row]) -> VectorArray:
        """Return a copy of the array with memories added; memories that it contains already must be removed first."""
        if not rows:
            return self
        added = VectorArray(np.array([row.memory_id for row in rows]), np.stack([row.vector for row in rows]))
        if not len(self.ids):
            return added
        return VectorArray(np.concatenate((self.ids, added.ids)), np.concatenate((self.vectors, added.vectors)))

    def candidates(self, vector: Vector, k: int) -> VectorArray:
        """Return the k vectors nearest to ``vector``, unordered, computed fast in single precision."""
        if len(self.ids) <= k:
            return self
        # Not `@`: BLAS would share so small a product among threads, which costs more than it saves.
        nearest = np.argpartition(np.einsum("ij,j->i", self.vectors, -vector), k)[:k]
        return VectorArray(self.ids[nearest], self.vectors[nearest])

    def nearest(self, vector: Vector, k: int) -> list[Scored]:
        """Return the k memories nearest to ``vector``, best first, computed in double precision.

        Products are summed row by row. The last digits of a matrix product depend on the matrix's size, but both
        indexes must return the same score.
        """
        if not len(self.ids):
            return []
        cosines = (self.vectors.astype(np.float64) * vector).sum(axis=1)
        return best_of(zip(self.ids.tolist(), cosines.tolist(), strict=True), k)


def best_of(found: Iterable[Scored], k: int) -> list[Scored]:
    """Return the k highest scores, best first; ties are ordered by id."""
    return sorted(found, key=lambda scored: (-scored[1], scored[0]))[:k]
