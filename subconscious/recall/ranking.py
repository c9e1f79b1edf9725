"""Ranks the memories that a search found: engine scores, shared names, decay, corrections, use and relevance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from time import time

from subconscious import decay
from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory
from subconscious.recall import usage
from subconscious.recall.fusion import Fused
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.relevance import QueryTerms, relevance
from subconscious.recall.understanding import ParsedQuery
from subconscious.store import corrections, links, responses


async def hits_of(
    ctx: RecallContext, terms: QueryTerms, found: Sequence[tuple[Fused, Memory]], project_id: str | None
) -> list[Hit]:
    """Return a hit for each memory, with its decay, its priority, and a rank that includes the user's corrections."""
    ids, now = [memory.id for _, memory in found], time()
    gone = await superseded(ctx, [memory for _, memory in found], project_id)
    counts, weights = await corrections.counts(ctx.database, ids), await priorities(ctx, ids)
    hits = [
        Hit(
            memory,
            relevance=0.0,  # computed later, for the hits near the top only
            decay=decay_factor(ctx, memory, now, gone),
            engines=hit.engines,
            rank=_rank(ctx, terms, hit, memory),
            priority=weights.get(memory.id, 0.0),
        )
        for hit, memory in found
    ]
    return [apply_corrections(ctx, hit, counts.get(hit.memory.id)) for hit in hits]


def _rank(ctx: RecallContext, terms: QueryTerms, fused: Fused, memory: Memory) -> float:
    """Return the rank of a hit: a weighted mean of its fused score and the share of the query's names in the memory.

    Names are identifiers, paths, capitalised words and error numbers. Only the memory's tags and files are searched.
    """
    share = ctx.settings.fusion_names
    return (fused.relevance + share * terms.names_share(_tags_and_files(memory))) / (1.0 + share)


def _tags_and_files(memory: Memory) -> str:
    return " ".join((*memory.tags, *memory.files))


async def superseded(ctx: RecallContext, found: Iterable[Memory], project_id: str | None) -> set[int]:
    """Return the ids of the memories that another memory of the project supersedes."""
    ids = [memory.id for memory in found]
    return await links.superseded(ctx.database, ids, project_id) if ctx.settings.links else set()


async def priorities(ctx: RecallContext, ids: Sequence[int]) -> dict[int, float]:
    """Return the priority that each memory earned by being used in sessions; memories left out have the priority 0."""
    if not ctx.settings.feedback or not ids:
        return {}
    found = await responses.of_memories(ctx.database, ids)
    return {memory_id: usage.priority(one.used, one.repeated, one.violated) for memory_id, one in found.items()}


def decay_factor(ctx: RecallContext, memory: Memory, now: float, gone: Collection[int] = ()) -> float:
    """Return the factor, 0 to 1, that lowers the rank of old and of superseded memories (ids in ``gone``).

    Claude's own notes do not decay: they are removed with their file.
    """
    chosen = ctx.settings
    aged = decay.ranking_decay(memory, now, chosen.ranking_decay, chosen.stale_days, chosen.stale_factor)
    faded = 1.0 if memory.is_claude_note else aged
    return faded * (chosen.superseded_factor if memory.id in gone else 1.0)


def apply_corrections(ctx: RecallContext, hit: Hit, counts: Mapping[str, int] | None) -> Hit:
    """Return a hit with its confidence and (slightly) its rank adjusted; ``counts`` are the corrections by type."""
    if not counts:
        return hit
    pinned = hit.memory.pinned
    confidence = decay.effective_confidence(hit.memory.confidence, counts, pinned=pinned)
    rank = hit.rank * decay.feedback_factor(counts, ctx.settings.feedback_weight, pinned=pinned)
    return replace(hit, memory=replace(hit.memory, confidence=confidence), rank=min(1.0, rank))


def raised(ctx: RecallContext, query: ParsedQuery, hit: Hit) -> Hit:
    """Return a hit with its rank raised if its memory has the time or kind that the query names, else lowered.

    A memory of the named time does not decay, because the query asks for that age.
    """
    chosen = ctx.settings
    dates = chosen.fusion_dates if query.span is not None else 0.0
    kinds = chosen.fusion_kinds if query.kinds else 0.0
    fits_time, fits_kind = query.fits_time(hit.memory), query.fits_kind(hit.memory)
    rank = (hit.rank + dates * fits_time + kinds * fits_kind) / (1.0 + dates + kinds)
    return replace(hit, rank=rank, decay=1.0 if fits_time else hit.decay)


def with_relevance(terms: QueryTerms, hit: Hit) -> Hit:
    """Return a hit with its relevance to the query, and the share of the query's terms that its memory contains."""
    memory = hit.memory
    text = f"{memory.content} {memory.rationale} {_tags_and_files(memory)}"
    share = terms.terms_share(text)
    return replace(hit, relevance=relevance(terms, text, hit.engines, share), share=share)
