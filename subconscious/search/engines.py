"""The engines: a function query -> ranking each, and a row in ENGINES; what they weigh is the presets'.

Words and meaning are asked first. What they find steers a second look by meaning, and is where the graph begins.
"""

from __future__ import annotations

from asyncio import Future, gather
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from subconscious.search.belief import by_belief
from subconscious.search.depths import BALANCED, Depth
from subconscious.search.feedback import sharpened
from subconscious.search.fusion import Fused, Ranking, credited
from subconscious.search.graph import SEEDS, by_links, kin, linked
from subconscious.search.presets import PRESETS, Fusion
from subconscious.search.words import terms
from subconscious.store import full_text
from subconscious.store.connect import Database
from subconscious.store.filters import Filter

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for and where. ``vector`` None means full text only; no ``projects``: everywhere.

    ``coming`` brings the vector where it is still being made: who needs none does not wait for it.
    ``among`` are the ids that ``which`` means, where it is narrow: a rare kind must not drown among the others.
    ``rather`` says what of it is rather meant, ``best`` are its ids: the engines name the best of those as well.
    """

    text: str
    projects: tuple[str, ...] = ()
    vector: numpy.ndarray | None = None
    coming: Future[numpy.ndarray | None] | None = None
    limit: int = BALANCED.hits
    which: Filter = field(default_factory=Filter)
    among: tuple[int, ...] | None = None
    rather: Filter | None = None
    best: tuple[int, ...] = ()


Engine = Callable[["Database", "VectorIndex | None", Query], Awaitable[Ranking]]


async def by_words(database: Database, index: VectorIndex | None, query: Query) -> Ranking:
    """BM25 over the full text, stop words dropped."""
    del index
    projects = (*query.projects, full_text.USER_WIDE) if query.projects else ()
    words = terms(query.text)
    found = await full_text.search(database, words, projects, query.limit, query.which)
    if query.rather is None:
        return found
    return _joined(found, await full_text.search(database, words, projects, query.limit, query.rather))


async def by_meaning(database: Database, index: VectorIndex | None, query: Query) -> Ranking:
    """Cosine to the query's embedding; unrelated memories (cosine <= 0) are no hits."""
    del database
    query = await _embedded(query)
    if index is None or query.vector is None:
        return []
    projects = (*query.projects, "") if query.projects else ()
    found = await index.search(projects, query.vector, query.limit, query.among)
    if query.rather is not None:
        found = _joined(found, await index.search(projects, query.vector, query.limit, query.best))
    return [(memory_id, cosine) for memory_id, cosine in found if cosine > 0]


async def _embedded(query: Query) -> Query:
    """The query with its vector, once that is made."""
    return query if query.coming is None else replace(query, vector=await query.coming, coming=None)


def _joined(found: Ranking, more: Ranking) -> list[tuple[int, float]]:
    """Two answers of one engine, whose scores compare, as one."""
    return sorted({*found, *more}, key=lambda hit: (-hit[1], hit[0]))


ENGINES: dict[str, Engine] = {"text": by_words, "vector": by_meaning}


async def find(
    database: Database, index: VectorIndex | None, query: Query, fusion: Fusion, depth: Depth = BALANCED
) -> list[Fused]:
    """Ask every engine, the later ones with what the earlier found, and fuse what they answer, best first."""
    preset = PRESETS[fusion.preset]
    query = replace(query, limit=preset.hits or query.limit)
    answers = await gather(*(engine(database, index, query) for engine in ENGINES.values()))
    rankings, query = dict(zip(ENGINES, answers, strict=True)), await _embedded(query)
    found = preset.fuse(rankings, fusion)
    again = preset.again and depth.again and fusion.feedback > 0
    near = await _vectors(index, query, found) if again or fusion.kin > 0 else {}
    if again:
        rankings["feedback"] = await by_feedback(database, index, query, found, near, fusion.feedback)
        found = preset.fuse(rankings, fusion)
    edges = await linked(database, [hit.id for hit in found[:SEEDS]], query.projects, depth.reach)
    edges += kin(near, fusion.kin)
    if not edges:
        return credited(found, rankings)
    rankings["graph"] = by_links(found, edges, fusion.damping, query.limit)
    if preset.beliefs:
        rankings["belief"] = by_belief({hit.id: hit.relevance for hit in found}, edges, query.limit)
    return credited(preset.fuse(rankings, fusion), rankings)


async def _vectors(index: VectorIndex | None, query: Query, found: Sequence[Fused]) -> dict[int, numpy.ndarray]:
    if index is None or query.vector is None:
        return {}
    return await index.vectors([hit.id for hit in found])


async def by_feedback(
    database: Database,
    index: VectorIndex | None,
    query: Query,
    found: Sequence[Fused],
    near: Mapping[int, numpy.ndarray],
    share: float,
) -> Ranking:
    """What is near to the query as its first hits have sharpened it; the scores are no cosines to the query itself."""
    vector = None if query.vector is None else sharpened(query.vector, found, near, share)
    return [] if vector is None else await by_meaning(database, index, replace(query, vector=vector))


def projects_of(project_id: str | None) -> Sequence[str]:
    """The scope of a recall: one project (and the user's own, which engines add), or everything."""
    return (project_id,) if project_id else ()
