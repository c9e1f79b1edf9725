"""A question becomes a ranking."""

from __future__ import annotations

from asyncio import ensure_future
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from time import time

from subconscious import decay, repute, standings
from subconscious.flow.mind import Mind
from subconscious.model import (
    Hit,
    Memory,
)
from subconscious.search.context import lift
from subconscious.search.engines import Query, find, projects_of
from subconscious.search.fusion import Fused
from subconscious.search.relevance import Asked, relevance
from subconscious.search.selection import (
    EVERYTHING,
    SYSTEM,
    Selection,
    distinct,
    in_place,
    selected,
    stand_ins,
    successors_first,
)
from subconscious.search.understanding import Wanted
from subconscious.store import (
    consolidations,
    corrections,
    events,
    links,
    memories,
    responses,
)
from subconscious.store.filters import Filter
from subconscious.surfacing import echo
from subconscious.text.same_statement import same_statement

LOOKED_AT = 50
"""Hits of one recall that are read from the store."""


async def recall(
    mind: Mind, asked: str | Wanted, project_id: str | None, limit: int, wanted: Selection = EVERYTHING
) -> list[Hit]:
    """Find memories by words, by meaning, by links and by what stands around them, best first; decay only orders.

    A text is looked for as it stands; what somebody searches for is understood first (see `search.understanding`).
    """
    meant = asked if isinstance(asked, Wanted) else Wanted(asked)
    meant = replace(meant, which=replace(meant.which, project_id=project_id))
    if meant.wordless:
        best: Sequence[Hit] = await _listed(mind, meant.outright, limit)
    else:
        pool = await _pool(mind, meant, project_id, limit)
        known, most = await _knowledge(mind, pool, wanted), min(limit, wanted.hits)
        ranked = selected(await _distinct(mind, pool), replace(wanted, hits=len(pool)), known)
        best = (await _once(mind, ranked, wanted, most, project_id))[:most]
    return successors_first(await repute.of_hits(mind.database, best, mind.settings, time(), project_id))


async def _once(
    mind: Mind, hits: Sequence[Hit], wanted: Selection, limit: int, project_id: str | None
) -> Sequence[Hit]:
    """Give a summing up that is shown in place of what it sums up; but never of what is in conflict."""
    made = [one.memory for one in hits[:limit] if one.memory.kind == SYSTEM and one.memory.archived_at is None]
    if not wanted.summed or not made:
        return hits
    sums = await consolidations.summed_up(mind.database, [memory.id for memory in made])
    instead = stand_ins(hits, sums, wanted.first)
    disputed = await links.bearing(mind.database, list(instead), project_id) if mind.settings.links else []
    ends = {end for link in disputed for end in (link.source_id, link.target_id)}
    return in_place(hits, {source: number for source, number in instead.items() if source not in ends})


async def _knowledge(mind: Mind, pool: Sequence[Hit], wanted: Selection) -> set[int]:
    """Those of the hits that could lead and are project knowledge; nobody is asked where nothing leads."""
    could = [hit.memory for hit in pool if hit.relevance >= wanted.first < 1]
    return await standings.promoted(mind.database, could, mind.settings) if could else set()


async def _pool(mind: Mind, meant: Wanted, project_id: str | None, limit: int) -> list[Hit]:
    """The best hits, twice as many as are asked for: some of them will say the same, or not be sure enough."""
    depth = max(mind.depth.hits, limit)
    fused = await _fused(mind, meant, depth)
    sessions_found = await memories.in_sessions(mind.database, [hit.id for hit in fused], project_id)
    most = 2 * depth if meant.outright != meant.which else depth if meant.which.narrow else 0
    lifted = lift(fused, sessions_found, mind.around, max(LOOKED_AT, most, 2 * limit))
    found = await memories.get_many(mind.database, [hit.id for hit in lifted], meant.which)
    compared = Asked.of(meant.text)
    hits = await _hits(mind, compared, [(hit, found[hit.id]) for hit in lifted if hit.id in found], project_id)
    favoured = [_favoured(mind, meant, hit) for hit in hits] if meant.span is not None or meant.kinds else hits
    ranked = sorted(favoured, key=lambda hit: (-hit.score, hit.memory.id))
    return [weighed(compared, hit) for hit in ranked[: 2 * limit]]


async def _hits(mind: Mind, asked: Asked, found: Sequence[tuple[Fused, Memory]], project_id: str | None) -> list[Hit]:
    """What was found, in its places, with what became of it and what was said of it since."""
    ids, now = [memory.id for _, memory in found], time()
    gone = await superseded(mind, [memory for _, memory in found], project_id)
    said, weights = await corrections.counts(mind.database, ids), await priorities(mind, ids)
    hits = [
        Hit(
            memory,
            relevance=0.0,  # how relevant it is by itself is told of those that are near the top alone
            decay=fade(mind, memory, now, gone),
            engines=hit.engines,
            rank=_rank(mind, asked, hit, memory),
            priority=weights.get(memory.id, 0.0),
        )
        for hit, memory in found
    ]
    return [heeded(mind, hit, said.get(hit.memory.id)) for hit in hits]


async def _fused(mind: Mind, meant: Wanted, depth: int) -> Sequence[Fused]:
    """What the engines answer together, or answered a moment ago."""
    question = (meant, depth, mind.fusion, mind.depth)
    moment = mind.found.moment(await events.newest(mind.database))
    if (known := mind.found.get(question, moment)) is not None:
        return known
    query = await _query(mind, meant, depth)
    fused = await find(mind.database, mind.index, query, mind.fusion, mind.depth)
    if query.coming is not None and await query.coming is not None:  # else the embedder may be at hand the next time
        mind.found.put(question, moment, fused)
    return fused


async def _query(mind: Mind, meant: Wanted, depth: int) -> Query:
    """What the engines are asked; where few memories are meant, or rather meant, they are told which."""
    which, rather = meant.which, meant.outright
    among = tuple(await memories.ids_of(mind.database, which)) if which.narrow else None
    best = tuple(await memories.ids_of(mind.database, rather)) if rather != which else ()
    # Archived memories stand in no index of vectors. Begun last: who leaves in between leaves nothing behind.
    coming = None if which.archived else ensure_future(mind.embed(meant.sought))
    return Query(
        text=meant.sought,
        projects=tuple(projects_of(which.project_id)),
        coming=coming,
        limit=depth,
        which=which,
        among=among,
        rather=rather if rather != which else None,
        best=best,
    )


async def priorities(mind: Mind, ids: Sequence[int]) -> dict[int, float]:
    """What sessions made of memories; 0 for those that are not named."""
    if not mind.settings.feedback or not ids:
        return {}
    found = await responses.of_memories(mind.database, ids)
    return {memory_id: echo.priority(one.used, one.repeated, one.violated) for memory_id, one in found.items()}


def heeded(mind: Mind, hit: Hit, said: Mapping[str, int] | None) -> Hit:
    """A hit as what people said of its memory leaves it: its confidence and, by a little, its rank."""
    if not said:
        return hit
    pinned = hit.memory.pinned
    left = decay.effective(hit.memory.confidence, said, pinned=pinned)
    moved = hit.rank * decay.standing(said, mind.settings.feedback_weight, pinned=pinned)
    return replace(hit, memory=replace(hit.memory, confidence=left), rank=min(1.0, moved))


async def _listed(mind: Mind, which: Filter, limit: int) -> list[Hit]:
    """What a query without words means: all of that time and sort, the latest first."""
    found = await memories.latest(mind.database, which, limit)
    return [Hit(memory, 1.0, 1.0, rank=1.0) for memory in found]


def _favoured(mind: Mind, wanted: Wanted, hit: Hit) -> Hit:
    """Raise what is of the time and the kind that were spoken of. Age does not count against a time asked for."""
    chosen = mind.settings
    dates = chosen.fusion_dates if wanted.span is not None else 0.0
    kinds = chosen.fusion_kinds if wanted.kinds else 0.0
    timely, sorted_ = wanted.fits_time(hit.memory), wanted.fits_kind(hit.memory)
    rank = (hit.rank + dates * timely + kinds * sorted_) / (1.0 + dates + kinds)
    return replace(hit, rank=rank, decay=1.0 if timely else hit.decay)


async def _distinct(mind: Mind, ranked: Sequence[Hit]) -> Sequence[Hit]:
    """Drop what says again what a better hit says."""
    if mind.index is None or mind.settings.recall_alike >= 1:
        return ranked
    vectors = await mind.index.vectors([hit.memory.id for hit in ranked])
    return distinct(ranked, vectors, mind.settings.recall_alike, _apart)


def _rank(mind: Mind, asked: Asked, fused: Fused, memory: Memory) -> float:
    """The place of a hit by what the engines say and by the names that the question shares with it."""
    share = mind.settings.fusion_names
    return (fused.relevance + share * asked.met(_about(memory))) / (1.0 + share)


def _apart(one: Memory, other: Memory) -> bool:
    """Whether two near memories are both shown. Of two that say the same one is, though the other adds a little."""
    return not same_statement(one.content, other.content, cosine=1.0, may_add=True)


def weighed(asked: Asked, hit: Hit) -> Hit:
    """Return a hit with its relevance to what was asked."""
    memory = hit.memory
    told = f"{memory.content} {memory.rationale} {_about(memory)}"
    return replace(hit, relevance=relevance(asked, told, hit.engines))


def _about(memory: Memory) -> str:
    """What a memory is about, in names."""
    return " ".join((*memory.tags, *memory.files))


def fade(mind: Mind, memory: Memory, now: float, gone: Collection[int] = ()) -> float:
    """The ranking's decay of a memory under the current settings; ``gone`` are those whose place another has taken.

    A note of Claude's holds as long as its file is there.
    """
    chosen = mind.settings
    aged = decay.ranking_decay(memory, now, chosen.ranking_decay, chosen.stale_days, chosen.stale_factor)
    faded = 1.0 if memory.is_claude_note else aged
    return faded * (chosen.superseded_factor if memory.id in gone else 1.0)


async def superseded(mind: Mind, found: Iterable[Memory], project_id: str | None) -> set[int]:
    """Those of these memories whose place another has taken in a project."""
    ids = [memory.id for memory in found]
    return await links.superseded(mind.database, ids, project_id) if mind.settings.links else set()
