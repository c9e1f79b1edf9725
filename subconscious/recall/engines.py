"""The search engines: functions from a query to a ranking. A preset (`fusion.PRESETS`) combines the rankings.

Full text and vectors (`ENGINES`) are searched first. Their best hits sharpen the query for a second vector search, and
are the starting points from which links are followed.
"""

from __future__ import annotations

from asyncio import Future, gather
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from subconscious.recall.fusion import PRESETS, Fused, Fusion, Ranking, credited
from subconscious.recall.graph import SEEDS, by_belief, by_links, linked, similarity_edges
from subconscious.recall.modes import BALANCED, Depth
from subconscious.store import full_text
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.text.terms import query_terms, with_spellings

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from subconscious.store.vectors import VectorIndex

    Vector = NDArray[numpy.float32]

FEEDBACK_HITS = 5
"""The number of best hits towards which the query vector is moved."""

COMMON_SHARE = 0.8
"""The share of all hits' mean vector that is subtracted from each hit."""

FEWEST_HITS = 20
"""The minimum number of hits for a second search: the mean of fewer hits is not typical of the stored memories."""


@dataclass(frozen=True, slots=True)
class EngineQuery:
    """A query for the engines. Without ``vector`` only full text is searched; without ``projects``, all projects.

    ``pending_vector`` is the future of an embedding that is being computed; only engines that need it wait for it.
    ``allowed_ids`` are the ids that the filter ``which`` allows, so that other hits don't crowd out those of a rare
    kind; None if ``which`` has no conditions beyond the project. ``preferred`` is a narrower filter that allows
    ``preferred_ids``: engines add the best of these hits to their result.
    """

    text: str
    projects: tuple[str, ...] = ()
    vector: Vector | None = None
    pending_vector: Future[Vector | None] | None = None
    limit: int = BALANCED.hits
    which: Filter = field(default_factory=Filter)
    allowed_ids: tuple[int, ...] | None = None
    preferred: Filter | None = None
    preferred_ids: tuple[int, ...] = ()


Engine = Callable[["Database", "VectorIndex | None", EngineQuery], Awaitable[Ranking]]


async def by_words(database: Database, index: VectorIndex | None, query: EngineQuery) -> Ranking:
    """Return hits by their words: BM25 over the full text, without stop words."""
    del index
    projects = (*query.projects, full_text.USER_WIDE) if query.projects else ()
    words = with_spellings(query_terms(query.text))
    found = await full_text.search(database, words, projects, query.limit, query.which)
    if query.preferred is None:
        return found
    return _merged(found, await full_text.search(database, words, projects, query.limit, query.preferred))


async def by_meaning(database: Database, index: VectorIndex | None, query: EngineQuery) -> Ranking:
    """Return hits by the cosine to the query's embedding; unrelated memories (cosine <= 0) are left out."""
    del database
    query = await _embedded(query)
    if index is None or query.vector is None:
        return []
    projects = (*query.projects, "") if query.projects else ()
    found = await index.search(projects, query.vector, query.limit, query.allowed_ids)
    if query.preferred is not None:
        found = _merged(found, await index.search(projects, query.vector, query.limit, query.preferred_ids))
    return [(memory_id, cosine) for memory_id, cosine in found if cosine > 0]


async def _embedded(query: EngineQuery) -> EngineQuery:
    """Wait for the query's embedding, if it is pending, and return the query with it."""
    return (
        query
        if query.pending_vector is None
        else replace(query, vector=await query.pending_vector, pending_vector=None)
    )


def _merged(found: Ranking, more: Ranking) -> list[tuple[int, float]]:
    """Merge two rankings of one engine, whose scores are comparable."""
    return sorted({*found, *more}, key=lambda hit: (-hit[1], hit[0]))


ENGINES: dict[str, Engine] = {"text": by_words, "vector": by_meaning}


async def find(
    database: Database, index: VectorIndex | None, query: EngineQuery, fusion: Fusion, depth: Depth = BALANCED
) -> list[Fused]:
    """Return the fused hits of all engines, best first. Later engines use the results of the earlier ones."""
    preset = PRESETS[fusion.preset]
    query = replace(query, limit=preset.hits or query.limit)
    answers = await gather(*(engine(database, index, query) for engine in ENGINES.values()))
    rankings, query = dict(zip(ENGINES, answers, strict=True)), await _embedded(query)
    found = preset.fuse(rankings, fusion)
    second_search = preset.again and depth.again and fusion.feedback > 0
    vectors = await _vectors(index, query, found) if second_search or fusion.kin > 0 else {}
    if second_search:
        rankings["feedback"] = await by_feedback(database, index, query, found, vectors, fusion.feedback)
        found = preset.fuse(rankings, fusion)
    edges = await linked(database, [hit.id for hit in found[:SEEDS]], query.projects, depth.reach)
    edges += similarity_edges(vectors, fusion.kin)
    if not edges:
        return credited(found, rankings)
    rankings["graph"] = by_links(found, edges, fusion.damping, query.limit)
    if preset.beliefs:
        rankings["belief"] = by_belief({hit.id: hit.relevance for hit in found}, edges, query.limit)
    return credited(preset.fuse(rankings, fusion), rankings)


async def _vectors(index: VectorIndex | None, query: EngineQuery, found: Sequence[Fused]) -> dict[int, Vector]:
    if index is None or query.vector is None:
        return {}
    return await index.vectors([hit.id for hit in found])


async def by_feedback(
    database: Database,
    index: VectorIndex | None,
    query: EngineQuery,
    found: Sequence[Fused],
    vectors: Mapping[int, Vector],
    share: float,
) -> Ranking:
    """Return the hits of a second vector search with the `sharpened` query; scores are cosines to that query."""
    vector = None if query.vector is None else sharpened(query.vector, found, vectors, share)
    return [] if vector is None else await by_meaning(database, index, replace(query, vector=vector))


def sharpened(query: Vector, first: Sequence[Fused], vectors: Mapping[int, Vector], share: float) -> Vector | None:
    """Return the query vector, moved towards its best hits and scaled to unit length; None if there are too few hits.

    Pseudo relevance feedback after Rocchio (SMART, 1971). The mean of all hits is subtracted first, because what all
    hits have in common does not distinguish them. The new vector finds memories that are worded like the best hits, but
    not like the query. ``share`` is the weight of the best hits, relative to the query.
    """
    known = [hit for hit in first if hit.id in vectors]
    if len(known) < FEWEST_HITS:
        return None
    import numpy  # would delay the daemon's start by a tenth of a second

    common = COMMON_SHARE * numpy.mean([vectors[hit.id] for hit in known], axis=0)
    best = known[:FEEDBACK_HITS]
    distinctive = _unit(numpy.stack([vectors[hit.id] for hit in best]) - common)
    weights = numpy.array([hit.relevance for hit in best], numpy.float32)
    towards = weights @ distinctive / max(float(weights.sum()), 1e-9)
    return _unit(_unit(query - common) + share * towards).astype(numpy.float32)


def _unit(vector: Vector) -> Vector:
    import numpy

    length = numpy.linalg.norm(vector, axis=-1, keepdims=True)
    unit: Vector = vector / numpy.maximum(length, 1e-9)
    return unit


def projects_of(project_id: str | None) -> Sequence[str]:
    """Return the projects to search: one project, to which engines add the user's own memories, or () for all."""
    return (project_id,) if project_id else ()
