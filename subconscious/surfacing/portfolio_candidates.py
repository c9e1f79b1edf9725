"""Collects and groups the memories that a session may start with; `surfacing.portfolio` chooses among them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from time import time
from typing import TYPE_CHECKING

from subconscious.domain.hits import PRIORITY_WEIGHT, Hit
from subconscious.domain.model import Memory
from subconscious.domain.promotion import PROMOTED
from subconscious.recall import usage
from subconscious.recall.marks import branch_factor
from subconscious.recall.pipeline import recall
from subconscious.recall.promotion_status import standings
from subconscious.recall.ranking import apply_corrections, decay_factor, superseded
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions import MAIN_BRANCHES
from subconscious.store import corrections, memories, responses
from subconscious.store.responses import NONE, Responses
from subconscious.surfacing import reasons
from subconscious.surfacing.bound import binding_of
from subconscious.surfacing.eligibility import (
    fit_to_start,
    is_fact,
    is_finding,
    is_for_its_branch,
    is_for_one_task,
    is_heard,
    is_of_another_branch,
    is_standing,
    step_order,
    unasked,
)
from subconscious.surfacing.portfolio import WAY_OUT, Group, Pick, choose, is_rule
from subconscious.text.same_statement import NEAR, same_statement

if TYPE_CHECKING:
    import numpy

LOOKED_AT = 60
"""The number of rules and ways out that are examined.

In addition, twice as many relevant and twice as many recent memories are examined as a start may contain.
"""

OTHERS = 2
WAYS_OUT = 2
DECISIONS = 3

NEWS = 2 * 86_400.0
"""For this many seconds, a fact that the user stated may be shown at any start; later, only if it fits the work."""

TOUCHES = 0.2
"""The least relevance, to the branch and the last requests, of a decision about the current work."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a session is about to work on. ``known`` are the hashes of the memories that are already in its context."""

    session_id: str
    project_id: str
    branch: str = ""
    hints: str = ""
    files: Collection[str] = ()
    late: bool = False
    known: Collection[str] = ()
    without: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The memories that may be shown, with the responses to them and the ids of the promoted ones."""

    hits: Mapping[int, Hit]
    responses: Mapping[int, Responses]
    promoted: Collection[int]

    def response(self, memory: Memory) -> Responses:
        return self.responses.get(memory.id, NONE)

    def leads(self, memory: Memory) -> bool:
        rule = is_rule(memory) and is_standing(memory) and not is_for_one_task(memory)
        return memory.pinned or memory.id in self.promoted or rule


async def chosen(ctx: RecallContext, work: Work, due: Sequence[Hit] = ()) -> list[Pick]:
    """Return the memories that a session starts with, in order. ``due`` are memories with a date that has come."""
    state = ctx.worktree_state
    due = [hit for hit in due if _may_be_given(hit, work) and not is_of_another_branch(hit.memory, work.branch, state)]
    due_ids = {hit.memory.id for hit in due}
    weighed = await _weigh(ctx, work, due_ids)
    most = ctx.settings.start_memories
    groups = [Group("due", due, most, free=True), *_groups(ctx, work, weighed, most)]
    vectors = await _vectors(ctx, [hit.memory.id for group in groups for hit in group.hits])
    picks = await asyncio.to_thread(choose, groups, most, _Alike(vectors))
    known = reasons.Known(work.hints, work.branch, work.files)
    return [replace(pick, reason=reasons.at_start(pick.hit, pick.group, known)) for pick in picks]


async def _weigh(ctx: RecallContext, work: Work, due: Collection[int]) -> _Weighed:
    limit = 2 * ctx.settings.start_memories
    found = {hit.memory.id: hit for hit in await recall(ctx, unasked(work.hints), work.project_id, limit)}
    first = await memories.start_candidates(ctx.database, work.project_id, LOOKED_AT)
    recent = await memories.recent(ctx.database, work.project_id, limit)
    listed = {memory.id: memory for memory in (*first, *recent) if memory.id not in found}
    gone = await _superseded(ctx, [*listed.values()], [*found.values()], work.project_id)
    said = await corrections.counts(ctx.database, list(listed))
    now = time()
    found |= {
        number: apply_corrections(ctx, Hit(memory, 0.0, decay_factor(ctx, memory, now, gone)), said.get(number))
        for number, memory in listed.items()
    }
    fit = [hit for number, hit in found.items() if number not in {*gone, *due} and _may_be_given(hit, work)]
    fit = [hit for hit in fit if not _is_for_other_branch(ctx, hit.memory, work.branch)]
    kept = {hit.memory.id: hit for hit in await fit_to_start(ctx, fit, work.project_id)}
    known = await responses.of_memories(ctx.database, list(kept)) if ctx.settings.feedback else {}
    hits = {number: _with_priority(hit, known.get(number, NONE)) for number, hit in kept.items()}
    leading = [hit.memory for hit in hits.values() if _may_lead(hit.memory)]
    stand = await standings(ctx.database, leading, ctx.settings)
    return _Weighed(hits, known, {number for number, one in stand.items() if one.status == PROMOTED})


async def _superseded(ctx: RecallContext, listed: list[Memory], found: list[Hit], project_id: str) -> set[int]:
    """Return the ids of superseded memories. Hits contain this information, unless the setting `trust_marks` is off."""
    unknown = [hit.memory for hit in found if hit.repute is None]
    gone = await superseded(ctx, [*listed, *unknown], project_id)
    return gone | {hit.memory.id for hit in found if hit.repute is not None and hit.repute.superseded_by}


def _may_lead(memory: Memory) -> bool:
    """Whether a memory may have been promoted, so that its promotion status has to be looked up."""
    return memory.recurrence > 1 or memory.kind in ("blocker", "dead_end", "lesson")


def _may_be_given(hit: Hit, work: Work) -> bool:
    memory = hit.memory
    if memory.content_hash in work.known or memory.id in work.without or binding_of(memory) is not None:
        return False
    return not (work.late and memory.session_id == work.session_id)


def _is_for_other_branch(ctx: RecallContext, memory: Memory, branch: str) -> bool:
    """Whether a memory is only for another branch, or for work on a branch that is not merged into ``branch``."""
    if is_of_another_branch(memory, branch, ctx.worktree_state):
        return True
    if (memory.id, branch) in ctx.worktree_state.renamed:
        return False
    return (memory.id, branch) in ctx.worktree_state.apart and is_for_its_branch(memory)


def _with_priority(hit: Hit, known: Responses) -> Hit:
    return replace(hit, priority=usage.priority(known.used, known.repeated, known.violated))


def _groups(ctx: RecallContext, work: Work, weighed: _Weighed, most: int) -> list[Group]:
    """Return the groups: pinned memories and rules, ways out, decisions about the work of the branch, others."""

    def worth(hit: Hit) -> float:
        return _worth(ctx, hit, work.branch)

    heard = [hit for hit in weighed.hits.values() if is_heard(hit.memory, weighed.response(hit.memory))]
    heard.sort(key=lambda hit: (-worth(hit), -hit.memory.said_at, -hit.memory.id))
    rules = sorted((hit for hit in heard if weighed.leads(hit.memory)), key=lambda hit: _rule_order(hit, weighed))
    rest = [hit for hit in heard if not weighed.leads(hit.memory)]
    ways = sorted((h for h in rest if h.memory.extractor == WAY_OUT), key=lambda hit: -hit.memory.recurrence)
    rest = [hit for hit in rest if hit.memory.extractor != WAY_OUT and _may_fit(hit, work)]
    decisions = [hit for hit in rest if hit.memory.kind == "decision" and _touches(hit, work)]
    return [
        Group("pinned", [hit for hit in rules if hit.memory.pinned], most, free=True),
        Group("rule", [hit for hit in rules if not hit.memory.pinned], max(1, most // 2)),
        Group("way out", ways, WAYS_OUT),
        Group("decision", decisions, DECISIONS),
        Group("other", rest, OTHERS),
    ]


def _rule_order(hit: Hit, weighed: _Weighed) -> tuple[object, ...]:
    """Return the sort key of a rule: promoted rules first, then the most violated and the most repeated ones.

    Of the others, those about a step that most sessions take come first, then the latest.
    """
    memory, known = hit.memory, weighed.response(hit.memory)
    strength = memory.id not in weighed.promoted, -known.violated, -memory.recurrence
    return (*strength, step_order(memory), -memory.said_at, -memory.id)


def _touches(hit: Hit, work: Work) -> bool:
    """Whether a decision is about the work of the branch.

    It is about a file of the last session, similar to the last requests, or made on the branch and found by the search.
    """
    memory = hit.memory
    if {PurePath(file).name for file in memory.files} & set(work.files):
        return True
    return hit.relevance >= TOUCHES or (bool(work.branch) and memory.branch == work.branch and bool(hit.engines))


def _may_fit(hit: Hit, work: Work) -> bool:
    """Whether a memory may be shown at a start; if it is for one task, it may be shown only on the branch of that task.

    On a main branch, where the next task is a different one, such a memory waits for a prompt or file that it is about,
    unless several sessions found it and it is relevant to the last requests. A fact that a user stated may be shown for
    two days; later, only on its branch or if it is relevant to the last requests.
    """
    on_its_branch = work.branch not in MAIN_BRANCHES and hit.memory.branch == work.branch
    if is_fact(hit.memory) and time() - hit.memory.said_at > NEWS:
        return on_its_branch or hit.relevance >= TOUCHES
    found_again = hit.memory.recurrence > 1 and hit.relevance >= TOUCHES
    of_a_task = is_finding(hit.memory) or is_for_one_task(hit.memory)
    return not of_a_task or on_its_branch or found_again


def _worth(ctx: RecallContext, hit: Hit, branch: str) -> float:
    """Return a score for how much a session needs a memory: from relevance, confidence, branch and age."""
    here = 1.0 if branch and hit.memory.branch == branch else 0.0
    apart = min(1.0, branch_factor(hit.memory, branch, ctx.worktree_state))
    used = 1.0 + PRIORITY_WEIGHT * hit.priority
    return (0.5 * hit.rank + 0.4 * hit.memory.confidence + 0.1 * here) * hit.decay * apart * used


async def _vectors(ctx: RecallContext, ids: Iterable[int]) -> Mapping[int, numpy.ndarray]:
    return await ctx.index.vectors(list(dict.fromkeys(ids))) if ctx.index is not None else {}


class _Alike:
    """Decides whether two memories say the same. Words are compared only if the vectors are similar or missing."""

    def __init__(self, vectors: Mapping[int, numpy.ndarray]) -> None:
        self._vectors = vectors

    def __call__(self, one: Memory, other: Memory) -> bool:
        if one.extractor == other.extractor == WAY_OUT:
            return one.content == other.content
        mine, its = self._vectors.get(one.id), self._vectors.get(other.id)
        cosine = float(mine @ its) if mine is not None and its is not None else 0.0
        if cosine and cosine < NEAR:
            return False
        return same_statement(one.content, other.content, cosine, may_add=cosine >= NEAR)
