"""The engines (SPEC B1): a function query -> ranking each, and a row in ENGINES with its share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subconscious.search.fusion import Fused, Ranking, relative, rrf
from subconscious.search.words import terms
from subconscious.store import memories
from subconscious.store.connect import Database
from subconscious.store.filters import Filter

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex

OVERFETCH = 50
"""Hits asked of each engine before they are fused (SPEC C1)."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for and where. ``vector`` None means full text only; no ``projects``: everywhere.

    ``among`` are the ids that ``which`` means, where it is narrow: a rare kind must not drown among the others.
    ``rather`` says what of it is rather meant, ``best`` are its ids: the engines name the best of those as well.
    """

    text: str
    projects: tuple[str, ...] = ()
    vector: numpy.ndarray | None = None
    limit: int = OVERFETCH
    which: Filter = field(default_factory=Filter)
    among: tuple[int, ...] | None = None
    rather: Filter | None = None
    best: tuple[int, ...] = ()

    @property
    def most(self) -> int:
        """Hits that are worth a look once they are fused."""
        return self.limit if self.rather is None else 2 * self.limit


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the engines' answers become one: the settings of SPEC B1 and B2."""

    preset: str
    alpha: float
    k: int
    agreement: float


Engine = Callable[["Database", "VectorIndex | None", Query], Awaitable[Ranking]]


async def by_words(database: Database, index: VectorIndex | None, query: Query) -> Ranking:
    """BM25 over the full text, stop words dropped."""
    del index
    projects = (*query.projects, memories.USER_WIDE) if query.projects else ()
    words = terms(query.text)
    found = await memories.search_text(database, words, projects, query.limit, query.which)
    if query.rather is None:
        return found
    return _joined(found, await memories.search_text(database, words, projects, query.limit, query.rather))


async def by_meaning(database: Database, index: VectorIndex | None, query: Query) -> Ranking:
    """Cosine to the query's embedding; unrelated memories (cosine <= 0) are no hits."""
    del database
    if index is None or query.vector is None:
        return []
    projects = (*query.projects, "") if query.projects else ()
    found = await index.search(projects, query.vector, query.limit, query.among)
    if query.rather is not None:
        found = _joined(found, await index.search(projects, query.vector, query.limit, query.best))
    return [(memory_id, cosine) for memory_id, cosine in found if cosine > 0]


def _joined(found: Ranking, more: Ranking) -> list[tuple[int, float]]:
    """Two answers of one engine, whose scores compare, as one."""
    return sorted({*found, *more}, key=lambda hit: (-hit[1], hit[0]))


ENGINES: dict[str, Engine] = {"text": by_words, "vector": by_meaning}


async def find(database: Database, index: VectorIndex | None, query: Query, fusion: Fusion) -> list[Fused]:
    """Ask every engine and fuse what they answer, best first."""
    rankings = {name: await engine(database, index, query) for name, engine in ENGINES.items()}
    if fusion.preset == "rrf":
        return rrf(rankings, fusion.k, fusion.agreement)[: query.most]
    weights = {"text": 1.0 - fusion.alpha, "vector": fusion.alpha}
    return relative(rankings, weights)[: query.most]


def projects_of(project_id: str | None) -> Sequence[str]:
    """The scope of a recall: one project (and the user's own, which engines add), or everything."""
    return (project_id,) if project_id else ()
