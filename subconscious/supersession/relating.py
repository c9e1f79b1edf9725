"""Finds stored statements that a user's new statement repeats or replaces, with ``supersession/pair_model.py``.

The new statement is compared with the few most similar statements that apply to its project or to all projects.
Without a local embedder, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.domain.model import Candidate, Memory, Origin, Relation, Scope
from subconscious.recall.recall_context import RecallContext
from subconscious.store import full_text, memories
from subconscious.store.review_queue import Waiting
from subconscious.supersession import succession
from subconscious.text.branch_scope import have_same_scope
from subconscious.text.occasion import bare
from subconscious.text.sentences import sentences

NEAREST = 4
"""The number of most similar memories, and of most similar waiting captures, that a statement is compared with."""

LOOKED_AT = 12
"""The number of most similar memories, and of latest waiting captures, from which those to compare are chosen."""

FAR = 0.25
"""The cosine below which two statements are not compared."""

OF_ONE_SUBJECT = 0.5
"""The least cosine of two statements at which the user is asked whether one replaces the other."""

REPLACING = (Relation.REPLACES, Relation.ENDS)

LONGEST_MESSAGE = 300
"""The most characters of a message that is compared as a whole: the pair model reads no more."""


@dataclass(frozen=True, slots=True)
class Related:
    """The memory and the capture that a statement repeats, and those that it replaces; at most one of each.

    ``in_doubt`` is a memory that the statement may replace, which the user is asked about. ``overtaken_by`` is a memory
    that replaces the statement because it was said later; this happens if the statement is from an imported session.
    """

    memory: tuple[int, float] | None = None
    replaced: int | None = None
    capture: int | None = None
    replaced_capture: int | None = None
    in_doubt: int | None = None
    overtaken_by: int | None = None


async def related(
    ctx: RecallContext, candidate: Candidate, project_id: str, queue: Sequence[Waiting], message: str = ""
) -> Related:
    """Return what a user's statement repeats or replaces among the most similar memories and captures.

    ``message`` is the whole message that contains the statement.
    """
    if candidate.origin is not Origin.USER:
        return Related()
    said = candidate.content  # a rule for one branch neither repeats nor replaces one for all
    near = [one for one in await _near(ctx, candidate, project_id) if have_same_scope(said, one[0].content)]
    waits = [one for one in await _near_waiting(ctx, candidate, queue) if have_same_scope(said, one.content)]
    known = await ctx.relate(bare(candidate.content), [bare(memory.content) for memory, _ in near])
    known = await _in_message(ctx, candidate, message, [memory for memory, _ in near], known)
    queued = await ctx.relate(bare(candidate.content), [bare(capture.content) for capture in waits])
    same = [
        (memory.id, cosine)
        for (memory, cosine), found in zip(near, known, strict=False)
        if found is Relation.SAME and memory.scope is candidate.scope
    ]
    before = [
        (memory.id, cosine, found)
        for (memory, cosine), found in zip(near, known, strict=False)
        if memory.said_at <= candidate.time
    ]
    replaced = [memory for memory, _, found in before if found in REPLACING]
    in_doubt = [
        memory for memory, cosine, found in before if found is Relation.MAY_REPLACE and cosine >= OF_ONE_SUBJECT
    ]
    waited = [(one, found) for one, found in zip(waits, queued, strict=False) if one.said_at <= candidate.time]
    return Related(
        next(iter(same), None),
        None if same or not ctx.settings.links else next(iter(replaced), None),
        next((one.id for one, found in zip(waits, queued, strict=False) if found is Relation.SAME), None),
        None if same else next((one.id for one, found in waited if found in REPLACING), None),
        None if same or replaced or not ctx.settings.links else next(iter(in_doubt), None),
        None if same else await _overtaken_by(ctx, candidate, near),
    )


async def _overtaken_by(ctx: RecallContext, candidate: Candidate, near: Sequence[tuple[Memory, float]]) -> int | None:
    """Return the id of a memory that was said after an imported statement and replaces it; None if there is none.

    Only certain replacements count: the user is not asked whether a memory replaces an imported statement.
    """
    for memory, _ in near if ctx.settings.links else ():
        if memory.said_at > candidate.time:
            (found,) = await ctx.relate(bare(memory.content), [bare(candidate.content)]) or [Relation.NEITHER]
            if found in REPLACING:
                return memory.id
    return None


async def _in_message(
    ctx: RecallContext, candidate: Candidate, message: str, near: Sequence[Memory], known: Sequence[Relation]
) -> list[Relation]:
    """Return the relations, with doubtful replacements made certain if the whole message confirms them.

    The sentence next to a statement often says what has changed ("we sold the old servers. uploads go to the cloud").
    """
    doubtful = [place for place, found in enumerate(known) if found is Relation.MAY_REPLACE]
    settled = list(known)
    if not doubtful or not _adds_a_sentence(message, candidate):
        return settled
    whole = await ctx.relate(message, [bare(near[place].content) for place in doubtful])
    for place, found in zip(doubtful, whole, strict=False):
        settled[place] = found if found in REPLACING else settled[place]
    return settled


def _adds_a_sentence(message: str, candidate: Candidate) -> bool:
    """Whether a message is short and has more sentences than the statement that was captured from it."""
    return len(message) <= LONGEST_MESSAGE and _count(message) > _count(candidate.evidence.quote)


def _count(text: str) -> int:
    return sum(1 for _ in sentences(text))


async def _near(ctx: RecallContext, candidate: Candidate, project_id: str) -> list[tuple[Memory, float]]:
    """Return the most similar valid memories that the user stated, with their cosines."""
    places = (project_id, full_text.USER_WIDE) if candidate.scope is Scope.PROJECT else (full_text.USER_WIDE,)
    vector = await ctx.embed_now(bare(candidate.content)) if ctx.index is not None else None
    if vector is None or ctx.index is None:
        return []
    near = {one: cosine for one, cosine in await ctx.index.search(places, vector, LOOKED_AT) if cosine >= FAR}
    known = await memories.get_many(ctx.database, list(near))
    typed = [one for one in known.values() if one.origin is Origin.USER and one.kind != "meta"]
    held = await succession.still_in_force(ctx.database, typed, project_id)
    ranked = sorted(held, key=lambda memory: -near[memory.id])
    return [(memory, near[memory.id]) for memory in ranked[:NEAREST]]


async def _near_waiting(ctx: RecallContext, candidate: Candidate, queue: Sequence[Waiting]) -> list[Waiting]:
    """Return the most similar of the latest waiting captures."""
    latest = [one for one in queue if one.scope == candidate.scope][:LOOKED_AT]
    mine = await ctx.embed_now(bare(candidate.content)) if latest else None
    if mine is None:
        return []
    weighed = []
    for place, one in enumerate(latest):
        vector = await ctx.embed_now(bare(one.content))
        weighed += [(-float(mine @ vector), place)] if vector is not None else []
    return [latest[place] for cosine, place in sorted(weighed)[:NEAREST] if -cosine >= FAR]
