"""The index that needs nothing but numpy."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence

from subconscious.store.connect import Database
from subconscious.store.vectors.shelf import SPARE, Scored, Shelf, Vector, best_of
from subconscious.store.vectors.table import Table

CACHED = 100_000
"""Vectors the numpy index may hold: 150 MB at 384 dimensions."""


class NumpyIndex:
    """Compares with every vector of a project. Keeps those of the projects asked about last."""

    name = "numpy"

    def __init__(self, database: Database, model: str, capacity: int = CACHED) -> None:
        self._table = Table(database, model)
        self._capacity = capacity
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()
        self._reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # What changes while a project is being read, for each that is.
        self._missed: dict[str, set[int]] = {}

    async def search(
        self, projects: Sequence[str], vector: Vector, k: int, among: Sequence[int] | None = None
    ) -> list[Scored]:
        """The k nearest memories (see VectorIndex)."""
        found: list[Scored] = []
        for project in dict.fromkeys(projects or await self._table.projects()):
            # Sessions that begin at once ask together: the first one reads, the others take what it has read.
            async with self._reading[project]:
                shelf = await self._shelf(project)
            if among is not None:
                shelf = shelf.within(among)
            found += shelf.candidates(vector, k + SPARE).nearest(vector, k)
        return best_of(found, k)

    async def vectors(self, ids: Sequence[int]) -> dict[int, Vector]:
        """The vectors of these memories (see VectorIndex)."""
        return await self._table.by_id(ids)

    async def refresh(self, ids: Sequence[int]) -> None:
        """Take over what the table says of these memories (see VectorIndex)."""
        for missed in self._missed.values():
            missed.update(ids)
        rows = [row for row, _ in await self._table.rows(ids)]
        for project, shelf in self._shelves.items():
            self._shelves[project] = shelf.without(ids).plus([row for row in rows if row.project == project])

    async def shrink(self) -> None:
        """Let go of the vectors that are kept; they are read again when they are needed (see VectorIndex)."""
        self._shelves.clear()

    async def close(self) -> None:
        """Let go of memory."""
        self._shelves.clear()

    async def _shelf(self, project: str) -> Shelf:
        if project in self._shelves:
            self._shelves.move_to_end(project)
            return self._shelves[project]
        missed = self._missed[project] = set[int]()
        try:
            shelf = Shelf.of(await self._table.of_project(project))
            while missed:  # between the last look at it and keeping the shelf nobody else has a turn
                ids = list(missed)
                missed.clear()
                rows = [row for row, _ in await self._table.rows(ids) if row.project == project]
                shelf = shelf.without(ids).plus(rows)
            self._keep(project, shelf)
        finally:
            del self._missed[project]
        return shelf

    def _keep(self, project: str, shelf: Shelf) -> None:
        self._shelves[project] = shelf
        while len(self._shelves) > 1 and sum(len(kept.ids) for kept in self._shelves.values()) > self._capacity:
            self._shelves.popitem(last=False)
