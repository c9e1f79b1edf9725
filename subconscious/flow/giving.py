"""What a session starts with, and how what it was given is noted."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time

from subconscious import repute, surfacing
from subconscious.claude_files.told import NOTHING
from subconscious.flow.holding import holding_hits
from subconscious.flow.mind import Mind
from subconscious.flow.recalling import fade, heeded, priorities, recall, superseded
from subconscious.model import (
    PRIORITY_WEIGHT,
    Hit,
    Memory,
    Origin,
    Surface,
)
from subconscious.search.understanding import Wanted
from subconscious.store import (
    corrections,
    memories,
    sessions,
    surfaces,
    triggers,
)
from subconscious.store.filters import Filter
from subconscious.store.triggers import Due
from subconscious.surfacing.marks import lean, marks_of

DAY = 86_400.0
GREETING = "start/"
"""What the events begin with by which a session is given what it starts with."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is known of a session that is given something: enough to guess what it may need.

    ``asked`` says in words what the engines were asked, for `why-surfaced`. ``late`` means that the session has begun
    already: what it brought itself stands in its context. ``about``, ``limits`` and ``reasons`` are for `why-surfaced`;
    ``due`` are the triggers that have brought a memory (SPEC D21a).
    """

    session_id: str
    project_id: str
    event: str
    branch: str = ""
    asked: str = ""
    hints: str = ""
    extra: tuple[str, ...] = ()
    late: bool = False
    about: str = ""
    limits: str = "{}"
    reasons: Mapping[int, str] = field(default_factory=dict)
    due: Mapping[int, Due] = field(default_factory=dict)


async def surface_start(mind: Mind, start: Start) -> surfacing.Context:
    """Choose what a session starts with, and save it in the ledger before it leaves (SPEC A25, B12, D15)."""
    start = replace(start, due=await due_now(mind, start.project_id))
    context = await compose_start(mind, start)
    await save_given(mind, start, context.hits)
    return context


async def compose_start(mind: Mind, start: Start, without: Collection[int] = ()) -> surfacing.Context:
    """Choose what a session starts with, ``without`` some. Nothing is saved: it may be rendered for one yet to come."""
    chosen = mind.settings
    known = await surfaces.ledger(mind.database, start.session_id)
    worded: dict[str, Hit] = {}
    for hit in await holding_hits(mind, await _ranked(mind, start), start.project_id):
        worded.setdefault(hit.memory.content_hash, hit)  # one wording, of two kinds perhaps, is told once
    ranked = [
        hit
        for hit in worded.values()
        if fits_a_start(hit.memory, chosen.auto_threshold)
        and hit.memory.content_hash not in known
        and hit.memory.id not in without
        and not (start.late and hit.memory.session_id == start.session_id)
    ]
    known_elsewhere = await told_elsewhere(mind, ranked)
    ranked = [hit for hit in ranked if hit.memory.id not in known_elsewhere]
    budget = surfacing.Budget(chosen.start_tokens, chosen.start_characters, chosen.start_memories)
    ranked = await repute.of_hits(mind.database, ranked, chosen, time(), start.project_id)
    return surfacing.compose(ranked, budget, start.branch, start.extra, marks_for(mind, start))


async def told_elsewhere(mind: Mind, hits: Sequence[Hit]) -> dict[int, str]:
    """The memories among hits that the client itself tells every session, each with the file that says so."""
    if mind.elsewhere is NOTHING or not hits:
        return {}
    sources = await asyncio.to_thread(
        lambda: {hit.memory.id: mind.elsewhere.source(hit.memory.content, loaded=True) for hit in hits}
    )
    return {number: source for number, source in sources.items() if source}


def fits_a_start(memory: Memory, sure: float) -> bool:
    """Whether a session may start with a memory: not with a finding that one session made and another one used.

    Two sessions must have found it, or a person stands for it. What prompts and files bring is not affected.
    """
    found = memory.origin is not Origin.USER and not memory.verified and not memory.pinned
    return not found or memory.recurrence > 1 or memory.confidence >= sure


async def due_now(mind: Mind, project_id: str) -> dict[int, Due]:
    """The memories whose date has come, and which no session was told of (SPEC D21a)."""
    if not mind.settings.surface_due:
        return {}
    now = time()
    found = await triggers.due(mind.database, project_id, now - mind.settings.due_days * DAY, now)
    return {one.memory_id: one for one in reversed(found)}


def marks_for(mind: Mind, start: Start) -> surfacing.Marks:
    """What is told beside each memory: that it is due, and how the world has moved on since (SPEC N8, N9)."""

    def marks(memory: Memory) -> tuple[str, ...]:
        due = start.due.get(memory.id)
        return (*((surfacing.due_mark(due.due_at),) if due else ()), *marks_of(memory, start.branch, mind.standing))

    return marks


async def save_given(mind: Mind, start: Start, hits: Sequence[Hit]) -> None:
    """Write the ledger and count the uses; a greeting counts as such even if there was nothing to say."""
    now = time()
    rows = [
        Surface(
            session_id=start.session_id,
            event=start.event,
            at=now,
            memory_id=hit.memory.id,
            content_hash=hit.memory.content_hash,
            position=position,
            reason=_why(hit, start),
            relevance=hit.relevance,
            decay=hit.decay,
            engines=hit.engines,
            about=start.about,
            priority=hit.priority,
            limits=start.limits,
            trigger_id=start.due[hit.memory.id].id if hit.memory.id in start.due else None,
        )
        for position, hit in enumerate(hits, start=1)
    ]
    async with mind.database.write() as tx:
        await surfaces.record(tx, start.project_id, rows)
        await memories.touch(tx, [hit.memory.id for hit in hits], now)
        if start.event.startswith(GREETING):
            await sessions.greet(tx, start.session_id, now)


async def _ranked(mind: Mind, start: Start) -> list[Hit]:
    """Pinned and lessons first, then what is due and fits the branch and the latest words, then what is recent."""
    limit = 2 * mind.settings.start_memories  # twice what is given: some are known to the session, some too long
    now = time()
    found = {hit.memory.id: hit for hit in await recall(mind, unasked(start.hints), start.project_id, limit)}
    recent = await memories.recent(mind.database, start.project_id, limit)
    first = await memories.core(mind.database, start.project_id, mind.settings.start_memories)
    gone = await superseded(mind, [*recent, *first], start.project_id)
    said = await corrections.counts(mind.database, [memory.id for memory in (*recent, *first)])
    for memory in recent:
        found.setdefault(memory.id, heeded(mind, Hit(memory, 0.0, fade(mind, memory, now, gone)), said.get(memory.id)))
    lessons = [memory for memory in first if not memory.pinned and memory.id not in gone]
    # Lessons may take half of the places, so that what fits this very session has the others.
    found = {number: hit for number, hit in found.items() if number not in start.due}
    head = await due_hits(mind, start.due) + [
        found.pop(memory.id, heeded(mind, Hit(memory, 0.0, fade(mind, memory, now, gone)), said.get(memory.id)))
        for memory in first
        if memory.id not in start.due
        and (memory.pinned or memory in lessons[: max(1, mind.settings.start_memories // 2)])
    ]
    weights = await priorities(mind, list(found))
    tail = [replace(hit, priority=weights.get(hit.memory.id, 0.0)) for hit in found.values()]
    tail.sort(key=lambda hit: (-_worth(mind, hit, start.branch), -hit.memory.id))
    return head + tail


def unasked(text: str) -> Wanted:
    """What is looked for when nobody asked: not Claude's own notes, which the client loads itself."""
    return Wanted(text, Filter(notes=False))


async def due_hits(mind: Mind, due: Mapping[int, Due]) -> list[Hit]:
    """What is due, as hits: no engine has to find it."""
    now = time()
    known = await memories.get_many(mind.database, list(due))
    return [Hit(known[number], 1.0, fade(mind, known[number], now)) for number in due if number in known]


def _worth(mind: Mind, hit: Hit, branch: str) -> float:
    """How much a session is likely to need a memory it has not asked for: fit, trust and branch, faded by age."""
    here = 1.0 if branch and hit.memory.branch == branch else 0.0
    apart = min(1.0, lean(hit.memory, branch, mind.standing))
    used = 1.0 + PRIORITY_WEIGHT * hit.priority
    return (0.5 * hit.rank + 0.4 * hit.memory.confidence + 0.1 * here) * hit.decay * apart * used


def _why(hit: Hit, start: Start) -> str:
    """The reason of a surface, for `why-surfaced`."""
    asked = start.reasons.get(hit.memory.id, start.asked)
    if hit.memory.id in start.due:
        return surfacing.due_reason(start.due[hit.memory.id].words, start.due[hit.memory.id].due_at)
    if hit.memory.pinned:
        return "pinned"
    if hit.memory.kind == "lesson":
        return "a lesson of this project"
    if hit.engines:
        ranks = ", ".join(f"{engine.engine} rank {engine.rank}" for engine in hit.engines)
        return f"{asked}: {ranks}"
    return "recent in this project"
