"""Decides which waiting captures become unconfirmed memories, and which of these memories are shown to a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import time

import aiosqlite

from subconscious.capture import observing
from subconscious.capture.admission import Provenance, memory_of
from subconscious.capture.gate import is_below
from subconscious.capture.llm_extraction.origins import words
from subconscious.capture.session_limits import MOST_UNCONFIRMED, hold_cap
from subconscious.domain.errors import TranscriptError
from subconscious.domain.hits import EngineHit, Hit
from subconscious.domain.model import MODELS, Admission, Candidate, Decision, Memory, Origin, Role, Turn
from subconscious.failures.wording import found_path
from subconscious.poisoning.context import contradicts
from subconscious.poisoning.echo import Traced, trace
from subconscious.poisoning.gate import screen
from subconscious.poisoning.reservations import reservation
from subconscious.recall.engines import projects_of
from subconscious.recall.file_binding import Touched, bond
from subconscious.recall.ranking import decay_factor, with_relevance
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.relevance import QueryTerms
from subconscious.sessions.past_work import changed_since
from subconscious.settings.settings import Settings
from subconscious.store import decisions, full_text, memories, poison, sessions, surfaces, unconfirmed
from subconscious.store.capture_rows import SessionRef, candidate_from
from subconscious.store.filters import Filter
from subconscious.text.same_statement import differences
from subconscious.text.sentences import sentences
from subconscious.text.terms import terms
from subconscious.text.words import is_name
from subconscious.transcripts import State, read_turns
from subconscious.wire.captures import Capture

Bond = tuple[Memory, float]
"""A memory that belongs to a prompt or a file, and how strongly (0 to 1): the strength of the binding."""

NEIGHBOURS = 20
"""The maximum number of similar active memories that are searched for one that a statement contradicts."""

A_SESSION = 2
"""The maximum number of unconfirmed memories shown to one session; they are shown one at a time."""

OWN_WORDS = 1 / 3
"""The share of the relevance threshold that a statement of the user must reach to be shown with a prompt.

Findings must reach the whole threshold: in replayed sessions, three of four less relevant findings did not help. A
statement of the user is true, even if it was too vague to be stored.
"""

REVIEWED = 1 / 2
"""The share of the relevance threshold for findings that a model worded and then confirmed in the second look."""

BOND = 0.8
"""The minimum strength of the binding between a memory and a file at which the memory is shown with the file."""

NEAR_WORK = 0.4
"""The minimum cosine similarity between the session's prompt and a memory that is bound to a file."""

OVERTAKEN = 2
"""If at least this many later sessions changed a file, a memory about the file is probably outdated."""

WORK_LETTERS = 400

LOOKED_AT = 20

GONE = "its transcript can't be read any more"


async def settle_session(ctx: RecallContext, session_id: str) -> list[int]:
    """Make unconfirmed memories of a finished session's failures and waiting captures; return the memories' ids.

    Failures come first, then captures that a model found, then the other captures with the highest confidence.
    Statements of the user are counted separately, so they do not use up the limit for the rest.
    """
    if not ctx.settings.unconfirmed:
        return []
    async with ctx.database.write() as tx:
        found = [one for one in await unconfirmed.waiting(tx, session_id) if one["reservation"] == ""]
    found = [one for one in found if one["level"] == "none"]
    against = {one["id"]: await _contradicted(ctx, candidate_from(one), one["project_id"]) for one in found}
    session = await sessions.get(ctx.database, session_id)
    made: list[int] = []
    async with ctx.database.write() as tx:
        still = {one["id"] for one in await unconfirmed.waiting(tx, session_id)}
        places = MOST_UNCONFIRMED - await unconfirmed.count_made(tx, session_id)
        of_user = MOST_UNCONFIRMED - await unconfirmed.count_made(tx, session_id, typed=True)
        made += await observing.propose(ctx, tx, session_id, places)
        for capture in sorted(found, key=lambda one: (not candidate_from(one).by_model, -one["confidence"])):
            if capture["id"] not in still:
                continue
            if why := against[capture["id"]]:
                await _hold_back(tx, capture, why, ctx.settings)
                continue
            if candidate_from(capture).origin is Origin.USER:
                if of_user <= 0:
                    continue
                of_user, places = of_user - 1, places + 1  # does not use up the limit of the assistant's findings
            elif len(made) >= places and not await _make_room(tx, capture):
                continue
            place = SessionRef(capture["project_id"], session_id)
            where = Provenance(place, intent=session.first_prompt if session else "")
            admission = Admission(Decision.REVIEW, capture["confidence"], capture["reason"])
            memory = memory_of(candidate_from(capture), admission, where)
            made.append((await unconfirmed.insert(tx, capture["id"], memory)).id)
    return made


async def _make_room(tx: aiosqlite.Connection, capture: Capture) -> bool:
    """Retire the weakest memory that rules found, to make room for a model's capture; return whether there was one."""
    weakest = await unconfirmed.weakest(tx, capture["session_id"] or "") if candidate_from(capture).by_model else None
    if weakest is not None:
        await unconfirmed.retire(tx, weakest, "replaced by a capture that a second check by the model confirmed")
    return weakest is not None


async def give_at_once(ctx: RecallContext, capture: Capture, typed: Sequence[str], where: Provenance) -> Memory | None:
    """Make an unconfirmed memory of a statement that the assistant asked to remember, if the user has just typed it.

    The conditions are the same as at a session's end, but ``typed`` is the evidence instead of the transcript.
    """
    candidate = candidate_from(capture)
    said = any(_says(one, candidate.content) for text in typed for one in sentences(text))
    reserved = reservation(Traced(candidate, grounded=True), screen(candidate))
    if not ctx.settings.unconfirmed or not said or reserved:
        return None
    if await _contradicted(ctx, candidate, capture["project_id"]):
        return None
    async with ctx.database.write() as tx:
        waits = {one["id"]: one for one in await unconfirmed.waiting(tx, capture["session_id"] or "")}
        made = await unconfirmed.count_made(tx, capture["session_id"] or "")
        if capture["id"] not in waits or made >= MOST_UNCONFIRMED:
            return None
        await unconfirmed.set_reservation(tx, capture["id"], "")
        admission = Admission(Decision.REVIEW, capture["confidence"], capture["reason"])
        return await unconfirmed.insert(tx, capture["id"], memory_of(candidate, admission, where))


def _says(typed: str, content: str) -> bool:
    """Whether ``content`` says what was ``typed``: it adds no name or number, and at most one other word."""
    added = words(content) - words(typed)
    if len(added) > 1 or any(is_name(word) for word in added):
        return False
    return bool(words(content)) and not differences(content, typed)


async def _hold_back(tx: aiosqlite.Connection, capture: Capture, why: str, settings: Settings) -> None:
    """Leave a capture for a review, or discard it if its confidence is too low for one."""
    await unconfirmed.set_reservation(tx, capture["id"], why)
    if is_below(capture["confidence"], settings.review_threshold):
        await decisions.displace(tx, capture["id"], why)


async def _contradicted(ctx: RecallContext, candidate: Candidate, project_id: str) -> str:
    """Return a reason that names the active memory that a candidate contradicts; "" if it contradicts none."""
    near = await full_text.search(ctx.database, terms(candidate.content), projects_of(project_id), NEIGHBOURS)
    known = await memories.get_many(ctx.database, [number for number, _ in near])
    clash = next((one.id for one in known.values() if contradicts(candidate.content, one.content)), None)
    return f"it contradicts memory {clash}" if clash is not None else ""


async def examine(ctx: RecallContext, session_id: str) -> dict[str, int]:
    """Judge captures left waiting by an old version without unconfirmed memories; return the counts by outcome."""
    async with ctx.database.write() as tx:
        old = [one for one in await unconfirmed.waiting(tx, session_id) if one["reservation"] is None]
    if not old:
        return {}
    found = await asyncio.to_thread(_reservations, [candidate_from(one) for one in old])
    async with ctx.database.write() as tx:
        for capture, why in zip(old, found, strict=True):
            await unconfirmed.set_reservation(tx, capture["id"], why)
        await hold_cap(tx, session_id, ctx.settings)
    made = await settle_session(ctx, session_id)
    async with ctx.database.write() as tx:
        left = len(await unconfirmed.waiting(tx, session_id))
        counted = {"unconfirmed": len(made), "waiting": left, "discarded": max(0, len(old) - left - len(made))}
        await unconfirmed.record_rejudged(tx, old[0]["project_id"], counted)
    return counted


def _reservations(found: Sequence[Candidate]) -> list[str]:
    """Return why each candidate must not be shown yet, "" if it may be. Reads transcripts: run it in a thread."""
    turns = [turn_of(one) for one in found]
    readable = [one for one, turn in zip(found, turns, strict=True) if turn is not None]
    spoken = {turn.id for turn in turns if turn is not None and turn.role is Role.ASSISTANT and not turn.sidechain}
    said = iter(reservation(one, screen(one.candidate)) for one in trace(readable, spoken=spoken))
    return [GONE if turn is None else next(said) for turn in turns]


def turn_of(candidate: Candidate) -> Turn | None:
    """Return the turn that a stored candidate was taken from; None if it can't be read."""
    place = candidate.evidence
    try:
        turns = read_turns(Path(place.file), place.start, State(), max_bytes=1, final=True).turns if place.file else ()
    except (TranscriptError, OSError):
        return None
    return next((turn for turn in turns if turn.id == place.turn_id), None)


async def fitting(
    ctx: RecallContext, session_id: str, project_id: str, text: str, stored: Sequence[Hit] = ()
) -> list[Hit]:
    """Return a list with the unconfirmed memory or stored statement that is most relevant to a prompt, or [].

    ``stored`` has stored statements that the ordinary search found. They need only reach the threshold of unconfirmed
    memories, so that confirming a statement does not hide it, and count only towards the session's ordinary limits.
    """
    guesses = await found(ctx, text, project_id, LOOKED_AT) if await _may_be_given(ctx, session_id) else []
    hits = [*guesses, *(replace(hit, rank=hit.relevance) for hit in stored)]
    return await _best(ctx, [hit for hit in hits if hit.relevance >= least_relevance(ctx, hit.memory)])


def least_relevance(ctx: RecallContext, memory: Memory) -> float:
    """Return the minimum relevance to a prompt at which an unconfirmed memory is shown."""
    if memory.origin is Origin.USER:
        return ctx.settings.surface_relevance * OWN_WORDS
    return ctx.settings.surface_relevance * (REVIEWED if memory.extractor.startswith(MODELS) else 1.0)


async def bound(ctx: RecallContext, session_id: str, project_id: str, touched: Touched) -> list[Hit]:
    """Return a list with the unconfirmed memory most strongly bound to a file; [] if the session's limit is reached."""
    if not await _may_be_given(ctx, session_id):
        return []
    which = Filter(project_id, unconfirmed=True)
    named = await full_text.naming(ctx.database, touched.name, projects_of(project_id), LOOKED_AT, which)
    named = [memory for memory in named if found_path(memory.content) != touched.path]  # these only locate the file
    strengths = [(memory, bond(memory, touched)) for memory in named]
    nearness = await _cosines(ctx, touched.work[:WORK_LETTERS], [one.id for one in named]) if touched.work else {}
    changed = await changed_since(ctx, project_id, touched.name, named)
    now = time()
    hits = [
        Hit(memory, strength, decay_factor(ctx, memory, now), (EngineHit("file", 1, strength),), strength)
        for memory, strength in strengths
        if strength >= BOND and changed[memory.id] < OVERTAKEN and nearness.get(memory.id, 1.0) >= NEAR_WORK
    ]
    return await _best(ctx, hits)


async def about_failure(
    ctx: RecallContext, session_id: str, project_id: str, words: Sequence[str], sure: Callable[[Memory], float]
) -> list[Hit]:
    """Return a list with the unconfirmed memory most probably about a failure; [] if the session's limit is reached.

    ``words`` are searched for; ``sure`` returns the probability that a memory is about the failure. Memories of two
    sessions about the same failure confirm each other.
    """
    if not words or not await _may_be_given(ctx, session_id):
        return []
    which = Filter(project_id, unconfirmed=True)
    ranked = await full_text.search(ctx.database, words, projects_of(project_id), LOOKED_AT, which)
    known = await memories.get_many(ctx.database, [number for number, _ in ranked])
    now = time()
    hits = [
        Hit(memory, strength, decay_factor(ctx, memory, now), (EngineHit("error", 1, strength),), strength)
        for memory in known.values()
        if (strength := sure(memory)) >= ctx.settings.surface_relevance
    ]
    several = len({hit.memory.session_id for hit in hits}) > 1
    return await _best(ctx, hits, found_again=several)


async def one_at_a_time(ctx: RecallContext, session_id: str, bound: Sequence[Bond]) -> list[Bond]:
    """Return the bound memories; of the unconfirmed ones new to the session, only the first, if the limit allows."""
    if not any(memory.unconfirmed for memory, _ in bound):
        return list(bound)
    known = await surfaces.hashes_in_context(ctx.database, session_id)
    new = [memory.id for memory, _ in bound if memory.unconfirmed and memory.content_hash not in known]
    kept = new[: int(await _may_be_given(ctx, session_id))]
    return [(memory, strength) for memory, strength in bound if not memory.unconfirmed or memory.id in kept]


async def found(ctx: RecallContext, text: str, project_id: str | None, limit: int) -> list[Hit]:
    """Return the unconfirmed memories that share words with a text, the most relevant first."""
    if not (words := terms(text)):
        return []
    which = Filter(project_id, unconfirmed=True)
    ranked = await full_text.search(ctx.database, words, projects_of(project_id), limit, which)
    known = await memories.get_many(ctx.database, [number for number, _ in ranked])
    cosines = await _cosines(ctx, text, list(known))
    asked, now = QueryTerms.of(text), time()
    hits = []
    for place, (number, score) in enumerate(ranked, 1):
        engines = [EngineHit("text", place, score)]
        engines += [EngineHit("vector", place, cosines[number])] if number in cosines else []
        hits.append(
            with_relevance(asked, Hit(known[number], 0.0, decay_factor(ctx, known[number], now), tuple(engines)))
        )
    return sorted((replace(hit, rank=hit.relevance) for hit in hits), key=lambda hit: -hit.score)


async def _cosines(ctx: RecallContext, text: str, ids: Sequence[int]) -> dict[int, float]:
    """Return the cosines of unconfirmed memories to a text, by id. No index has them, so stored vectors are read."""
    vector = await ctx.embed(text) if ids else None
    if vector is None:
        return {}
    from subconscious.store import vectors  # not at the top of the module: it imports numpy, which takes 0.1 s

    near = await vectors.stored_vectors(ctx.database, ids)
    return {number: float(vector @ one) for number, one in near.items() if len(one) == len(vector)}


async def _may_be_given(ctx: RecallContext, session_id: str) -> bool:
    return ctx.settings.unconfirmed and await unconfirmed.count_given(ctx.database, session_id) < A_SESSION


async def _best(ctx: RecallContext, hits: Sequence[Hit], *, found_again: bool = False) -> list[Hit]:
    """Return a list with the best hit, or []. Memories that a later poisoning check flagged are left out.

    Memories with a confidence below the review threshold are left out until another session finds the same
    (``found_again``): in replayed sessions they misled as often as they helped.
    """
    flagged = await poison.levels(ctx.database, [hit.memory.id for hit in hits])
    sure = [hit for hit in hits if found_again or not is_below(hit.memory.confidence, ctx.settings.review_threshold)]
    fine = [hit for hit in sure if hit.memory.id not in flagged]
    return sorted(fine, key=lambda hit: (-hit.score, -hit.memory.id))[:1]
