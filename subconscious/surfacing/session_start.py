"""Composes the context that is added at a session's start, and records which memories sessions were given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from time import time

from subconscious.domain.hits import Hit, Surface
from subconscious.domain.model import Memory
from subconscious.framing import rules
from subconscious.framing.rules import CHARACTERS_A_TOKEN
from subconscious.recall import trust_notes
from subconscious.recall.marks import marks_of
from subconscious.recall.ranking import decay_factor
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions.previous_session import (
    Left,
    StartingPoint,
    for_a_start,
    left_behind,
    lines_of,
)
from subconscious.store import handovers, memories, sessions, surfaces, triggers
from subconscious.store.responses import ASKED_FOR
from subconscious.store.triggers import Due
from subconscious.surfacing import portfolio_candidates
from subconscious.surfacing.bound_candidates import bindable
from subconscious.text.quoting import quote

DAY = 86_400.0
GREETING = "start/"
"""The prefix of the names of all events at a session's start."""

LONGEST_AT_START = 400
"""The maximum number of characters of one memory in the context at a session's start."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is known about a session for which memories are chosen.

    ``asked`` describes the search. It is recorded for `why-surfaced` together with ``about``, ``limits`` (JSON) and, by
    memory id, ``reasons`` and those ``own_limits`` that differ from ``limits``. ``late`` means that the session has
    already begun, so that statements made in it are in its context. ``due`` has the due dates by memory id. ``lasting``
    are lines of text that are always added, ``extra`` are lines that are left out if there is a hand-over. ``folder``
    is the checkout. Work of earlier sessions is new to this session only if they ended after ``since`` (in seconds
    since the epoch).
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
    own_limits: Mapping[int, str] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    due: Mapping[int, Due] = field(default_factory=dict)
    folder: str = ""
    since: float = 0.0
    lasting: tuple[str, ...] = ()


async def surface_start(ctx: RecallContext, start: Start) -> rules.Context:
    """Choose the context for a session's start, and record it before it is sent."""
    start = replace(start, due=await due_now(ctx, start.project_id))
    context = await compose_start(ctx, start)
    await save_given(ctx, start, context)
    return context


async def compose_start(ctx: RecallContext, start: Start, without: Collection[int] = ()) -> rules.Context:
    """Choose the context for a session's start; memories with the ids in ``without`` are left out.

    Records nothing, because the result may be for a later session.
    """
    chosen = ctx.settings
    left = await left_behind(ctx, _place(start))
    picks = await portfolio_candidates.chosen(
        ctx, await _work(ctx, start, left, without), await due_hits(ctx, start.due)
    )
    hits = await trust_notes.of_hits(ctx.database, [pick.hit for pick in picks], chosen, time(), start.project_id)
    most = CHARACTERS_A_TOKEN * chosen.handover_tokens
    handed = ""
    beside = [hit.memory for hit in hits]
    told = for_a_start(left, start.branch) if left is not None and left.given else None
    if told is not None:
        failed = any(one.handover.failed for one in told.records)
        known = await bindable(ctx, start.project_id) if failed else []
        handed = lines_of(told, beside, most, ways_out=known)
    extra = start.lasting if handed else (*start.lasting, *start.extra)
    budget = rules.Budget(chosen.start_tokens, chosen.start_characters, chosen.start_memories)
    context = rules.compose(hits, budget, start.branch, extra, marks_for(ctx, start), tell=brief, closing=handed)
    chosen_as = {pick.hit.memory.id: pick for pick in picks}
    return replace(
        context,
        groups=tuple(chosen_as[hit.memory.id].group for hit in context.hits),
        reasons=tuple(chosen_as[hit.memory.id].reason for hit in context.hits),
        handed=tuple(map(rules.Handed, told.sessions))
        if told is not None and handed and handed in context.text
        else (),
    )


def _place(start: Start) -> StartingPoint:
    return StartingPoint(start.session_id, start.project_id, start.branch, start.folder, start.since)


async def _work(
    ctx: RecallContext, start: Start, left: Left | None, without: Collection[int]
) -> portfolio_candidates.Work:
    return portfolio_candidates.Work(
        start.session_id,
        start.project_id,
        branch=start.branch,
        hints=start.hints,
        files=left.files if left is not None else (),
        late=start.late,
        known=await surfaces.hashes_in_context(ctx.database, start.session_id),
        without=without,
    )


def brief(memory: Memory) -> str:
    """Return a memory's text on one line, cut to LONGEST_AT_START characters."""
    return quote(memory.content, LONGEST_AT_START)


async def due_now(ctx: RecallContext, project_id: str) -> dict[int, Due]:
    """Return the recent due dates that no session has been shown yet, by memory id."""
    if not ctx.settings.surface_due:
        return {}
    now = time()
    found = await triggers.due(ctx.database, project_id, now - ctx.settings.due_days * DAY, now)
    return {one.memory_id: one for one in reversed(found)}


def marks_for(ctx: RecallContext, start: Start) -> rules.Marks:
    """Return a function that returns the marks of a memory, such as "due", "outdated" or "from another branch"."""

    def marks(memory: Memory) -> tuple[str, ...]:
        due = start.due.get(memory.id)
        return (*((rules.due_mark(due.due_at),) if due else ()), *marks_of(memory, start.branch, ctx.worktree_state))

    return marks


async def save_given(ctx: RecallContext, start: Start, context: rules.Context) -> None:
    """Record which memories a session was given; at its start, also that it got a start context, even an empty one.

    A memory that was requested counts as used at once; others count as used only when an answer uses them.
    """
    now, reasons = time(), context.reasons or ("",) * len(context.hits)
    rows = [
        Surface(
            session_id=start.session_id,
            event=start.event,
            at=now,
            memory_id=hit.memory.id,
            content_hash=hit.memory.content_hash,
            position=position,
            reason=_why(hit, start, reason),
            relevance=hit.relevance,
            decay=hit.decay,
            engines=hit.engines,
            about=start.about,
            priority=hit.priority,
            limits=start.own_limits.get(hit.memory.id, start.limits),
            trigger_id=start.due[hit.memory.id].id if hit.memory.id in start.due else None,
            characters=size,
        )
        for position, (hit, reason, size) in enumerate(zip(context.hits, reasons, context.sizes, strict=True), start=1)
    ]
    async with ctx.database.write() as tx:
        await surfaces.record(tx, start.project_id, rows)
        if start.event in ASKED_FOR:
            await memories.touch(tx, [hit.memory.id for hit in context.hits], now)
        for one in context.handed:
            given = handovers.Handover(start.session_id, one.session.id, one.event or start.event, now)
            await handovers.record(tx, given)
        if start.event.startswith(GREETING):
            await sessions.set_greeted(tx, start.session_id, now)


async def due_hits(ctx: RecallContext, due: Mapping[int, Due]) -> list[Hit]:
    """Return the due memories as hits, without a search."""
    now = time()
    known = await memories.get_many(ctx.database, list(due))
    return [Hit(known[number], 1.0, decay_factor(ctx, known[number], now)) for number in due if number in known]


def _why(hit: Hit, start: Start, reason: str) -> str:
    """Return why a session was given a memory, for `why-surfaced`; ``reason`` is "" except at a session's start."""
    if hit.memory.id in start.due:
        return rules.due_reason(start.due[hit.memory.id].words, start.due[hit.memory.id].due_at)
    return reason or start.reasons.get(hit.memory.id, start.asked)
