"""Proactive surfacing: adds memories to a session's context with a prompt, a file or an error, within limits.

Relevance is measured on an absolute scale, and usually nothing is added. The output of a tool is only used as a query:
it is neither stored nor embedded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time

from subconscious.capture import unconfirmed
from subconscious.capture.observing import known_ways_out
from subconscious.domain.hits import EngineHit, Hit
from subconscious.domain.model import Memory, Origin
from subconscious.domain.observed import is_observed
from subconscious.framing import rules
from subconscious.recall import trust_notes
from subconscious.recall.engines import projects_of
from subconscious.recall.file_binding import Touched, folder_bond
from subconscious.recall.marks import branch_factor
from subconscious.recall.pipeline import recall
from subconscious.recall.ranking import apply_corrections, decay_factor, priorities, superseded
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions.continuing import HANDED, gone_on_with
from subconscious.sessions.past_work import ANSWER_LENGTH, TOLD_SHORTLY, worked_on
from subconscious.sessions.previous_session import Left, StartingPoint, answer_line, lines_of
from subconscious.store import corrections, full_text, handovers, memories, surfaces, triggers
from subconscious.store.triggers import Due
from subconscious.supersession.retirement import holding_hits
from subconscious.surfacing import reasons
from subconscious.surfacing.bound_candidates import bindable, fitting_file, fitting_prompt
from subconscious.surfacing.eligibility import (
    is_of_another_branch,
    is_stated_in,
    told_elsewhere,
    unasked,
)
from subconscious.surfacing.errors import Fault, fault_of, likeness
from subconscious.surfacing.file_candidates import of_file, of_paths
from subconscious.surfacing.limits import Given, Limits, Seen, against, characters_left, room, sift, usage_of
from subconscious.surfacing.session_start import GREETING, Start, due_hits, due_now, marks_for, save_given
from subconscious.text.due_dates import mentions_milestone
from subconscious.text.quoting import CLOSING, OPENING
from subconscious.text.terms import names_a_subject

PROMPTED, TOUCHED, FAILED = surfaces.PROACTIVE_EVENTS
"""The events with which a session receives memories without asking: a prompt, a file, a failed tool call."""

CANDIDATES = 100
"""The most memories that are compared with a file or an error."""

STORY, LEAST_STORY = 600, 300
"""The most and the fewest characters of an earlier session's record; they count towards the session's limits."""

RECORDS = {PROMPTED: STORY, TOLD_SHORTLY: ANSWER_LENGTH}
"""The most characters of an earlier session's record, by the event name that is stored with it."""

BOUND = "occasion"
"""The name reported as search engine for memories that were found because they are bound to prompts or file types."""

BOUND_AT_ONCE, MOST_BOUND = 3, 5
"""The most failures and habits that are shown with one prompt or file, and in one session."""

RARE = 50
"""The most memories of a project that may contain a rare word."""


@dataclass(frozen=True, slots=True)
class SurfacingEvent:
    """An event with which memories may be shown. ``about`` is a file's path within its checkout, "" without a file."""

    session_id: str
    project_id: str
    event: str
    branch: str = ""
    about: str = ""
    asked: str = ""
    reasons: Mapping[int, str] = field(default_factory=dict)
    due: Mapping[int, Due] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A user's prompt, without secrets and private spans. ``commits`` are the latest commits: time and subject."""

    session_id: str
    project_id: str
    text: str
    branch: str = ""
    commits: tuple[tuple[float, str], ...] = ()
    folder: str = ""
    first: bool = False
    """Whether this is the first prompt of the session."""


async def surface_prompt(ctx: RecallContext, prompt: Prompt) -> rules.Context:
    """Return the few memories that fit a prompt or are due, and the record of an earlier session with similar work."""
    due = await _due(ctx, prompt)
    known = await bindable(ctx, prompt.project_id)
    seen = await _seen(ctx, prompt.session_id, known)
    asks = names_a_subject(prompt.text)
    left = await _last_work(ctx, prompt)
    fitting = await fitting_prompt(ctx, known, prompt.text, seen.bound.ledger)
    bound = await unconfirmed.one_at_a_time(ctx, prompt.session_id, fitting)
    if not room(limits(ctx, PROMPTED), seen.ordinary):
        due, asks = {}, False
    if not (due or asks or left or bound):
        return rules.SILENCE
    handed = {one.id for one in left.sessions} if left is not None else set[str]()
    story = await worked_on(ctx, prompt.session_id, prompt.project_id, prompt.text, handed) if asks else None
    occasion = SurfacingEvent(
        prompt.session_id, prompt.project_id, PROMPTED, prompt.branch, asked=reasons.FITS, due=due
    )
    found = await recall(ctx, unasked(prompt.text), prompt.project_id, 2 * rules.MOST) if asks else []
    paths = await of_paths(ctx, prompt.project_id, prompt.text, prompt.folder) if asks else []
    named = await _ranked(ctx, occasion, "file", paths)
    by_path = {hit.memory.id for hit in named}
    fits = [hit for hit in found if hit.memory.id not in due.keys() | by_path]
    fits.sort(key=lambda hit: -hit.score * branch_factor(hit.memory, prompt.branch, ctx.worktree_state))
    guessed = any(memory.unconfirmed for memory, _ in bound)
    place = prompt.session_id, prompt.project_id
    below = [] if guessed else await _statements_below(ctx, fits, seen.ordinary, prompt.text)
    guess = [] if guessed else await unconfirmed.fitting(ctx, *place, prompt.text, below)
    guess_ids = {hit.memory.id for hit in guess}
    hits = [*named, *(hit for hit in fits if hit.memory.id not in guess_ids), *guess]
    hits = [*await due_hits(ctx, due), *(hit for hit in hits if not is_stated_in(prompt.text, hit.memory))]
    beside = Beside(await _ranked(ctx, occasion, BOUND, bound), left, story, known, frozenset(guess_ids))
    why = reasons.of_prompt(prompt.text, hits, beside.bound) | dict.fromkeys(by_path, reasons.NAMES_PATH)
    occasion = replace(occasion, reasons=why)
    return await _give(ctx, occasion, hits, seen, beside)


async def _statements_below(ctx: RecallContext, hits: Sequence[Hit], seen: Seen, text: str) -> list[Hit]:
    """Return the user's statements that would be shown if their relevance reached the ordinary threshold."""
    chosen, now = limits(ctx, PROMPTED), time()
    found = [hit for hit in hits if hit.memory.origin is Origin.USER and hit.relevance < chosen.relevance]
    found = [hit for hit in found if not against(hit, chosen, seen, now) and not is_stated_in(text, hit.memory)]
    elsewhere = await told_elsewhere(ctx, found)
    return [hit for hit in found if hit.memory.id not in elsewhere]


async def _last_work(ctx: RecallContext, prompt: Prompt) -> Left | None:
    """Return the last session if this is the first prompt and the prompt continues that session's work."""
    if not prompt.first:
        return None
    place = StartingPoint(prompt.session_id, prompt.project_id, prompt.branch, prompt.folder)
    return await gone_on_with(ctx, place, prompt.text)


async def surface_file(ctx: RecallContext, occasion: SurfacingEvent, touched: Touched) -> rules.Context:
    """Return the memories that are bound to the file that a tool was used on, or to all files of its type."""
    known = await bindable(ctx, occasion.project_id)
    seen = await _seen(ctx, occasion.session_id, known)
    given = {one.memory_id for one in seen.bound.given}
    fits = await fitting_file(ctx, known, touched, seen.bound.ledger, given)
    of_type = await unconfirmed.one_at_a_time(ctx, occasion.session_id, fits)
    hits = []
    if room(limits(ctx, TOUCHED), seen.ordinary, touched.path):
        hits = await _ranked(ctx, occasion, "file", await of_file(ctx, occasion.project_id, touched))
        hits += await unconfirmed.bound(ctx, occasion.session_id, occasion.project_id, touched)
    if not hits and not of_type:
        return rules.SILENCE
    beside = Beside(await _ranked(ctx, occasion, BOUND, of_type))
    why = {hit.memory.id: reasons.OF_TYPE for hit in beside.bound}
    unnamed = [hit.memory for hit in hits if touched.name not in hit.memory.content]
    why |= {memory.id: reasons.OF_FOLDER for memory in unnamed if folder_bond(memory, touched)}
    occasion = replace(occasion, about=touched.path, asked="names the file", reasons=why)
    return await _give(ctx, occasion, hits, seen, beside)


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A failed tool call: its arguments and its error."""

    tool: str
    given: Mapping[str, str]
    error: str


async def surface_error(ctx: RecallContext, occasion: SurfacingEvent, call: FailedCall | str) -> rules.Context:
    """Return what worked instead of the failed call, if the failure is known; else memories about the same error."""
    seen = await _seen(ctx, occasion.session_id, await bindable(ctx, occasion.project_id))
    if not room(limits(ctx, FAILED), seen.ordinary):
        return rules.SILENCE
    if isinstance(call, str):
        call = FailedCall("", {}, call)
    if known := await known_ways_out(ctx, occasion.project_id, call.tool, dict(call.given), call.error):
        hits = await _ranked(ctx, occasion, "failure", [(memory, 1.0) for memory, _ in known])
        return await _give(ctx, replace(occasion, reasons={memory.id: why for memory, why in known}), hits, seen)
    fault = fault_of(call.error)
    if not (fault.terms or fault.folders):
        return rules.SILENCE
    alike = await _alike(ctx, occasion.project_id, fault)
    hits = await _ranked(ctx, occasion, "error", [(memory, sure) for memory, (sure, _) in alike])
    guess = await _findings_in_folder(ctx, occasion, fault)
    why = {memory.id: f"shares {', '.join(shared)} with the error" for memory, (_, shared) in alike}
    why |= {
        hit.memory.id: f"names the folder {fault.folder_named(hit.memory.content)}, as the error does" for hit in guess
    }
    return await _give(ctx, replace(occasion, reasons=why), [*hits, *guess], seen)


async def _alike(
    ctx: RecallContext, project_id: str, fault: Fault
) -> list[tuple[Memory, tuple[float, tuple[str, ...]]]]:
    projects = projects_of(project_id)
    searched = [*fault.terms, *fault.folder_names]
    ranked = await full_text.search(ctx.database, searched, (*projects, full_text.USER_WIDE), CANDIDATES)
    rare = await full_text.rare(ctx.database, fault.words, projects, RARE)
    known = await memories.get_many(ctx.database, [number for number, _ in ranked])
    # Observed failures are matched by command and error signature, never by words shared with another error.
    return [(memory, likeness(memory, fault, rare)) for memory in known.values() if not is_observed(memory.extractor)]


async def _findings_in_folder(ctx: RecallContext, occasion: SurfacingEvent, fault: Fault) -> list[Hit]:
    """Return a list with the unconfirmed memory about failures in a folder that the error names; [] if none exists."""

    def sure(memory: Memory) -> float:
        return likeness(memory, fault, ())[0] if fault.folder_named(memory.content) else 0.0

    place = occasion.session_id, occasion.project_id
    return await unconfirmed.about_failure(ctx, *place, fault.folder_names, sure)


async def _ranked(
    ctx: RecallContext, occasion: SurfacingEvent, engine: str, found: Sequence[tuple[Memory, float]]
) -> list[Hit]:
    """Return hits ordered by score, as if ``engine`` were a search engine that found them."""
    found = [(memory, strength) for memory, strength in found if not memory.is_claude_note]
    weights, now = await priorities(ctx, [memory.id for memory, _ in found]), time()
    gone = await superseded(ctx, [memory for memory, _ in found], occasion.project_id)
    said = await corrections.counts(ctx.database, [memory.id for memory, _ in found])
    hits = [
        apply_corrections(
            ctx,
            Hit(memory, strength, decay_factor(ctx, memory, now, gone), (), strength, weights.get(memory.id, 0.0)),
            said.get(memory.id),
        )
        for memory, strength in found
    ]
    hits.sort(
        key=lambda hit: (-hit.score * branch_factor(hit.memory, occasion.branch, ctx.worktree_state), -hit.memory.id)
    )
    return [
        replace(hit, engines=(EngineHit(engine, place, round(hit.relevance, 4)),)) for place, hit in enumerate(hits, 1)
    ]


@dataclass(frozen=True, slots=True)
class Beside:
    """What a session receives in addition to the memories that an event is about.

    ``bound`` are the failures and habits that are relevant to the event. ``left`` is the last session if the prompt
    continues its work, ``story`` another session with similar work. ``ways_out`` are memories that may state what
    worked instead of a failed command. ``vetted`` are ids of memories with a relevance threshold of their own.
    """

    bound: Sequence[Hit] = ()
    left: Left | None = None
    story: Left | None = None
    ways_out: Sequence[Memory] = ()
    vetted: frozenset[int] = frozenset()


NOTHING_BESIDE = Beside()


async def _give(
    ctx: RecallContext, occasion: SurfacingEvent, hits: Sequence[Hit], known: Known, beside: Beside = NOTHING_BESIDE
) -> rules.Context:
    """Apply the limits, render the remaining memories, and record them as received before they are sent."""
    chosen, seen = limits(ctx, occasion.event), known.ordinary
    branch, state = occasion.branch, ctx.worktree_state
    here = [hit for hit in (*hits, *beside.bound) if not is_of_another_branch(hit.memory, branch, state)]
    in_force = await holding_hits(ctx, here, occasion.project_id)
    elsewhere = await told_elsewhere(ctx, in_force)
    bound_ids = {hit.memory.id for hit in beside.bound}
    ordinary = [hit for hit in in_force if hit.memory.id not in bound_ids]
    bound = [hit for hit in in_force if hit.memory.id in bound_ids]
    sifted = sift(ordinary, chosen, seen, time(), occasion.about, elsewhere, beside.vetted)
    shown = sift(bound, known.unspent, known.bound, time(), "", elsewhere).fit
    fit = await trust_notes.of_hits(ctx.database, [*shown, *sifted.fit], ctx.settings, time(), occasion.project_id)
    own = {hit.memory.id: unconfirmed.least_relevance(ctx, hit.memory) for hit in fit if hit.memory.id in beside.vetted}
    start = _described(occasion, chosen, seen, own)
    free, unspent = characters_left(chosen, seen), characters_left(known.unspent, known.bound)
    present = await _in_context(ctx, occasion.session_id, fit) if beside.left or beside.story else []
    hand_over = _hand_over(ctx, beside, present, unspent)
    unspent = min(unspent - len(hand_over), sum(_length(ctx, start, hit) for hit in fit[: len(shown)]))
    spent = sum(
        _length(ctx, start, hit) for hit in fit[len(shown) :]
    )  # memories come before an earlier session's story
    record = _record(ctx, beside.story, present, free - spent) if room(chosen, seen) > len(sifted.fit) else ""
    most = len(shown) + max(0, min(chosen.at_once, chosen.session - len(seen.given) - bool(record)))
    ordinarily = min(free, rules.CHARACTERS_A_TOKEN * ctx.settings.prompt_tokens)
    room_in_all = len(OPENING) + len(CLOSING) + ordinarily + unspent + len(hand_over)
    budget = rules.Budget(room_in_all, min(ctx.settings.start_characters, room_in_all), most)
    closing = hand_over + record
    context = rules.compose(fit, budget, occasion.branch, (), marks_for(ctx, start), closing=closing)
    if closing and closing in context.text:
        context = replace(context, handed=tuple(_handed(beside, hand_over, record)))
    if context.text:
        await save_given(ctx, start, context)
    return replace(context, held=sifted.held)


def _described(occasion: SurfacingEvent, chosen: Limits, seen: Seen, own: Mapping[int, float]) -> Start:
    """Return what is recorded about an event with the memories that it brings.

    ``own`` are the relevance thresholds, by memory id, of memories with a threshold of their own.
    """

    def used(least: float | None = None) -> str:
        return json.dumps(usage_of(chosen, seen, occasion.about, least))

    return Start(
        occasion.session_id,
        occasion.project_id,
        occasion.event,
        occasion.branch,
        asked=occasion.asked,
        reasons=occasion.reasons,
        about=occasion.about,
        limits=used(),
        own_limits={number: used(least) for number, least in own.items()},
        due=occasion.due,
    )


def _length(ctx: RecallContext, start: Start, hit: Hit) -> int:
    """Return the number of characters of a rendered memory."""
    return len(rules.line_of(hit.memory, start.branch, marks_for(ctx, start)(hit.memory), repute=hit.repute))


async def _in_context(ctx: RecallContext, session_id: str, fit: Sequence[Hit]) -> list[Memory]:
    """Return the memories that are or will be in the session's context, so that a record does not repeat them."""
    before = await memories.get_many(ctx.database, await surfaces.in_context(ctx.database, session_id))
    return [*(hit.memory for hit in fit), *before.values()]


def _hand_over(ctx: RecallContext, beside: Beside, given: Sequence[Memory], free: int) -> str:
    """Return the hand-over of the last session; "" if there is none, or no room for it."""
    most = min(free, rules.CHARACTERS_A_TOKEN * ctx.settings.handover_tokens)
    if beside.left is None or most < LEAST_STORY:
        return ""
    return lines_of(beside.left, given, most, ways_out=beside.ways_out)


def _handed(beside: Beside, hand_over: str, record: str) -> Iterator[rules.Handed]:
    if hand_over and beside.left is not None:
        yield from (rules.Handed(session, HANDED) for session in beside.left.sessions)
    if record and beside.story is not None:
        yield rules.Handed(beside.story.session, beside.story.event)


def _record(ctx: RecallContext, story: Left | None, given: Sequence[Memory], free: int) -> str:
    """Return an earlier session's record in at most ``free`` characters; "" if there is none, or no room for it."""
    if story is None:
        return ""
    most = min(RECORDS[story.event or PROMPTED], free, rules.CHARACTERS_A_TOKEN * ctx.settings.handover_tokens)
    if most < LEAST_STORY:
        return ""
    return answer_line(story, given, most) if story.event else lines_of(story, given, most, earlier=True)


def limits(ctx: RecallContext, event: str) -> Limits:
    """Return the limits in force for an event."""
    chosen = ctx.settings
    return Limits(
        session=chosen.session_surfaces,
        about=chosen.file_surfaces if event == TOUCHED else 0,
        at_once=min(chosen.prompt_memories, chosen.file_surfaces) if event == TOUCHED else chosen.prompt_memories,
        cooldown=chosen.surface_cooldown_minutes * 60,
        relevance=chosen.surface_relevance,
        kinds_off=chosen.surface_kinds_off,
        characters=rules.CHARACTERS_A_TOKEN * chosen.session_tokens,
    )


@dataclass(frozen=True, slots=True)
class Known:
    """What a session has received without asking.

    ``bound`` are the failures and habits, ``ordinary`` all other memories. ``unspent`` are the limits for ``bound``:
    what remains of the limits for the session's start.
    """

    ordinary: Seen
    bound: Seen
    unspent: Limits


async def _seen(ctx: RecallContext, session_id: str, bindable: Sequence[Memory] = ()) -> Known:
    """Return what a session has received. The record of an earlier session counts as one memory of full length."""
    given = [Given(*row) for row in await surfaces.proactive(ctx.database, session_id)]
    ids = {memory.id for memory in bindable}
    bound = [one for one in given if one.memory_id in ids]
    stories = await handovers.of_session(ctx.database, session_id)
    rest = [one for one in given if one.memory_id not in ids]
    rest += [Given(0, one.at, characters=RECORDS[one.event]) for one in stories if one.event in RECORDS]
    ledger = await surfaces.hashes_in_context(ctx.database, session_id)
    handed = any(one.event == HANDED or one.event.startswith(GREETING) for one in stories)
    unspent = await _unspent(ctx, session_id, handed=handed)
    return Known(Seen(session_id, ledger, rest), Seen(session_id, ledger, bound), unspent)


async def _unspent(ctx: RecallContext, session_id: str, *, handed: bool) -> Limits:
    """Return what remains of the limits for the session's start.

    ``handed``: the session has received a hand-over, which counts with its greatest length.
    """
    chosen = ctx.settings
    count, used = await surfaces.start_usage(ctx.database, session_id)
    tokens = chosen.start_tokens - chosen.handover_tokens * handed
    return Limits(
        session=max(0, min(MOST_BOUND, chosen.start_memories - count)),
        about=0,
        at_once=BOUND_AT_ONCE,
        cooldown=chosen.surface_cooldown_minutes * 60,
        relevance=chosen.surface_relevance,
        kinds_off=chosen.surface_kinds_off,
        characters=max(0, rules.CHARACTERS_A_TOKEN * tokens - used),
    )


async def _due(ctx: RecallContext, prompt: Prompt) -> dict[int, Due]:
    """Return the memories that are due, by id: their date has come, or the prompt mentions their milestone."""
    if not ctx.settings.surface_due:
        return {}
    waiting = await triggers.milestones(ctx.database, prompt.project_id)
    come = {one.memory_id: one for one in waiting if _has_come(one, prompt)}
    return come | await due_now(ctx, prompt.project_id)


def _has_come(milestone: Due, prompt: Prompt) -> bool:
    """Whether a prompt, or a commit that is newer than the memory, mentions a milestone."""
    news = [subject for at, subject in prompt.commits if at > milestone.said_at]
    return any(mentions_milestone(milestone.words, text) for text in (prompt.text, *news))
