"""What a session starts with, and how what it was given is noted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from time import time
from types import MappingProxyType

from subconscious import repute, surfacing
from subconscious.flow import portfolio
from subconscious.flow.handover import Left, Place, fits_a_start, goes_on, left_behind, lines_of, room_for
from subconscious.flow.mind import Mind
from subconscious.flow.recalling import fade
from subconscious.model import Hit, Memory, Surface
from subconscious.quoting import quote
from subconscious.store import handovers, memories, sessions, surfaces, triggers
from subconscious.store.responses import ASKED_FOR
from subconscious.store.triggers import Due
from subconscious.surfacing import CHARACTERS_A_TOKEN
from subconscious.surfacing.marks import marks_of

DAY = 86_400.0
GREETING = "start/"
"""What the events begin with by which a session is given what it starts with."""

LONGEST_AT_START = 400
"""Characters of one memory that are told at a start."""

REASONS = MappingProxyType(
    {
        "pinned": "pinned",
        "rule": "a standing rule of the user, or project knowledge",
        "way out": "a way out of a failure that recurs in this project",
    }
)
"""Why the memories of a group are given; of the others the engines say it."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is known of a session that is given something: enough to guess what it may need.

    ``asked`` says in words what the engines were asked, for `why-surfaced`. ``late`` means that the session has begun
    already: what it brought itself stands in its context. ``about``, ``limits`` and ``reasons`` are for `why-surfaced`;
    ``due`` are the triggers that have brought a memory. ``lasting`` are lines of ours, ``extra`` those that
    a hand-over makes superfluous. ``folder`` is the checkout; what ended before ``since`` is no news.
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
    folder: str = ""
    since: float = 0.0
    lasting: tuple[str, ...] = ()


async def surface_start(mind: Mind, start: Start) -> surfacing.Context:
    """Choose what a session starts with, and save it in the ledger before it leaves."""
    start = replace(start, due=await due_now(mind, start.project_id))
    context = await compose_start(mind, start)
    await save_given(mind, start, context)
    return context


async def compose_start(mind: Mind, start: Start, without: Collection[int] = ()) -> surfacing.Context:
    """Choose what a session starts with, ``without`` some. Nothing is saved: it may be rendered for one yet to come."""
    chosen = mind.settings
    left = await left_behind(mind, _place(start))
    picks = await portfolio.chosen(mind, await _work(mind, start, left, without), await due_hits(mind, start.due))
    hits = await repute.of_hits(mind.database, [pick.hit for pick in picks], chosen, time(), start.project_id)
    most = CHARACTERS_A_TOKEN * chosen.handover_tokens
    told = ""
    beside = [hit.memory for hit in hits]
    if left is not None and left.given and fits_a_start(left, start.branch, beside):
        brief_one = not goes_on(left, start.branch)
        told = lines_of(left, beside, room_for(left, start.branch, most), brief=brief_one)
    extra = start.lasting if told else (*start.lasting, *start.extra)
    budget = surfacing.Budget(chosen.start_tokens, chosen.start_characters, chosen.start_memories)
    context = surfacing.compose(hits, budget, start.branch, extra, marks_for(mind, start), tell=brief, closing=told)
    groups = {pick.hit.memory.id: pick.group for pick in picks}
    return replace(
        context,
        groups=tuple(groups[hit.memory.id] for hit in context.hits),
        handed=(surfacing.Handed(left.session),) if left is not None and told and told in context.text else (),
    )


def _place(start: Start) -> Place:
    return Place(start.session_id, start.project_id, start.branch, start.folder, start.since)


async def _work(mind: Mind, start: Start, left: Left | None, without: Collection[int]) -> portfolio.Work:
    return portfolio.Work(
        start.session_id,
        start.project_id,
        branch=start.branch,
        hints=start.hints,
        files=left.handover.files if left is not None else (),
        late=start.late,
        known=await surfaces.ledger(mind.database, start.session_id),
        without=without,
    )


def brief(memory: Memory) -> str:
    """What is told of a memory at a start, where several share little room."""
    return quote(memory.content, LONGEST_AT_START)


async def due_now(mind: Mind, project_id: str) -> dict[int, Due]:
    """The memories whose date has come, and which no session was told of."""
    if not mind.settings.surface_due:
        return {}
    now = time()
    found = await triggers.due(mind.database, project_id, now - mind.settings.due_days * DAY, now)
    return {one.memory_id: one for one in reversed(found)}


def marks_for(mind: Mind, start: Start) -> surfacing.Marks:
    """What is told beside each memory: that it is due, and how the world has moved on since."""

    def marks(memory: Memory) -> tuple[str, ...]:
        due = start.due.get(memory.id)
        return (*((surfacing.due_mark(due.due_at),) if due else ()), *marks_of(memory, start.branch, mind.standing))

    return marks


async def save_given(mind: Mind, start: Start, context: surfacing.Context) -> None:
    """Write the ledger; a greeting counts as such even if there was nothing to say.

    To be given is no use: only what somebody asked for is one right away, all else when an answer draws on it.
    """
    now, groups = time(), context.groups or ("",) * len(context.hits)
    rows = [
        Surface(
            session_id=start.session_id,
            event=start.event,
            at=now,
            memory_id=hit.memory.id,
            content_hash=hit.memory.content_hash,
            position=position,
            reason=_why(hit, start, group),
            relevance=hit.relevance,
            decay=hit.decay,
            engines=hit.engines,
            about=start.about,
            priority=hit.priority,
            limits=start.limits,
            trigger_id=start.due[hit.memory.id].id if hit.memory.id in start.due else None,
            characters=size,
        )
        for position, (hit, group, size) in enumerate(zip(context.hits, groups, context.sizes, strict=True), start=1)
    ]
    async with mind.database.write() as tx:
        await surfaces.record(tx, start.project_id, rows)
        if start.event in ASKED_FOR:
            await memories.touch(tx, [hit.memory.id for hit in context.hits], now)
        for one in context.handed:
            given = handovers.Given(start.session_id, one.session.id, one.event or start.event, now)
            await handovers.record(tx, given)
        if start.event.startswith(GREETING):
            await sessions.greet(tx, start.session_id, now)


async def due_hits(mind: Mind, due: Mapping[int, Due]) -> list[Hit]:
    """What is due, as hits: no engine has to find it."""
    now = time()
    known = await memories.get_many(mind.database, list(due))
    return [Hit(known[number], 1.0, fade(mind, known[number], now)) for number in due if number in known]


def _why(hit: Hit, start: Start, group: str) -> str:
    """The reason of a surface, for `why-surfaced`."""
    asked = start.reasons.get(hit.memory.id, start.asked)
    if hit.memory.id in start.due:
        return surfacing.due_reason(start.due[hit.memory.id].words, start.due[hit.memory.id].due_at)
    if group in REASONS:
        return REASONS[group]
    if hit.engines:
        ranks = ", ".join(f"{engine.engine} rank {engine.rank}" for engine in hit.engines)
        return f"{asked}: {ranks}"
    return "recent in this project"
