"""The end of a session with a model: what was found is looked at a second time, against all of it and what is stored.

It stands in for the person who does not review. What fails is discarded with its reason; what passes becomes what the
gate had said of it; what is not vouched for waits for a person, as it would without a model.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import time
from typing import Any

import aiosqlite

from subconscious.capture import second_look
from subconscious.capture.second_look import Look, Looks, Note
from subconscious.capture.wording import SUMMARY_LENGTH, shorten
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import Judged, Provenance, admit_memory, hold_cap, last_word
from subconscious.links import opinions
from subconscious.links.gate import standing
from subconscious.model import Admission, Decision, Level, Link, Memory, Origin
from subconscious.providers import Request
from subconscious.search.engines import projects_of
from subconscious.search.words import terms
from subconscious.store import captures, decisions, full_text, links, memories, second_looks, sessions, unconfirmed
from subconscious.store.capture_rows import candidate_of
from subconscious.store.second_looks import AWAITS, Awaited
from subconscious.summaries import Handover, Sketch, Transcript
from subconscious.summaries.story import Checked, examined, record_of

log = logging.getLogger("subconscious.flow")

NEIGHBOURS = 4
"""Memories a note that the model is shown beside it."""

UNSAID = "no second look vouches for it"
REFUSED = "the second look refused it"

SURE = 0.95
"""Confidence of a link that the second look found; whose words the two are decides whether it counts."""

MENDABLE = ("review", "unconfirmed")


def held(judged: Judged) -> Judged:
    """Let what a model found wait for its second look; what is refused or set apart needs none."""
    candidate, admission = judged
    if admission.decision not in (Decision.AUTO, Decision.REVIEW):
        return judged
    return candidate, replace(admission, decision=Decision.REVIEW, reservation=AWAITS)


def without(judged: Iterable[Judged]) -> list[Judged]:
    """Judge candidates that get no second look: what no person said is given to nobody before one reviews it."""
    return [
        (candidate, admission if candidate.origin is Origin.USER else _unlooked(admission))
        for candidate, admission in judged
    ]


def _unlooked(admission: Admission) -> Admission:
    return replace(admission, reservation=admission.reservation or UNSAID)


async def expect(tx: aiosqlite.Connection, capture_ids: Sequence[int], gate: Admission, before: str) -> None:
    """Note what the gate had said of captures that wait for their second look."""
    for capture_id in capture_ids:
        await second_looks.expect(tx, capture_id, gate.decision, gate.reservation, before)


@dataclass(frozen=True, slots=True)
class Session:
    """What a session has brought: what awaits the second look, then what was found without a model.

    ``sketch`` is what the session's story is told from, as it was stored; "" where no story is wanted.
    """

    awaited: tuple[Awaited, ...]
    others: tuple[dict[str, object], ...]
    stored: dict[int, Memory]
    sketch: str = ""

    @property
    def record(self) -> dict[str, Any]:
        """What a model is shown of the session as a whole; {} where there is nothing to tell of it."""
        return record_of(Sketch.from_json(self.sketch)) if self.sketch else {}

    @property
    def notes(self) -> list[Note]:
        """What is shown, in the order in which it is numbered."""
        looked = [_note(one.capture, one.before) for one in self.awaited]
        return [*looked, *(_note(one) for one in self.others)][: second_look.MOST]


def _note(capture: dict[str, object], before: str = "") -> Note:
    content, kind, quote, said_by = (str(capture[name]) for name in ("content", "kind", "evidence", "origin"))
    return Note(content, kind, quote, said_by, before)


async def gather(mind: Mind, session_id: str, project_id: str) -> Session:
    """Collect a session's candidates, and the memories that they may repeat or replace."""
    async with mind.database.write() as tx:
        awaited = await second_looks.awaited(tx, session_id)
    known = await captures.listing(mind.database, session_id=session_id, limit=10_000)
    mine = {one.capture["id"] for one in awaited}
    others = [one for one in known if one["status"] in ("captured", *MENDABLE) and one["id"] not in mine]
    stored = await _stored(mind, [one.capture for one in awaited], project_id)
    bound = {one["memory_id"] for one in others}
    new = {number: one for number, one in stored.items() if number not in bound}
    sketch = await sessions.sketch_to_retell(mind.database, session_id) if _tells_stories(mind) else ""
    return Session(tuple(awaited), tuple(others), new, sketch)


def _tells_stories(mind: Mind) -> bool:
    return mind.settings.summaries and mind.settings.handover


async def _stored(mind: Mind, found: Sequence[dict[str, object]], project_id: str) -> dict[int, Memory]:
    near: dict[int, float] = {}
    for capture in found:
        words = terms(str(capture["content"]))
        near |= dict(await full_text.search(mind.database, words, projects_of(project_id), NEIGHBOURS))
    ranked = sorted(near, key=lambda number: -near[number])[: second_look.MOST_STORED]
    return await memories.get_many(mind.database, ranked)


def ask(session: Session) -> Request:
    """Make the one question about a session."""
    stored = {number: one.content for number, one in session.stored.items()}
    return second_look.request(session.notes, stored, opinions.types(), session.record)


async def apply(mind: Mind, session: Session, answer: Looks, where: Provenance, by: str) -> list[int]:
    """Let the second look count, as one transaction; return the memories that are in force by it."""
    said = second_look.entries(answer, len(session.notes))
    session_id = where.place.session_id or ""
    made: list[int] = []
    story = await _story(mind, session, answer.story, session_id) if session.record else None
    async with mind.database.write() as tx:
        still = {one.capture["id"]: one for one in await second_looks.awaited(tx, session_id)}
        verdicts = {}
        for number, one in enumerate(session.awaited, start=1):
            capture_id = one.capture["id"]
            if capture_id in still:
                look = said.get(number)
                verdicts[capture_id] = await _settle(mind, tx, still[capture_id], look, where, session.notes)
                made += await _replaced(mind, tx, capture_id, look, session, by)
        for number, other in enumerate(session.others, start=len(session.awaited) + 1):
            if look := said.get(number):
                await _mend(tx, other, look, session.notes, number, mind.settings.review_expiry_days)
        await second_looks.done(tx, session_id, verdicts)
        if story is not None:
            await _retell(tx, session_id, session, story, by)
        await hold_cap(tx, session_id, mind.settings)
    return made


async def _story(mind: Mind, session: Session, said: second_look.Story, session_id: str) -> Checked | None:
    """Examine the story of a session; None where the session is unknown."""
    known = await sessions.get(mind.database, session_id)
    if known is None:
        return None
    end = (await sessions.position(mind.database, known.transcript, session_id)).position
    typed = [note.content for note in session.notes if note.said_by == Origin.USER]
    offline, sketch = Handover.from_json(known.handover), Sketch.from_json(session.sketch)
    transcript = Transcript(Path(known.transcript), end)
    return await asyncio.to_thread(examined, said, offline, sketch, transcript, typed)


async def _retell(tx: aiosqlite.Connection, session_id: str, session: Session, story: Checked, by: str) -> None:
    """Keep a story in place of the one that was told offline; what the session gained meanwhile comes first."""
    if story.refused:
        log.info("session %s: the story of the model is not used: %s", session_id, story.refused)
        return
    told = sessions.Retold(story.title, story.tags, story.handover.to_json(), story.handover.open)
    await sessions.retell_by_model(tx, session_id, told, session.sketch, by)


async def release(mind: Mind, session_id: str, where: Provenance) -> None:
    """No second look will come: what waits for it waits for a person, the user's own words are what the gate said."""
    async with mind.database.write() as tx:
        for one in await second_looks.awaited(tx, session_id):
            own = one.capture["origin"] == Origin.USER and one.decision is Decision.AUTO
            await _pass(mind, tx, one if own else replace(one, decision=Decision.REVIEW, reservation=UNSAID), where)
        await second_looks.done(tx, session_id, {})
        await hold_cap(tx, session_id, mind.settings)


async def _settle(
    mind: Mind, tx: aiosqlite.Connection, one: Awaited, look: Look | None, where: Provenance, notes: Sequence[Note]
) -> str:
    """Discard, store or leave to a person what awaited its second look; return why it was refused, or ""."""
    content = one.capture["content"]
    if look is not None and (why := second_look.refusal(look, content)):
        await decisions.displace(tx, one.capture["id"], f"{REFUSED}: {why}{_instead(look, notes)}")
        await unconfirmed.note(tx, one.capture["id"], REFUSED)
        return why
    if look is None or not second_look.vouches(look):
        await _pass(mind, tx, replace(one, decision=Decision.REVIEW, reservation=UNSAID), where)
        return ""
    await _pass(mind, tx, _vouched(one, mind.settings.review_threshold), where)
    return ""


def _vouched(one: Awaited, least: float) -> Awaited:
    """Raise what passed to the confidence that is worth a person's look: the second look stands in for that person."""
    return replace(one, capture=one.capture | {"confidence": max(one.capture["confidence"], least)})


def _instead(look: Look, notes: Sequence[Note]) -> str:
    return f' ("{notes[look.by - 1].content[:120]}")' if look.fate != "stands" and 0 < look.by <= len(notes) else ""


async def _pass(mind: Mind, tx: aiosqlite.Connection, one: Awaited, where: Provenance) -> None:
    """Let a capture be what the gate had said of it; by now more may be known that speaks against it."""
    capture = one.capture
    candidate = candidate_of(capture)
    gate = Admission(one.decision, capture["confidence"], capture["reason"], reservation=one.reservation)
    admission = replace(await last_word(mind, (candidate, gate), where), reservation=one.reservation)
    await decisions.reword(tx, capture, candidate, admission, mind.settings.review_expiry_days)
    await admit_memory(mind, tx, capture["id"], (candidate, admission), where)


async def _replaced(
    mind: Mind, tx: aiosqlite.Connection, capture_id: int, look: Look | None, session: Session, by: str
) -> list[int]:
    """Link what was stored to the memories that it replaces; return it where it was."""
    capture = await captures.held(tx, capture_id)
    memory = await memories.found(tx, capture["memory_id"]) if capture["memory_id"] is not None else None
    if memory is None:
        return []
    for number in look.replaces if look and mind.settings.links else ():
        if number in session.stored and number != memory.id:
            found = _Bears(memory, session.stored[number], "SUPERSEDES", memory.evidence)
            await _link(mind, tx, found, memory.session_id, by)
    for bearing in look.links if look and mind.settings.links else ():
        other = session.stored.get(bearing.id)
        if other is not None and other.id != memory.id and _is_valid(bearing, memory, other):
            ends = (other, memory) if bearing.direction == opinions.BACKWARD else (memory, other)
            await _link(mind, tx, _Bears(*ends, bearing.type, bearing.quote), memory.session_id, by)
    return [memory.id]


@dataclass(frozen=True, slots=True)
class _Bears:
    """How two memories bear on each other, and what shows it."""

    source: Memory
    target: Memory
    type: str
    evidence: str


def _is_valid(said: second_look.Bearing, memory: Memory, other: Memory) -> bool:
    opinion = opinions.Opinion(
        number=said.id, type=said.type, direction=said.direction, confidence=SURE, quote=said.quote
    )
    return opinions.valid(opinion, memory, other) and said.type != opinions.NONE


async def _link(mind: Mind, tx: aiosqlite.Connection, found: _Bears, session_id: str | None, by: str) -> None:
    """Link two between which nothing stands; the less trusted only proposes to overturn the more trusted."""
    if await links.between(tx, found.source.id, found.target.id):
        return
    status = standing(found.type, SURE, found.source, found.target, mind.settings)
    evidence = " ".join(found.evidence.split())
    link = Link(0, found.source.id, found.target.id, found.type, status, SURE, by, evidence, time())
    await links.add(tx, link, by, session_id=session_id)


async def _mend(
    tx: aiosqlite.Connection,
    capture: dict[str, object],
    look: Look,
    notes: Sequence[Note],
    number: int,
    expiry_days: float,
) -> None:
    """Take out of the queue, or word better, what was found offline and no person said; what is stored stays."""
    fresh = await captures.held(tx, int(str(capture["id"])))
    if fresh["status"] not in MENDABLE or fresh["origin"] == Origin.USER or fresh["level"] != Level.NONE:
        return
    if look.fate in second_look.FATES or look.entailed is False or look.instruction_like:
        why = second_look.refusal(look, fresh["content"])
        await decisions.displace(tx, fresh["id"], f"{REFUSED}: {why}{_instead(look, notes)}")
    elif fresh["reservation"] and (words := second_look.reworded(look, notes[number - 1])):
        # What may be given as it stands needs no other words, which nobody has examined.
        candidate = replace(candidate_of(fresh), content=words, summary=shorten(words, SUMMARY_LENGTH))
        admission = Admission(Decision.REVIEW, fresh["confidence"], fresh["reason"], reservation=fresh["reservation"])
        await decisions.reword(tx, fresh, candidate, admission, expiry_days)
