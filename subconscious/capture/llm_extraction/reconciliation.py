"""The second look: after a session, a model reviews the session's captures, and compares them with stored memories.

The second look takes over most of a person's review. Candidates that the model rejects are discarded with its reason.
Candidates that it accepts get the decision that was made from their confidence. The others wait for a person. In the
request, a candidate is called a note.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import Any

import aiosqlite

from subconscious.capture.admission import Provenance, admit_memory, last_word
from subconscious.capture.draft import PRACTISED
from subconscious.capture.llm_extraction import recurrence, second_look
from subconscious.capture.llm_extraction.quotes import overlap
from subconscious.capture.llm_extraction.second_look import Look, Looks, Note
from subconscious.capture.llm_extraction.second_wording import Worded, store_wording, worded_anew
from subconscious.capture.session_limits import hold_cap
from subconscious.capture.unconfirmed import turn_of
from subconscious.domain.model import MODELS, Admission, Decision, Judged, Level, Link, Memory, Origin
from subconscious.domain.observed import OBSERVED
from subconscious.links import opinions
from subconscious.links.gate import status_for
from subconscious.llm.providers import Request
from subconscious.recall.engines import projects_of
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction.cleaning import clean
from subconscious.sessions import Handover, Sketch, Transcript
from subconscious.sessions.story import Checked, Story, examined, record_of
from subconscious.store import (
    captures,
    decisions,
    full_text,
    links,
    memories,
    second_looks,
    sessions,
    takeovers,
    unconfirmed,
)
from subconscious.store.capture_rows import candidate_from
from subconscious.store.second_looks import WAITS, WaitingCapture
from subconscious.supersession import confirmation
from subconscious.text.terms import terms
from subconscious.text.wording import SUMMARY_LENGTH, shorten
from subconscious.wire.captures import Capture

log = logging.getLogger("subconscious.capture")

NEIGHBOURS = 4
"""The maximum number of memories that the model is shown with a note."""

NEAR_UNCONFIRMED, MOST_UNCONFIRMED = 2, 10
"""The maximum numbers of unconfirmed memories shown to the model: with one note, and with all notes of a session."""

UNSAID = "a second check by the model did not confirm it"
REFUSED = "a second check by the model rejected it"

SURE = 0.95
"""The confidence of a link that a model's second look found. Its status depends on the origins of both memories."""

MENDABLE = ("review", "unconfirmed")

COUNTED = (OBSERVED, PRACTISED)
"""Extractors of captures that are derived from tool calls and worded in fixed sentences."""


def held(judged: Judged) -> Judged:
    """Make a model's candidate wait for the second look, unless the gate discards or quarantines the candidate."""
    candidate, admission = judged
    if admission.decision not in (Decision.AUTO, Decision.REVIEW):
        return judged
    return candidate, replace(admission, decision=Decision.REVIEW, reservation=WAITS)


def without(judged: Iterable[Judged]) -> list[Judged]:
    """Return the decisions for candidates that no model reviews: a person must approve what the user did not state."""
    return [
        (candidate, admission if candidate.origin is Origin.USER else _unlooked(admission))
        for candidate, admission in judged
    ]


def _unlooked(admission: Admission) -> Admission:
    return replace(admission, reservation=admission.reservation or UNSAID)


async def expect(tx: aiosqlite.Connection, capture_ids: Sequence[int], gate: Admission, before: str) -> None:
    """Store the gate's decision ``gate`` on captures that wait for the model's second look.

    ``before`` is the text before and around the captures' quote, which the model will be shown.
    """
    for capture_id in capture_ids:
        await second_looks.enqueue(tx, capture_id, gate.decision, gate.reservation, before)


@dataclass(frozen=True, slots=True)
class Session:
    """The input of the model's second look at a session; the model is shown the captures as numbered notes.

    ``awaited`` are the captures that wait for the second look, ``others`` those that were found without a model.
    ``stored`` has memories that a note may repeat or replace; ``unconfirmed`` has memories that a note confirms by
    repeating them. ``sketch`` is the stored record of the session (JSON) from which the model writes a summary; "" if
    no summary is wanted. ``around`` maps the ids of ``others`` to the text around their quotes.
    """

    awaited: tuple[WaitingCapture, ...]
    others: tuple[Capture, ...]
    stored: dict[int, Memory]
    sketch: str = ""
    unconfirmed: dict[int, Memory] = field(default_factory=dict)
    around: Mapping[int, str] = field(default_factory=dict)

    @property
    def shown(self) -> dict[int, Memory]:
        """Return the memories that the notes are compared with, active ones first."""
        return self.stored | self.unconfirmed

    @property
    def record(self) -> dict[str, Any]:
        """Return the record of the session for the model; {} if there is none."""
        return record_of(Sketch.from_json(self.sketch)) if self.sketch else {}

    @property
    def notes(self) -> list[Note]:
        """Return the notes in the order in which they are numbered."""
        looked = [_note(one.capture, one.before) for one in self.awaited]
        return [*looked, *(_note(one, self.around.get(one["id"], "")) for one in self.others)][: second_look.MOST]

    @property
    def standings(self) -> list[int]:
        """Return, for each note, a number for what happens to the note if the model does not reject it.

        2: it is stored; 1: it may become an unconfirmed memory; 0: it waits for a person.
        """
        looked = [_standing(one.decision is Decision.AUTO, one.reservation) for one in self.awaited]
        return [*looked, *(_standing(one["status"] == "captured", one["reservation"]) for one in self.others)]


def _standing(stored: bool, reservation: str | None) -> int:
    return 2 if stored else int(reservation == "")


def _note(capture: Capture, before: str = "") -> Note:
    content, kind, quote, said_by = (str(capture[name]) for name in ("content", "kind", "evidence", "origin"))
    return Note(content, kind, quote, said_by, before)


def _is_shown(capture: Capture, awaited: Sequence[Capture]) -> bool:
    """Whether a capture that the rules found is shown to the model in the second look.

    Captures derived from tool calls are not shown, because they can't be judged by a quote. If the rules and the model
    found the same words, only the model's wording is shown, unless the other one is already stored.
    """
    if capture["status"] not in ("captured", *MENDABLE) or capture["extractor"].startswith(COUNTED):
        return False
    return capture["status"] == "captured" or not any(_one_quote(capture, one) for one in awaited)


def _one_quote(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two captures quote the same words of a turn."""
    return one["turn_id"] == other["turn_id"] and overlap(one["evidence"], other["evidence"])


def _said_around(found: Sequence[Capture]) -> dict[int, str]:
    """Return the text around the quotes of captures, by id, if their transcripts can be read. Run it in a thread."""
    told = {}
    for capture in found:
        candidate = candidate_from(capture)
        turn = turn_of(candidate)
        told[capture["id"]] = clean(second_look.around(turn.id, candidate.evidence.quote, [turn])) if turn else ""
    return told


async def gather(ctx: RecallContext, session_id: str, project_id: str) -> Session:
    """Return a session's candidates, and the memories that they may repeat or replace."""
    async with ctx.database.write() as tx:
        awaited = await second_looks.waiting_captures(tx, session_id)
    known = await captures.listing(ctx.database, session_id=session_id, limit=10_000)
    mine = {one.capture["id"] for one in awaited}
    others = [one for one in known if one["id"] not in mine and _is_shown(one, [w.capture for w in awaited])]
    stored = await _stored(ctx, [*(one.capture for one in awaited), *others], project_id)
    said = await asyncio.to_thread(_said_around, others)
    bound = {one["memory_id"] for one in others}
    new = {number: one for number, one in stored.items() if number not in bound}
    sketch = await sessions.sketch_for_story(ctx.database, session_id) if _tells_stories(ctx) else ""
    guesses = await _unconfirmed(ctx, awaited, project_id, session_id)
    return Session(tuple(awaited), tuple(others), new, sketch, guesses, said)


def _tells_stories(ctx: RecallContext) -> bool:
    return ctx.settings.summaries and ctx.settings.handover


async def _stored(ctx: RecallContext, found: Sequence[Capture], project_id: str) -> dict[int, Memory]:
    near: dict[int, float] = {}
    for capture in found:
        words = terms(str(capture["content"]))
        near |= dict(await full_text.search(ctx.database, words, projects_of(project_id), NEIGHBOURS))
    ranked = sorted(near, key=lambda number: -near[number])[: second_look.MOST_STORED - MOST_UNCONFIRMED]
    return await memories.get_many(ctx.database, ranked)


async def _unconfirmed(
    ctx: RecallContext, awaited: Sequence[WaitingCapture], project_id: str, session_id: str
) -> dict[int, Memory]:
    found: dict[int, Memory] = {}
    for one in awaited:
        content = str(one.capture["content"])
        found |= await recurrence.unconfirmed_near(ctx, content, project_id, session_id, NEAR_UNCONFIRMED)
    return dict(list(found.items())[:MOST_UNCONFIRMED])


def ask(session: Session) -> Request:
    """Return the request for the second look at a session; there is one per session."""
    stored = {number: one.content for number, one in session.shown.items()}
    return second_look.request(session.notes, stored, opinions.types(), session.record)


async def apply(ctx: RecallContext, session: Session, answer: Looks, where: Provenance, by: str) -> list[int]:
    """Apply the model's reply about a session in one transaction; return the ids of memories that became active."""
    said = {
        number: _without_loss(look, number, session)
        for number, look in second_look.entries(answer, len(session.notes)).items()
    }
    session_id = where.place.session_id or ""
    story = await _story(ctx, session, answer.story, session_id) if session.record else None
    anew = await asyncio.to_thread(worded_anew, session.awaited, said)
    async with ctx.database.write() as tx:
        found = _Applying(ctx, tx, session, where, by, anew)
        await found.decide(said)
        for number, other in enumerate(session.others, start=len(session.awaited) + 1):
            if look := said.get(number):
                await _mend(tx, other, look, session.notes, number, ctx.settings.review_expiry_days)
        await second_looks.finish(tx, session_id, found.verdicts)
        if story is not None:
            await _retell(tx, session_id, session, story, by)
        await hold_cap(tx, session_id, ctx.settings)
    return found.made


@dataclass
class _Applying:
    """Applies a model's reply.

    ``anew`` has the user's notes, by capture id, with the wording to store. ``made`` has the ids of memories that
    became active. ``verdicts`` maps the id of a capture to the reason for its rejection, "" if it was not rejected.
    """

    ctx: RecallContext
    tx: aiosqlite.Connection
    session: Session
    where: Provenance
    by: str
    anew: Mapping[int, Worded]
    made: list[int] = field(default_factory=list)
    verdicts: dict[int, str] = field(default_factory=dict)

    async def decide(self, said: Mapping[int, Look]) -> None:
        """Decide on each note that still waits. A person may have decided on some notes during the review."""
        session_id = self.where.place.session_id or ""
        still = {one.capture["id"]: one for one in await second_looks.waiting_captures(self.tx, session_id)}
        for number, one in enumerate(self.session.awaited, start=1):
            if (waits := still.get(one.capture["id"])) is not None:
                await self._decide(waits, said.get(number))

    async def _decide(self, one: WaitingCapture, look: Look | None) -> None:
        again = recurrence.repeated(_trimmed(one, look), look, self.session.shown)
        if again is not None:
            self.made += await recurrence.count(self.ctx, self.tx, _trimmed(one, look), again, self.where)
            return
        capture_id = one.capture["id"]
        worded = self.anew.get(capture_id)
        if look is not None and worded is not None and worded.fits(one):
            look = worded.review(look)
            one = await store_wording(self.tx, one, worded)
        trimmed = _trimmed(one, look)
        if look is not None and trimmed is not one:
            look = look.model_copy(update={"unsupported": []})  # the new wording omits the unsupported words
        self.verdicts[capture_id] = await _settle(self.ctx, self.tx, trimmed, look, self.where, self.session.notes)
        self.made += await _replaced(self.ctx, self.tx, capture_id, look, self.session, self.by)
        await _take_place(self.tx, self.where.place.session_id or "", capture_id)


def _trimmed(one: WaitingCapture, look: Look | None) -> WaitingCapture:
    """Return a capture without the details that the model found no evidence for."""
    said = second_look.trimmed(look, _note(one.capture, one.before)) if look else ""
    return (
        replace(one, capture=one.capture | {"content": said, "summary": shorten(said, SUMMARY_LENGTH)}) if said else one
    )


def _without_loss(look: Look, number: int, session: Session) -> Look:
    """Return the review of a note, without the verdict "duplicate" if the other note is less likely to be stored.

    Otherwise both notes could be lost: this one as a duplicate, the other one because it is not stored.
    """
    standings = session.standings
    worse = look.fate == "double" and 0 < look.by <= len(standings) and standings[look.by - 1] < standings[number - 1]
    return look.model_copy(update={"fate": "stands"}) if worse else look


async def _story(ctx: RecallContext, session: Session, said: Story, session_id: str) -> Checked | None:
    """Return the checked hand-over in the model's reply; None if the session is unknown."""
    known = await sessions.get(ctx.database, session_id)
    if known is None:
        return None
    end = (await sessions.position(ctx.database, known.transcript, session_id)).position
    typed = [note.content for note in session.notes if note.said_by == Origin.USER]
    offline, sketch = Handover.from_json(known.handover), Sketch.from_json(session.sketch)
    transcript = Transcript(Path(known.transcript), end)
    return await asyncio.to_thread(examined, said, offline, sketch, transcript, typed)


async def _retell(tx: aiosqlite.Connection, session_id: str, session: Session, story: Checked, by: str) -> None:
    """Replace a session's hand-over with the one that a model wrote, unless the session has continued since."""
    if story.refused:
        log.info("session %s: the summary that the model wrote is not used: %s", session_id, story.refused)
        return
    told = sessions.ModelStory(story.title, story.tags, story.handover.to_json(), story.handover.open)
    await sessions.save_model_story(tx, session_id, told, session.sketch, by)


async def release(ctx: RecallContext, session_id: str, where: Provenance) -> None:
    """Decide on captures that the model will not review: store the user's own words if the gate accepts them.

    All other captures wait for a person.
    """
    async with ctx.database.write() as tx:
        for one in await second_looks.waiting_captures(tx, session_id):
            own = one.capture["origin"] == Origin.USER and one.decision is Decision.AUTO
            await _pass(ctx, tx, one if own else replace(one, decision=Decision.REVIEW, reservation=UNSAID), where)
        await second_looks.finish(tx, session_id, {})
        await hold_cap(tx, session_id, ctx.settings)


async def _settle(
    ctx: RecallContext,
    tx: aiosqlite.Connection,
    one: WaitingCapture,
    look: Look | None,
    where: Provenance,
    notes: Sequence[Note],
) -> str:
    """Discard a capture, store it or leave it to a person; return why it was rejected, or ""."""
    content = one.capture["content"]
    if look is not None and (why := second_look.refusal(look, content)):
        await decisions.displace(tx, one.capture["id"], f"{REFUSED}: {why}{_instead(look, notes)}")
        await unconfirmed.set_reservation(tx, one.capture["id"], REFUSED)
        return why
    if look is None or not second_look.vouches(look):
        await _pass(ctx, tx, replace(one, decision=Decision.REVIEW, reservation=UNSAID), where)
        return ""
    await _pass(ctx, tx, _vouched(one, ctx.settings.review_threshold), where)
    return ""


def _vouched(one: WaitingCapture, least: float) -> WaitingCapture:
    """Raise a confirmed capture's confidence to at least ``least``: the model's review replaces a person's."""
    return replace(one, capture=one.capture | {"confidence": max(one.capture["confidence"], least)})


def _instead(look: Look, notes: Sequence[Note]) -> str:
    return f' ("{notes[look.by - 1].content[:120]}")' if look.fate != "stands" and 0 < look.by <= len(notes) else ""


async def _pass(ctx: RecallContext, tx: aiosqlite.Connection, one: WaitingCapture, where: Provenance) -> None:
    """Apply the gate's original decision to a capture, after comparing the capture with what is stored now."""
    capture = one.capture
    candidate = candidate_from(capture)
    gate = Admission(one.decision, capture["confidence"], capture["reason"], reservation=one.reservation)
    admission = replace(await last_word(ctx, (candidate, gate), where), reservation=one.reservation)
    await decisions.reword(tx, capture, candidate, admission, ctx.settings.review_expiry_days)
    await admit_memory(ctx, tx, capture["id"], (candidate, admission), where)


async def _replaced(
    ctx: RecallContext, tx: aiosqlite.Connection, capture_id: int, look: Look | None, session: Session, by: str
) -> list[int]:
    """Link the memory made from a capture to the memories that it replaces or relates to.

    Return the new memory's id in a list; [] if the capture is not a memory.
    """
    capture = await captures.require(tx, capture_id)
    memory = await memories.find(tx, capture["memory_id"]) if capture["memory_id"] is not None else None
    if memory is None:
        return []
    for number in look.replaces if look and ctx.settings.links else ():
        if number in session.stored and number != memory.id:
            found = _Bears(memory, session.stored[number], "SUPERSEDES", memory.evidence)
            await _link(ctx, tx, found, memory.session_id, by)
    for bearing in look.links if look and ctx.settings.links else ():
        other = session.stored.get(bearing.id)
        if other is not None and other.id != memory.id and _is_valid(bearing, memory, other):
            ends = (other, memory) if bearing.direction == opinions.BACKWARD else (memory, other)
            await _link(ctx, tx, _Bears(*ends, bearing.type, bearing.quote), memory.session_id, by)
    return [memory.id]


async def _take_place(tx: aiosqlite.Connection, session_id: str, capture_id: int) -> None:
    """Retire the unconfirmed memories that the rules made from the same quote: the model's wording is better."""
    capture = await captures.require(tx, capture_id)
    passed = capture["memory_id"] is not None or (capture["status"] == "review" and capture["reservation"] == "")
    if not passed:
        return
    for other in await captures.of_session(tx, session_id):
        memory_id = other["memory_id"]
        if memory_id is None or other["status"] != "review" or other["id"] == capture_id:
            continue
        if not other["extractor"].startswith((MODELS, *COUNTED)) and _one_quote(other, capture):
            await confirmation.retire(tx, [memory_id], f"capture {capture_id} says it better")


@dataclass(frozen=True, slots=True)
class _Bears:
    """A relation between two memories, and its evidence."""

    source: Memory
    target: Memory
    type: str
    evidence: str


def _is_valid(said: second_look.Bearing, memory: Memory, other: Memory) -> bool:
    opinion = opinions.Opinion(
        number=said.id, type=said.type, direction=said.direction, confidence=SURE, quote=said.quote
    )
    return opinions.valid(opinion, memory, other) and said.type != opinions.NONE


async def _link(ctx: RecallContext, tx: aiosqlite.Connection, found: _Bears, session_id: str | None, by: str) -> None:
    """Link two memories that are not linked yet; the link is active or only proposed (see ``status_for``)."""
    if await links.between(tx, found.source.id, found.target.id):
        return
    status = status_for(found.type, SURE, found.source, found.target, ctx.settings)
    evidence = " ".join(found.evidence.split())
    link = Link(0, found.source.id, found.target.id, found.type, status, SURE, by, evidence, time())
    made = await links.add(tx, link, by, session_id=session_id)
    if made is not None:
        await takeovers.record(tx, made, found.source, found.target, time())


async def _mend(
    tx: aiosqlite.Connection,
    capture: Capture,
    look: Look,
    notes: Sequence[Note],
    number: int,
    expiry_days: float,
) -> None:
    """Discard or reword a waiting capture that rules found; don't change statements of the user or stored captures."""
    fresh = await captures.require(tx, int(str(capture["id"])))
    if fresh["status"] not in MENDABLE or fresh["origin"] == Origin.USER or fresh["level"] != Level.NONE:
        return
    if look.fate in second_look.FATES or look.entailed is False or look.instruction_like or look.useless:
        why = second_look.refusal(look, fresh["content"])
        await decisions.displace(tx, fresh["id"], f"{REFUSED}: {why}{_instead(look, notes)}")
    elif fresh["reservation"] and (words := second_look.reworded(look, notes[number - 1])):
        # Only a capture that must not be shown yet is reworded, because the new wording is unchecked.
        candidate = replace(candidate_from(fresh), content=words, summary=shorten(words, SUMMARY_LENGTH))
        admission = Admission(Decision.REVIEW, fresh["confidence"], fresh["reason"], reservation=fresh["reservation"])
        await decisions.reword(tx, fresh, candidate, admission, expiry_days)
