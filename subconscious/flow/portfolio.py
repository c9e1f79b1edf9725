"""Gathers and groups the memories that a session may start with; `surfacing.portfolio` chooses among them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from time import time
from typing import TYPE_CHECKING

from subconscious.flow.fitness import fit_to_start, is_finding, is_for_one_task, is_heard, unasked
from subconscious.flow.mind import Mind
from subconscious.flow.recalling import fade, heeded, recall, superseded
from subconscious.model import PRIORITY_WEIGHT, Hit, Memory
from subconscious.promote import PROMOTED
from subconscious.standings import standings
from subconscious.store import corrections, memories, responses
from subconscious.store.responses import NONE, Responses
from subconscious.summaries import MAIN_BRANCHES
from subconscious.surfacing import echo
from subconscious.surfacing.bound import binding_of
from subconscious.surfacing.marks import lean
from subconscious.surfacing.portfolio import WAY_OUT, Group, Pick, choose, is_rule
from subconscious.text.same_statement import NEAR, same_statement

if TYPE_CHECKING:
    import numpy

LOOKED_AT = 24
"""Rules and ways out that are weighed; of what fits and of what is recent, twice as many as may be given."""

OTHERS = 2
WAYS_OUT = 2
DECISIONS = 3

TOUCHES = 0.2
"""Relevance to the branch and the last requests from which a decision is about what is worked on."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a session is about to work on, as far as that is known; ``known`` are the wordings in its context."""

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
    """The memories that may be given, and what is known of them."""

    hits: Mapping[int, Hit]
    responses: Mapping[int, Responses]
    promoted: Collection[int]

    def response(self, memory: Memory) -> Responses:
        return self.responses.get(memory.id, NONE)

    def leads(self, memory: Memory) -> bool:
        return memory.pinned or memory.id in self.promoted or (is_rule(memory) and not is_for_one_task(memory))


async def chosen(mind: Mind, work: Work, due: Sequence[Hit] = ()) -> list[Pick]:
    """The memories that a session starts with, in their order. ``due`` are those whose date has come."""
    due = [hit for hit in due if _may_be_given(hit, work)]
    due_ids = {hit.memory.id for hit in due}
    weighed = await _weigh(mind, work, due_ids)
    most = mind.settings.start_memories
    groups = [Group("due", due, most, free=True), *_groups(mind, work, weighed, most)]
    vectors = await _vectors(mind, [hit.memory.id for group in groups for hit in group.hits])
    return await asyncio.to_thread(choose, groups, most, _Alike(vectors))


async def _weigh(mind: Mind, work: Work, due: Collection[int]) -> _Weighed:
    limit = 2 * mind.settings.start_memories
    found = {hit.memory.id: hit for hit in await recall(mind, unasked(work.hints), work.project_id, limit)}
    first = await memories.leading(mind.database, work.project_id, LOOKED_AT)
    recent = await memories.recent(mind.database, work.project_id, limit)
    listed = {memory.id: memory for memory in (*first, *recent) if memory.id not in found}
    gone = await _superseded(mind, [*listed.values()], [*found.values()], work.project_id)
    said = await corrections.counts(mind.database, list(listed))
    now = time()
    found |= {
        number: heeded(mind, Hit(memory, 0.0, fade(mind, memory, now, gone)), said.get(number))
        for number, memory in listed.items()
    }
    fit = [hit for number, hit in found.items() if number not in {*gone, *due} and _may_be_given(hit, work)]
    kept = {hit.memory.id: hit for hit in await fit_to_start(mind, fit, work.project_id)}
    known = await responses.of_memories(mind.database, list(kept)) if mind.settings.feedback else {}
    hits = {number: _with_priority(hit, known.get(number, NONE)) for number, hit in kept.items()}
    leading = [hit.memory for hit in hits.values() if _may_lead(hit.memory)]
    stand = await standings(mind.database, leading, mind.settings)
    return _Weighed(hits, known, {number for number, one in stand.items() if one.status == PROMOTED})


async def _superseded(mind: Mind, listed: list[Memory], found: list[Hit], project_id: str) -> set[int]:
    """Those whose place another has taken; of what was found that is known, unless marks are switched off."""
    unknown = [hit.memory for hit in found if hit.repute is None]
    gone = await superseded(mind, [*listed, *unknown], project_id)
    return gone | {hit.memory.id for hit in found if hit.repute is not None and hit.repute.superseded_by}


def _may_lead(memory: Memory) -> bool:
    """Whether it is worth looking up if a memory was promoted: what was said once, without a reason, hardly ever is."""
    return memory.recurrence > 1 or memory.kind in ("blocker", "dead_end", "lesson")


def _may_be_given(hit: Hit, work: Work) -> bool:
    memory = hit.memory
    if memory.content_hash in work.known or memory.id in work.without or binding_of(memory) is not None:
        return False
    return not (work.late and memory.session_id == work.session_id)


def _with_priority(hit: Hit, known: Responses) -> Hit:
    return replace(hit, priority=echo.priority(known.used, known.repeated, known.violated))


def _groups(mind: Mind, work: Work, weighed: _Weighed, most: int) -> list[Group]:
    """Pinned, promoted and standing rules; ways out; decisions about the branch's work; others."""

    def worth(hit: Hit) -> float:
        return _worth(mind, hit, work.branch)

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
    """Promoted first, then the most ignored and the most repeated, then the latest."""
    memory, known = hit.memory, weighed.response(hit.memory)
    return (memory.id not in weighed.promoted, -known.violated, -memory.recurrence, -memory.said_at, -memory.id)


def _touches(hit: Hit, work: Work) -> bool:
    """Whether a decision is about what the branch touches: said on it, about its files, or like the last requests."""
    memory = hit.memory
    if {PurePath(file).name for file in memory.files} & set(work.files):
        return True
    return hit.relevance >= TOUCHES or (bool(work.branch) and memory.branch == work.branch and bool(hit.engines))


def _may_fit(hit: Hit, work: Work) -> bool:
    """Whether a memory may fit a start at all: what was said or found for one task only fits on the branch of it.

    On a trunk, where tasks follow each other, it is left to the prompts and files that it is about, unless several
    sessions found it and the last requests are about it.
    """
    on_its_branch = work.branch not in MAIN_BRANCHES and hit.memory.branch == work.branch
    found_again = hit.memory.recurrence > 1 and hit.relevance >= TOUCHES
    of_a_task = is_finding(hit.memory) or is_for_one_task(hit.memory)
    return not of_a_task or on_its_branch or found_again


def _worth(mind: Mind, hit: Hit, branch: str) -> float:
    """How much a session is likely to need a memory it has not asked for: fit, trust and branch, faded by age."""
    here = 1.0 if branch and hit.memory.branch == branch else 0.0
    apart = min(1.0, lean(hit.memory, branch, mind.standing))
    used = 1.0 + PRIORITY_WEIGHT * hit.priority
    return (0.5 * hit.rank + 0.4 * hit.memory.confidence + 0.1 * here) * hit.decay * apart * used


async def _vectors(mind: Mind, ids: Iterable[int]) -> Mapping[int, numpy.ndarray]:
    return await mind.index.vectors(list(dict.fromkeys(ids))) if mind.index is not None else {}


class _Alike:
    """Whether two memories say the same; words are compared only where the vectors are near, or missing."""

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
