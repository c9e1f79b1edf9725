"""Runs a search: asks the engines, ranks their hits and selects the hits to return."""

from __future__ import annotations

from asyncio import ensure_future
from collections.abc import Sequence
from dataclasses import replace
from time import time

from subconscious.domain.hits import Hit
from subconscious.recall import promotion_status, ranking, trust_notes
from subconscious.recall.context import lift
from subconscious.recall.engines import EngineQuery, find, projects_of
from subconscious.recall.fusion import Fused
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.relevance import QueryTerms
from subconscious.recall.selection import (
    EVERYTHING,
    SUMMARY,
    Selection,
    selected,
    successors_first,
    summaries_shown_instead,
    with_replacements,
    without_duplicates,
)
from subconscious.recall.understanding import ParsedQuery
from subconscious.store import consolidations, events, links, memories
from subconscious.text.same_statement import same_statement

LONGEST_SUCCESSION = 5
"""The most steps that are followed from a memory to the memory that supersedes it."""

LOADED = 50
"""The number of hits of one search that are read from the store, unless the request needs more."""


async def recall(
    ctx: RecallContext, asked: str | ParsedQuery, project_id: str | None, limit: int, wanted: Selection = EVERYTHING
) -> list[Hit]:
    """Return the memories that match by words, meaning, links or neighbouring memories, best first.

    Age affects only the order. A plain string is searched without parsing; text typed into a search should be parsed
    first, see `recall/understanding.py`.
    """
    query = asked if isinstance(asked, ParsedQuery) else ParsedQuery(asked)
    query = replace(query, which=replace(query.which, project_id=project_id))
    if query.wordless:
        hits: Sequence[Hit] = await _latest(ctx, query, limit)
    else:
        candidates = await _candidates(ctx, query, project_id, limit)
        most = min(limit, wanted.hits)
        chosen = await _selected(ctx, candidates, wanted)
        hits = (await _with_summaries(ctx, chosen, wanted, most, project_id))[:most]
    return successors_first(await trust_notes.of_hits(ctx.database, hits, ctx.settings, time(), project_id))


async def with_successors(ctx: RecallContext, hits: Sequence[Hit], project_id: str | None) -> list[Hit]:
    """Return the hits, with each superseding memory before the hit that it supersedes; missing ones are added.

    The words of a question often match only the older statement: "the queue" is in "we use Redis for the queue", but
    not in "scrap redis, we moved to NATS".
    """
    for _ in range(LONGEST_SUCCESSION):
        found = {hit.memory.id for hit in hits}
        missing = {newer: hit for hit in reversed(hits) if hit.repute for newer in hit.repute.superseded_by}
        known = await memories.get_many(ctx.database, [number for number in missing if number not in found])
        added = [
            replace(missing[memory.id], memory=memory, decay=1.0, repute=None)
            for memory in known.values()
            if memory.archived_at is None
        ]
        if not added:
            break
        hits = await trust_notes.of_hits(ctx.database, [*hits, *added], ctx.settings, time(), project_id)
    return successors_first(hits)


async def _latest(ctx: RecallContext, query: ParsedQuery, limit: int) -> list[Hit]:
    """Return the latest memories of the time and kinds that a query without other words names."""
    found = await memories.latest(ctx.database, query.outright, limit)
    return [Hit(memory, 1.0, 1.0, rank=1.0) for memory in found]


async def _candidates(ctx: RecallContext, query: ParsedQuery, project_id: str | None, limit: int) -> list[Hit]:
    """Return the best hits, up to twice ``limit``; those that contain all words of the query come first.

    Duplicates and hits with too little relevance are dropped later.
    """
    depth = max(ctx.depth.hits, limit)
    fused = await _fused(ctx, query, depth)
    session_order = await memories.by_session(ctx.database, [hit.id for hit in fused], project_id)
    filtered = 2 * depth if query.outright != query.which else depth if query.which.narrow else 0
    lifted = lift(fused, session_order, ctx.context_weights, max(LOADED, filtered, 2 * limit))
    known = await memories.get_many(ctx.database, [hit.id for hit in lifted], query.which)
    terms = QueryTerms.of(query.text)
    hits = await ranking.hits_of(ctx, terms, [(hit, known[hit.id]) for hit in lifted if hit.id in known], project_id)
    hits = [ranking.raised(ctx, query, hit) for hit in hits] if query.span is not None or query.kinds else hits
    best = sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))[: 2 * limit]
    return sorted((ranking.with_relevance(terms, hit) for hit in best), key=lambda hit: hit.share < 1)


async def _fused(ctx: RecallContext, query: ParsedQuery, depth: int) -> Sequence[Fused]:
    """Return the fused hits of the engines, from the cache if the same search ran recently with the same memories."""
    key = (query, depth, ctx.fusion, ctx.depth)
    version = ctx.engine_cache.version(await events.latest_id(ctx.database))
    if (cached := ctx.engine_cache.get(key, version)) is not None:
        return cached
    engine_query = await _engine_query(ctx, query, depth)
    fused = await find(ctx.database, ctx.index, engine_query, ctx.fusion, ctx.depth)
    # Results without a query vector are not cached: the embedder may be loaded when the next search runs.
    if engine_query.pending_vector is not None and await engine_query.pending_vector is not None:
        ctx.engine_cache.put(key, version, fused)
    return fused


async def _engine_query(ctx: RecallContext, query: ParsedQuery, depth: int) -> EngineQuery:
    """Return the query for the engines, with the ids that a narrow filter, or a time and kind in the query, allows."""
    which, preferred = query.which, query.outright
    allowed = tuple(await memories.ids_of(ctx.database, which)) if which.narrow else None
    preferred_ids = tuple(await memories.ids_of(ctx.database, preferred)) if preferred != which else ()
    # Archived memories are in no vector index. The embedding is started last, after every await above: a search
    # that is cancelled there leaves no task behind.
    vector = None if which.archived else ensure_future(ctx.embed(query.sought))
    return EngineQuery(
        text=query.sought,
        projects=tuple(projects_of(which.project_id)),
        pending_vector=vector,
        limit=depth,
        which=which,
        allowed_ids=allowed,
        preferred=preferred if preferred != which else None,
        preferred_ids=preferred_ids,
    )


async def _selected(ctx: RecallContext, candidates: Sequence[Hit], wanted: Selection) -> list[Hit]:
    """Return the candidates that are relevant enough, without duplicates, promoted knowledge first."""
    # Promotion is looked up only for hits that are relevant enough to come first.
    could_lead = [hit.memory for hit in candidates if hit.relevance >= wanted.first < 1]
    known = await promotion_status.promoted(ctx.database, could_lead, ctx.settings) if could_lead else set()
    distinct = await _distinct(ctx, candidates)
    return selected(distinct, replace(wanted, hits=len(candidates)), known)


async def _distinct(ctx: RecallContext, ranked: Sequence[Hit]) -> Sequence[Hit]:
    """Return the hits without those that repeat the statement of a better hit."""
    if ctx.index is None or ctx.settings.recall_alike >= 1:
        return ranked
    vectors = await ctx.index.vectors([hit.memory.id for hit in ranked])
    return without_duplicates(
        ranked,
        vectors,
        ctx.settings.recall_alike,
        lambda one, other: not same_statement(one.content, other.content, cosine=1.0, may_add=True),
    )


async def _with_summaries(
    ctx: RecallContext, hits: Sequence[Hit], wanted: Selection, limit: int, project_id: str | None
) -> Sequence[Hit]:
    """Return the hits with summaries instead of the memories that they summarise.

    Memories that contradict another memory or are superseded by one are not replaced.
    """
    summaries = [one.memory for one in hits[:limit] if one.memory.kind == SUMMARY and one.memory.archived_at is None]
    if not wanted.summed or not summaries:
        return hits
    sources = await consolidations.summarised_memories(ctx.database, [memory.id for memory in summaries])
    instead = summaries_shown_instead(hits, sources, wanted.first)
    disputed = (
        await links.conflicts_and_successions(ctx.database, list(instead), project_id) if ctx.settings.links else []
    )
    in_conflict = {end for link in disputed for end in (link.source_id, link.target_id)}
    return with_replacements(hits, {source: number for source, number in instead.items() if source not in in_conflict})
