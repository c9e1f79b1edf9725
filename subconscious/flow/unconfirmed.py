"""Which captures that wait become unconfirmed memories, and which of these a session is given."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

import aiosqlite

from subconscious.capture.gate import is_below
from subconscious.capture.origins import words
from subconscious.capture.sentences import sentences
from subconscious.errors import TranscriptError
from subconscious.flow import observing
from subconscious.flow.mind import Mind
from subconscious.flow.past_work import changed_since
from subconscious.flow.recalling import fade, weighed
from subconscious.flow.remembering import MOST_UNCONFIRMED, Provenance, hold_cap, memory_of
from subconscious.model import Admission, Candidate, Decision, EngineHit, Hit, Memory, Role, Turn
from subconscious.poisoning.context import contradicts
from subconscious.poisoning.echo import Traced, trace
from subconscious.poisoning.gate import screen
from subconscious.poisoning.reservations import reservation
from subconscious.search.engines import projects_of
from subconscious.search.relevance import Asked
from subconscious.search.words import terms
from subconscious.settings import Settings
from subconscious.store import decisions, full_text, memories, poison, sessions, unconfirmed
from subconscious.store.capture_rows import Place, candidate_of
from subconscious.store.filters import Filter
from subconscious.surfacing.files import Touched, bond
from subconscious.text.same_statement import differences
from subconscious.text.words import is_name
from subconscious.transcripts import State, read_turns

Capture = dict[str, Any]

NEIGHBOURS = 20
"""Memories in force, the nearest, that a statement must not contradict."""

A_SESSION = 2
"""Unconfirmed memories that one session is given, each alone."""

RELEVANCE = 0.75
"""Relevance to a prompt from which one is given: more than what is in force needs."""

BOND = 0.8
"""How firmly one must be bound to a file to be given with it."""

NEAR_WORK = 0.4
"""Cosine to the session's prompt from which one that is bound to a file is about the work."""

OVERTAKEN = 2
"""Later sessions that changed its file from which one is likely to be outdated."""

WORK_LETTERS = 400

LOOKED_AT = 20

GONE = "its transcript can't be read any more"


async def settle_session(mind: Mind, session_id: str) -> list[int]:
    """Make unconfirmed memories of a session that is over: of failures first, then of the best of what waits.

    Returns their ids.
    """
    if not mind.settings.unconfirmed:
        return []
    async with mind.database.write() as tx:
        found = [one for one in await unconfirmed.waiting(tx, session_id) if one["reservation"] == ""]
    found = [one for one in found if one["level"] == "none"]
    against = {one["id"]: await _contradicted(mind, candidate_of(one), one["project_id"]) for one in found}
    session = await sessions.get(mind.database, session_id)
    made: list[int] = []
    async with mind.database.write() as tx:
        still = {one["id"] for one in await unconfirmed.waiting(tx, session_id)}
        places = MOST_UNCONFIRMED - await unconfirmed.made_of(tx, session_id)
        made += await observing.propose(mind, tx, session_id, places)
        for capture in sorted(found, key=lambda one: (not candidate_of(one).by_model, -one["confidence"])):
            if capture["id"] not in still:
                continue
            if why := against[capture["id"]]:
                await _hold_back(tx, capture, why, mind.settings)
                continue
            if len(made) >= places and not await _make_room(tx, capture):
                continue
            place = Place(capture["project_id"], session_id)
            where = Provenance(place, intent=session.first_prompt if session else "")
            admission = Admission(Decision.REVIEW, capture["confidence"], capture["reason"])
            memory = memory_of(candidate_of(capture), admission, where)
            made.append((await unconfirmed.make(tx, capture["id"], memory)).id)
    return made


async def _make_room(tx: aiosqlite.Connection, capture: Capture) -> bool:
    """Whether an unconfirmed memory that the rules made gives way to what a second look vouches for.

    That look comes after the session's end, when the rules have filled all places already.
    """
    weakest = await unconfirmed.weakest(tx, capture["session_id"]) if candidate_of(capture).by_model else None
    if weakest is not None:
        await unconfirmed.retire(tx, weakest, "what a second look vouches for took its place")
    return weakest is not None


async def give_at_once(mind: Mind, capture: Capture, typed: Sequence[str], where: Provenance) -> Memory | None:
    """Make an unconfirmed memory of what the assistant asked to have remembered, if what a person just typed says it.

    The same bars hold as for what is found at a session's end, but for what its transcript says: the person's words are
    the ground.
    """
    candidate = candidate_of(capture)
    said = any(_says(one, candidate.content) for text in typed for one in sentences(text))
    reserved = reservation(Traced(candidate, grounded=True), screen(candidate))
    if not mind.settings.unconfirmed or not said or reserved:
        return None
    if await _contradicted(mind, candidate, capture["project_id"]):
        return None
    async with mind.database.write() as tx:
        waits = {one["id"]: one for one in await unconfirmed.waiting(tx, capture["session_id"])}
        made = await unconfirmed.made_of(tx, capture["session_id"])
        if capture["id"] not in waits or made >= MOST_UNCONFIRMED:
            return None
        await unconfirmed.note(tx, capture["id"], "")
        admission = Admission(Decision.REVIEW, capture["confidence"], capture["reason"])
        return await unconfirmed.make(tx, capture["id"], memory_of(candidate, admission, where))


def _says(typed: str, content: str) -> bool:
    """Whether a typed sentence says what the assistant makes of it: no other name or number, one other word at most."""
    added = words(content) - words(typed)
    if len(added) > 1 or any(is_name(word) for word in added):
        return False
    return bool(words(content)) and not differences(content, typed)


async def _hold_back(tx: aiosqlite.Connection, capture: dict[str, Any], why: str, settings: Settings) -> None:
    """Leave a capture to a person, or discard it where it is not worth a person's look."""
    await unconfirmed.note(tx, capture["id"], why)
    if is_below(capture["confidence"], settings.review_threshold):
        await decisions.displace(tx, capture["id"], why)


async def _contradicted(mind: Mind, candidate: Candidate, project_id: str) -> str:
    """Say which memory in force a candidate contradicts, or ""."""
    near = await full_text.search(mind.database, terms(candidate.content), projects_of(project_id), NEIGHBOURS)
    known = await memories.get_many(mind.database, [number for number, _ in near])
    clash = next((one.id for one in known.values() if contradicts(candidate.content, one.content)), None)
    return f"it contradicts memory {clash}" if clash is not None else ""


async def examine(mind: Mind, session_id: str) -> dict[str, int]:
    """Judge what waited of a session before this state was introduced; return what became of it, counted."""
    async with mind.database.write() as tx:
        old = [one for one in await unconfirmed.waiting(tx, session_id) if one["reservation"] is None]
    if not old:
        return {}
    found = await asyncio.to_thread(_reservations, [candidate_of(one) for one in old])
    async with mind.database.write() as tx:
        for capture, why in zip(old, found, strict=True):
            await unconfirmed.note(tx, capture["id"], why)
        await hold_cap(tx, session_id, mind.settings)
    made = await settle_session(mind, session_id)
    async with mind.database.write() as tx:
        left = len(await unconfirmed.waiting(tx, session_id))
        counted = {"unconfirmed": len(made), "waiting": left, "discarded": max(0, len(old) - left - len(made))}
        await unconfirmed.tell(tx, old[0]["project_id"], counted)
    return counted


def _reservations(found: Sequence[Candidate]) -> list[str]:
    """Examine stored candidates again. Reads their transcripts: run it in a thread."""
    turns = [_turn_of(one) for one in found]
    readable = [one for one, turn in zip(found, turns, strict=True) if turn is not None]
    spoken = {turn.id for turn in turns if turn is not None and turn.role is Role.ASSISTANT and not turn.sidechain}
    said = iter(reservation(one, screen(one.candidate)) for one in trace(readable, spoken=spoken))
    return [GONE if turn is None else next(said) for turn in turns]


def _turn_of(candidate: Candidate) -> Turn | None:
    """Read again what a stored candidate was taken from; None where that can't be read any more."""
    place = candidate.evidence
    try:
        turns = read_turns(Path(place.file), place.start, State(), max_bytes=1, final=True).turns if place.file else ()
    except (TranscriptError, OSError):
        return None
    return next((turn for turn in turns if turn.id == place.turn_id), None)


async def fitting(mind: Mind, session_id: str, project_id: str, text: str) -> list[Hit]:
    """Return the unconfirmed memory that fits a prompt best, if one fits well and the session may be given one."""
    if not await _may_be_given(mind, session_id):
        return []
    hits = [hit for hit in await found(mind, text, project_id, LOOKED_AT) if hit.relevance >= RELEVANCE]
    return await _best(mind, hits)


async def bound(mind: Mind, session_id: str, project_id: str, touched: Touched) -> list[Hit]:
    """Return the unconfirmed memory that is bound to a file most firmly, on the same conditions."""
    if not await _may_be_given(mind, session_id):
        return []
    which = Filter(project_id, unconfirmed=True)
    named = await full_text.naming(mind.database, touched.name, projects_of(project_id), LOOKED_AT, which)
    strengths = [(memory, bond(memory, touched)) for memory in named]
    nearness = await _cosines(mind, touched.work[:WORK_LETTERS], [one.id for one in named]) if touched.work else {}
    changed = await changed_since(mind, project_id, touched.name, named)
    now = time()
    hits = [
        Hit(memory, strength, fade(mind, memory, now), (EngineHit("file", 1, strength),), strength)
        for memory, strength in strengths
        if strength >= BOND and changed[memory.id] < OVERTAKEN and nearness.get(memory.id, 1.0) >= NEAR_WORK
    ]
    return await _best(mind, hits)


async def found(mind: Mind, text: str, project_id: str | None, limit: int) -> list[Hit]:
    """Return the unconfirmed memories that share words with a text, the most relevant first."""
    if not (words := terms(text)):
        return []
    which = Filter(project_id, unconfirmed=True)
    ranked = await full_text.search(mind.database, words, projects_of(project_id), limit, which)
    known = await memories.get_many(mind.database, [number for number, _ in ranked])
    cosines = await _cosines(mind, text, list(known))
    asked, now = Asked.of(text), time()
    hits = []
    for place, (number, score) in enumerate(ranked, 1):
        engines = [EngineHit("text", place, score)]
        engines += [EngineHit("vector", place, cosines[number])] if number in cosines else []
        hits.append(weighed(asked, Hit(known[number], 0.0, fade(mind, known[number], now), tuple(engines))))
    return sorted((replace(hit, rank=hit.relevance) for hit in hits), key=lambda hit: -hit.score)


async def _cosines(mind: Mind, text: str, ids: Sequence[int]) -> dict[int, float]:
    """How near these memories are to a text by meaning; they are in no index, so their vectors are read one by one."""
    vector = await mind.embed(text) if ids else None
    if vector is None:
        return {}
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    near = await vectors.stored(mind.database, ids)
    return {number: float(vector @ one) for number, one in near.items() if len(one) == len(vector)}


async def _may_be_given(mind: Mind, session_id: str) -> bool:
    return mind.settings.unconfirmed and await unconfirmed.given_to(mind.database, session_id) < A_SESSION


async def _best(mind: Mind, hits: Sequence[Hit]) -> list[Hit]:
    """Return the best hit as a list, leaving out what a later check has flagged.

    What was not worth a person's look is left out too until another session finds it: replayed sessions gain nothing
    by it.
    """
    flagged = await poison.levels(mind.database, [hit.memory.id for hit in hits])
    sure = [hit for hit in hits if not is_below(hit.memory.confidence, mind.settings.review_threshold)]
    fine = [hit for hit in sure if hit.memory.id not in flagged]
    return sorted(fine, key=lambda hit: (-hit.score, -hit.memory.id))[:1]
