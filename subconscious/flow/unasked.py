"""What a session is given though nobody asked: on a prompt, on a file, on an error, within limits.

Relevance is absolute here, and silence the usual answer. What a tool gave is a query at most: it is compared, and
neither stored nor embedded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time

from subconscious import repute, surfacing
from subconscious.failures.wording import is_observed
from subconscious.flow import unconfirmed
from subconscious.flow.bound import bindable, fitting_file, fitting_prompt
from subconscious.flow.continuing import HANDED, gone_on_with
from subconscious.flow.fitness import is_finding, told_elsewhere, unasked
from subconscious.flow.giving import GREETING, Start, due_hits, due_now, marks_for, save_given
from subconscious.flow.handover import Left, Place, answer_line, lines_of
from subconscious.flow.holding import holding_hits
from subconscious.flow.mind import Mind
from subconscious.flow.observing import known_ways_out
from subconscious.flow.past_work import TOLD_SHORTLY, changed_since, worked_on
from subconscious.flow.recalling import fade, heeded, priorities, recall, superseded
from subconscious.model import EngineHit, Hit, Memory
from subconscious.quoting import CLOSING, OPENING
from subconscious.search.engines import projects_of
from subconscious.search.words import terms
from subconscious.store import corrections, full_text, handovers, memories, responses, surfaces, triggers
from subconscious.store.triggers import Due
from subconscious.surfacing.due import comes_about
from subconscious.surfacing.faults import Fault, fault_of, likeness
from subconscious.surfacing.files import Touched, bond
from subconscious.surfacing.limits import Given, Limits, Seen, characters_left, room, sift, told
from subconscious.surfacing.marks import lean
from subconscious.surfacing.portfolio import MOST_UNHEEDED

PROMPTED, TOUCHED, FAILED = surfaces.UNASKED
"""Events of what was given unasked."""

FITS = "fits the prompt"

CANDIDATES = 100
"""Memories that are compared with a file or an error."""

STORY, LEAST_STORY = 600, 300
"""Characters that an earlier session's story may take of what a session is given unasked, and that it needs."""

RECORDS = {PROMPTED: STORY, TOLD_SHORTLY: 400}
"""Characters of a record of an earlier session, by the event that is noted for it."""

NEAR_WORK = 0.4
"""Cosine to the session's prompt from which a finding on a file is about the work: that of an ordinary search hit."""

OVERTAKEN = 2
"""Later sessions that changed a file from which a finding on it is likely to be outdated."""

WORK_LETTERS = 400
"""Characters of a prompt that findings are compared with: what it asks for stands at its beginning."""

BOUND = "occasion"
"""The engine that finds what a prompt or the type of a file shows to matter."""

BOUND_AT_ONCE, MOST_BOUND = 3, 5
"""Failures and habits that one prompt or file brings, and that a session is given in all."""

RARE = 50
"""Memories of a project that a word may stand in and still tell them apart."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What has just happened, and where. ``about`` is a file's path within its checkout."""

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
    """What a person has just typed, free of secrets and private spans, and where; ``commits`` are the latest there."""

    session_id: str
    project_id: str
    text: str
    branch: str = ""
    commits: tuple[tuple[float, str], ...] = ()
    folder: str = ""
    first: bool = False
    """Whether the session has had no prompt before; ``folder`` is its checkout."""


async def surface_prompt(mind: Mind, prompt: Prompt) -> surfacing.Context:
    """Give a prompt the few memories that it is about or that are due, and the story of work like it."""
    due = await _due(mind, prompt)
    known = await bindable(mind, prompt.project_id)
    seen = await _seen(mind, prompt.session_id, known)
    asks = bool(terms(prompt.text))
    left = await _last_work(mind, prompt)
    bound = await fitting_prompt(mind, known, prompt.text)
    if not room(limits(mind, PROMPTED), seen.ordinary):
        due, asks = {}, False
    if not (due or asks or left or bound):
        return surfacing.SILENCE
    told = {left.session.id} if left is not None else set[str]()
    story = await worked_on(mind, prompt.session_id, prompt.project_id, prompt.text, told) if asks else None
    occasion = Occasion(prompt.session_id, prompt.project_id, PROMPTED, prompt.branch, asked=FITS, due=due)
    found = await recall(mind, unasked(prompt.text), prompt.project_id, 2 * surfacing.MOST) if asks else []
    fits = [hit for hit in found if hit.memory.id not in due]
    fits.sort(key=lambda hit: -hit.score * lean(hit.memory, prompt.branch, mind.standing))
    guess = await unconfirmed.fitting(mind, prompt.session_id, prompt.project_id, prompt.text)
    hits = [*await due_hits(mind, due), *fits, *guess]
    beside = Beside(await _ranked(mind, occasion, BOUND, bound), left, story)
    return await _give(mind, occasion, hits, seen, beside)


async def _last_work(mind: Mind, prompt: Prompt) -> Left | None:
    """The last session, if this is the first prompt and goes on with its work."""
    if not prompt.first:
        return None
    place = Place(prompt.session_id, prompt.project_id, prompt.branch, prompt.folder)
    return await gone_on_with(mind, place, prompt.text)


async def surface_file(mind: Mind, occasion: Occasion, touched: Touched) -> surfacing.Context:
    """Give what is bound to the file that a tool was used on, or to all files of its type."""
    known = await bindable(mind, occasion.project_id)
    seen = await _seen(mind, occasion.session_id, known)
    of_type = await fitting_file(mind, known, touched)
    hits = (
        await _about_file(mind, occasion, touched) if room(limits(mind, TOUCHED), seen.ordinary, touched.path) else []
    )
    if not hits and not of_type:
        return surfacing.SILENCE
    occasion = replace(occasion, about=touched.path, asked="bound to the file")
    return await _give(mind, occasion, hits, seen, Beside(await _ranked(mind, occasion, BOUND, of_type)))


async def _about_file(mind: Mind, occasion: Occasion, touched: Touched) -> list[Hit]:
    """The memories that name a file, confirmed ones first."""
    found = await full_text.naming(mind.database, touched.name, projects_of(occasion.project_id), CANDIDATES)
    bound = [(memory, strength) for memory in found if (strength := bond(memory, touched))]
    hits = await _ranked(mind, occasion, "file", await about_the_work(mind, occasion.project_id, bound, touched))
    return hits + await unconfirmed.bound(mind, occasion.session_id, occasion.project_id, touched)


async def about_the_work(
    mind: Mind, project_id: str, bound: Sequence[tuple[Memory, float]], touched: Touched
) -> list[tuple[Memory, float]]:
    """Leave out findings on a file that the session's prompt is not about, or that are likely to be outdated.

    Most findings name files that every other session reads. What a person stands for is given with the file anyway.
    """
    findings = [memory for memory, _ in bound if is_finding(memory)]
    if not findings:
        return list(bound)
    ids = [memory.id for memory in findings]
    heard = await responses.of_memories(mind.database, ids) if mind.settings.feedback else {}
    changed = await changed_since(mind, project_id, touched.name, findings)
    apart = {number for number, one in heard.items() if one.unheeded >= MOST_UNHEEDED}
    apart |= {number for number, count in changed.items() if count >= OVERTAKEN}
    apart |= await _far_from(mind, ids, touched.work)
    return [(memory, strength) for memory, strength in bound if memory.id not in apart]


async def _far_from(mind: Mind, ids: Sequence[int], work: str) -> set[int]:
    """The memories that are not about a prompt; none where either is not embedded."""
    asked = await mind.embed(work[:WORK_LETTERS]) if work and mind.index is not None else None
    if asked is None or mind.index is None:
        return set()
    vectors = await mind.index.vectors(ids)
    return {number for number, vector in vectors.items() if float(vector @ asked) < NEAR_WORK}


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A tool call that failed: what the tool was given, and what it said."""

    tool: str
    given: Mapping[str, str]
    error: str


async def surface_error(mind: Mind, occasion: Occasion, call: FailedCall | str) -> surfacing.Context:
    """Give the way out of the failure that a tool met, if that very failure is known; else what knows its error."""
    seen = await _seen(mind, occasion.session_id)
    if not room(limits(mind, FAILED), seen.ordinary):
        return surfacing.SILENCE
    if isinstance(call, str):
        call = FailedCall("", {}, call)
    if known := await known_ways_out(mind, occasion.project_id, call.tool, dict(call.given), call.error):
        hits = await _ranked(mind, occasion, "failure", [(memory, 1.0) for memory, _ in known])
        return await _give(mind, replace(occasion, reasons={memory.id: why for memory, why in known}), hits, seen)
    fault = fault_of(call.error)
    if not fault.terms:
        return surfacing.SILENCE
    alike = await _alike(mind, occasion.project_id, fault)
    hits = await _ranked(mind, occasion, "error", [(memory, sure) for memory, (sure, _) in alike])
    reasons = {memory.id: f"shares {', '.join(shared)} with the error" for memory, (_, shared) in alike}
    return await _give(mind, replace(occasion, reasons=reasons), hits, seen)


async def _alike(mind: Mind, project_id: str, fault: Fault) -> list[tuple[Memory, tuple[float, tuple[str, ...]]]]:
    projects = projects_of(project_id)
    ranked = await full_text.search(mind.database, fault.terms, (*projects, full_text.USER_WIDE), CANDIDATES)
    rare = await full_text.rare(mind.database, fault.words, projects, RARE)
    known = await memories.get_many(mind.database, [number for number, _ in ranked])
    # What was observed is matched by its command and its error, never by words that it shares with another one.
    return [(memory, likeness(memory, fault, rare)) for memory in known.values() if not is_observed(memory.extractor)]


async def _ranked(mind: Mind, occasion: Occasion, engine: str, found: Sequence[tuple[Memory, float]]) -> list[Hit]:
    """Hits in the order of what they are worth, told as those of an engine of their own."""
    found = [(memory, strength) for memory, strength in found if not memory.is_claude_note]
    weights, now = await priorities(mind, [memory.id for memory, _ in found]), time()
    gone = await superseded(mind, [memory for memory, _ in found], occasion.project_id)
    said = await corrections.counts(mind.database, [memory.id for memory, _ in found])
    hits = [
        heeded(
            mind,
            Hit(memory, strength, fade(mind, memory, now, gone), (), strength, weights.get(memory.id, 0.0)),
            said.get(memory.id),
        )
        for memory, strength in found
    ]
    hits.sort(key=lambda hit: (-hit.score * lean(hit.memory, occasion.branch, mind.standing), -hit.memory.id))
    return [
        replace(hit, engines=(EngineHit(engine, place, round(hit.relevance, 4)),)) for place, hit in enumerate(hits, 1)
    ]


@dataclass(frozen=True, slots=True)
class Beside:
    """What is given beside the memories that an event is about.

    ``bound`` are failures and habits that it shows to matter. ``left`` is the last session, whose work goes on;
    ``story`` another one that did something alike.
    """

    bound: Sequence[Hit] = ()
    left: Left | None = None
    story: Left | None = None


NOTHING_BESIDE = Beside()


async def _give(
    mind: Mind, occasion: Occasion, hits: Sequence[Hit], known: Known, beside: Beside = NOTHING_BESIDE
) -> surfacing.Context:
    """Hold back what limits forbid, frame the rest, and save it in the ledger before it leaves."""
    chosen, seen = limits(mind, occasion.event), known.ordinary
    in_force = await holding_hits(mind, [*hits, *beside.bound], occasion.project_id)
    elsewhere = await told_elsewhere(mind, in_force)
    bound_ids = {hit.memory.id for hit in beside.bound}
    ordinary = [hit for hit in in_force if hit.memory.id not in bound_ids]
    bound = [hit for hit in in_force if hit.memory.id in bound_ids]
    sifted = sift(ordinary, chosen, seen, time(), occasion.about, elsewhere)
    shown = sift(bound, known.unspent, known.bound, time(), "", elsewhere).fit
    fit = await repute.of_hits(mind.database, [*shown, *sifted.fit], mind.settings, time(), occasion.project_id)
    start = Start(
        occasion.session_id,
        occasion.project_id,
        occasion.event,
        occasion.branch,
        asked=occasion.asked,
        reasons=occasion.reasons,
        about=occasion.about,
        limits=json.dumps(told(chosen, seen, occasion.about)),
        due=occasion.due,
    )
    free, unspent = characters_left(chosen, seen), characters_left(known.unspent, known.bound)
    there = await _there(mind, occasion.session_id, fit) if beside.left or beside.story else []
    hand_over = _hand_over(mind, beside.left, there, unspent)
    unspent = min(unspent - len(hand_over), sum(_length(mind, start, hit) for hit in fit[: len(shown)]))
    record = _record(mind, beside.story, there, free) if room(chosen, seen) else ""
    most = len(shown) + max(0, min(chosen.at_once, chosen.session - len(seen.given) - bool(record)))
    ordinarily = min(free, surfacing.CHARACTERS_A_TOKEN * mind.settings.prompt_tokens)
    room_in_all = len(OPENING) + len(CLOSING) + ordinarily + unspent + len(hand_over)
    budget = surfacing.Budget(room_in_all, min(mind.settings.start_characters, room_in_all), most)
    closing = hand_over + record
    context = surfacing.compose(fit, budget, occasion.branch, (), marks_for(mind, start), closing=closing)
    if closing and closing in context.text:
        context = replace(context, handed=tuple(_handed(beside, hand_over, record)))
    if context.text:
        await save_given(mind, start, context)
    return replace(context, held=sifted.held)


def _length(mind: Mind, start: Start, hit: Hit) -> int:
    """The characters of a memory's lines."""
    return len(surfacing.line_of(hit.memory, start.branch, marks_for(mind, start)(hit.memory), repute=hit.repute))


async def _there(mind: Mind, session_id: str, fit: Sequence[Hit]) -> list[Memory]:
    """The memories that the session has or is given now: a record beside them does not repeat what they say."""
    before = await memories.get_many(mind.database, await surfaces.in_context(mind.database, session_id))
    return [*(hit.memory for hit in fit), *before.values()]


def _hand_over(mind: Mind, left: Left | None, given: Sequence[Memory], free: int) -> str:
    """The record of the last session, whose work goes on; "" without one, or without room."""
    most = min(free, surfacing.CHARACTERS_A_TOKEN * mind.settings.handover_tokens)
    return "" if left is None or most < LEAST_STORY else lines_of(left, given, most)


def _handed(beside: Beside, hand_over: str, record: str) -> Iterator[surfacing.Handed]:
    if hand_over and beside.left is not None:
        yield surfacing.Handed(beside.left.session, HANDED)
    if record and beside.story is not None:
        yield surfacing.Handed(beside.story.session, beside.story.event)


def _record(mind: Mind, story: Left | None, given: Sequence[Memory], free: int) -> str:
    """The lines that tell what an earlier session did, in what is left of the session's budget; "" without one."""
    if story is None:
        return ""
    most = min(RECORDS[story.event or PROMPTED], free, surfacing.CHARACTERS_A_TOKEN * mind.settings.handover_tokens)
    if most < LEAST_STORY:
        return ""
    return answer_line(story, given, most) if story.event else lines_of(story, given, most, earlier=True)


def limits(mind: Mind, event: str) -> Limits:
    """The limits in force for what is given on an event."""
    chosen = mind.settings
    return Limits(
        session=chosen.session_surfaces,
        about=chosen.file_surfaces if event == TOUCHED else 0,
        at_once=min(chosen.prompt_memories, chosen.file_surfaces) if event == TOUCHED else chosen.prompt_memories,
        cooldown=chosen.surface_cooldown_minutes * 60,
        relevance=chosen.surface_relevance,
        kinds_off=chosen.surface_kinds_off,
        characters=surfacing.CHARACTERS_A_TOKEN * chosen.session_tokens,
    )


@dataclass(frozen=True, slots=True)
class Known:
    """What a session was given unasked: ``ordinary`` counts against its own limits, ``bound`` against ``unspent``.

    ``unspent`` is what the start left of its allowance: what is bound could have been given there.
    """

    ordinary: Seen
    bound: Seen
    unspent: Limits


async def _seen(mind: Mind, session_id: str, bindable: Sequence[Memory] = ()) -> Known:
    """What a session was given unasked; the story of an earlier session counts as one memory of its greatest length."""
    given = [Given(*row) for row in await surfaces.unasked(mind.database, session_id)]
    ids = {memory.id for memory in bindable}
    bound = [one for one in given if one.memory_id in ids]
    stories = await handovers.of_session(mind.database, session_id)
    rest = [one for one in given if one.memory_id not in ids]
    rest += [Given(0, one.at, characters=RECORDS[one.event]) for one in stories if one.event in RECORDS]
    ledger = await surfaces.ledger(mind.database, session_id)
    handed = any(one.event == HANDED or one.event.startswith(GREETING) for one in stories)
    unspent = await _unspent(mind, session_id, handed=handed)
    return Known(Seen(session_id, ledger, rest), Seen(session_id, ledger, bound), unspent)


async def _unspent(mind: Mind, session_id: str, *, handed: bool) -> Limits:
    """What the start left of its allowance; a hand-over counts as its greatest length."""
    chosen = mind.settings
    count, used = await surfaces.started(mind.database, session_id)
    tokens = chosen.start_tokens - chosen.handover_tokens * handed
    return Limits(
        session=max(0, min(MOST_BOUND, chosen.start_memories - count)),
        about=0,
        at_once=BOUND_AT_ONCE,
        cooldown=chosen.surface_cooldown_minutes * 60,
        relevance=chosen.surface_relevance,
        kinds_off=chosen.surface_kinds_off,
        characters=max(0, surfacing.CHARACTERS_A_TOKEN * tokens - used),
    )


async def _due(mind: Mind, prompt: Prompt) -> dict[int, Due]:
    """What a prompt makes due: dates that have come, and milestones that it tells of."""
    if not mind.settings.surface_due:
        return {}
    waiting = await triggers.milestones(mind.database, prompt.project_id)
    come = {one.memory_id: one for one in waiting if _has_come(one, prompt)}
    return come | await due_now(mind, prompt.project_id)


def _has_come(milestone: Due, prompt: Prompt) -> bool:
    """Whether a prompt tells of a milestone, or a commit that is younger than the memory."""
    news = [subject for at, subject in prompt.commits if at > milestone.said_at]
    return any(comes_about(milestone.words, text) for text in (prompt.text, *news))
