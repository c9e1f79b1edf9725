"""A vector index that needs only numpy."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from copy import copy
from typing import Self

from subconscious.store.connect import Database
from subconscious.store.vectors.array import SPARE, Scored, Vector, VectorArray, best_of
from subconscious.store.vectors.table import Table

CACHED = 100_000
"""The maximum number of vectors that are cached in memory: 150 MB at 384 dimensions."""


class NumpyIndex:
    """An index that compares a query with all vectors of a project. Recently searched projects are cached."""

    name = "numpy"

    def __init__(self, database: Database, model: str, capacity: int = CACHED) -> None:
        self._table = Table(database, model)
        self._capacity = capacity
        self._shelves: OrderedDict[str, VectorArray] = OrderedDict()
        self._reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # For each project that is being read: the memories that changed meanwhile.
        self._missed: dict[str, set[int]] = {}

    def on(self, database: Database) -> Self:
        """Return the same index on another view of the database (see VectorIndex)."""
        same = copy(self)  # shares the cache and the locks
        same._table = self._table.on(database)
        return same

    async def search(
        self, projects: Sequence[str], vector: Vector, k: int, among: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest memories (see VectorIndex)."""
        found: list[Scored] = []
        for project in dict.fromkeys(projects or await self._table.projects()):
            # If sessions start at the same time, the first search reads the vectors, and the others use its result.
            async with self._reading[project]:
                shelf = await self._shelf(project)
            if among is not None:
                shelf = shelf.within(among)
            found += shelf.candidates(vector, k + SPARE).nearest(vector, k)
        return best_of(found, k)

    async def vectors(self, ids: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors of these memories (see VectorIndex)."""
        return await self._table.by_id(ids)

    async def refresh(self, ids: Sequence[int]) -> None:
        """Read the vectors of these memories from the table again (see VectorIndex)."""
        for missed in self._missed.values():
            missed.update(ids)
        rows = [row for row, _ in await self._table.rows(ids)]
        for project, shelf in self._shelves.items():
            self._shelves[project] = shelf.without(ids).plus([row for row in rows if row.project == project])

    async def shrink(self) -> None:
        """Drop the cached vectors; they are read again when needed (see VectorIndex)."""
        self._shelves.clear()

    async def close(self) -> None:
        """Free the memory."""
        self._shelves.clear()

    async def _shelf(self, project: str) -> VectorArray:
        if project in self._shelves:
            self._shelves.move_to_end(project)
            return self._shelves[project]
        missed = self._missed[project] = set[int]()
        try:
            shelf = VectorArray.of(await self._table.of_project(project))
            while missed:  # no other task runs between this check and caching the shelf
                ids = list(missed)
                missed.clear()
                rows = [row for row, _ in await self._table.rows(ids) if row.project == project]
                shelf = shelf.without(ids).plus(rows)
            self._keep(project, shelf)
        finally:
            del self._missed[project]
        return shelf

    def _keep(self, project: str, shelf: VectorArray) -> None:
        self._shelves[project] = shelf
        while len(self._shelves) > 1 and sum(len(kept.ids) for kept in self._shelves.values()) > self._capacity:
            self._shelves.popitem(last=False)
