"""Stores evaluated candidates as memories, as captures that wait for review, or as repetitions of known memories."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time

import aiosqlite

from subconscious.capture import habits
from subconscious.capture.session_limits import hold_cap
from subconscious.claude_files.known_statements import KnownStatements
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Admission, Candidate, Decision, Judged, Memory, Origin, Scope
from subconscious.poisoning.context import with_context
from subconscious.poisoning.gate import apply_verdict, screen
from subconscious.recall.engines import projects_of
from subconscious.recall.recall_context import RecallContext
from subconscious.store import captures, decisions, full_text, memories, poison, surfaces
from subconscious.store.capture_rows import SessionRef
from subconscious.store.rows import content_hash
from subconscious.supersession import merging, succession
from subconscious.supersession.merging import ECHO, Repeats
from subconscious.supersession.reproaches import AT_ONCE
from subconscious.text.claims import replaces
from subconscious.text.terms import terms

NEIGHBOURS = 5
"""The maximum number of similar memories that a statement is compared with, if the statement is not the user's."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a candidate comes from: project and session (``place``), commit, agent and actor.

    ``intent`` is the session's first prompt. ``verified`` means that the user asked for the memory or approved it.
    """

    place: SessionRef
    commit: str = ""
    intent: str = ""
    agent: str = "claude-code"
    actor: str = "daemon"
    verified: bool = False


async def keep(
    ctx: RecallContext,
    tx: aiosqlite.Connection,
    judged: Sequence[Judged],
    where: Provenance,
    repeats: Repeats | None = None,
) -> list[tuple[int, Memory | None]]:
    """Store candidates in the caller's transaction; return the ids of new captures, each with its memory or None.

    ``repeats`` has the memories and captures that the candidates repeat; None if the caller has not looked them up.
    """
    kept = []
    found = repeats or Repeats()
    told = {} if where.verified else await asyncio.to_thread(_told_elsewhere, ctx.client_texts, judged)
    for candidate, stated in judged:
        admission = await last_word(ctx, (candidate, stated), where)
        if candidate.content in told and candidate.content not in found.memories:
            reason = f"{told[candidate.content]} states it already"
            admission = replace(admission, decision=Decision.DISCARD, reason=reason)
        admission = merging.made_certain(candidate, admission, found)
        admission = await habits.judge(tx, candidate, admission, where.place, ctx.settings)
        if candidate in found and not await captures.is_known(tx, candidate):
            given = await _given(ctx, where)
            said_in = where.place.session_id
            admission = await merging.weighed(ctx, tx, (candidate, admission), said_in, given, found)
        expiry = ctx.settings.review_expiry_days
        capture_id = await captures.insert(tx, candidate, admission, where.place, expiry, where.actor)
        if capture_id is not None:
            memory = await admit_memory(ctx, tx, capture_id, (candidate, admission), where, found)
            if memory is not None:
                await habits.settle(tx, candidate, memory, where.place.project_id)
            kept.append((capture_id, memory))
            if candidate.origin is Origin.USER and stated.decision in merging.KEPT:
                await _note_violation(tx, candidate, memory, where, found)
    if kept and where.place.session_id:
        await hold_cap(tx, where.place.session_id, ctx.settings)
    return kept


def _told_elsewhere(elsewhere: KnownStatements, judged: Sequence[Judged]) -> dict[str, str]:
    """Map the contents of candidates to the files that already state them: files that the client loads or Claude wrote.

    Flagged candidates are left out, because they are quarantined or reviewed. CPU-bound: run it in a thread.
    """
    kept = [one for one in judged if one[1].decision in merging.KEPT and not merging.is_flagged(one[1])]
    sources = {candidate.content: elsewhere.source(candidate.content) for candidate, _ in kept}
    return {content: source for content, source in sources.items() if source}


async def _note_violation(
    tx: aiosqlite.Connection, candidate: Candidate, memory: Memory | None, where: Provenance, found: Repeats
) -> None:
    """Record a violation of a memory if the user repeats its statement after the memory was injected into the session.

    ``memory`` is the new or equivalent memory of the candidate; None if the candidate waits for review or repeats a
    known memory. A memory that was injected with the very prompt that repeats it does not count.
    """
    session, number = where.place.session_id, found.memories.get(candidate.content, (0, 0.0))[0]
    earlier = await memories.find(tx, number) if number else None
    says_it = [one for one in (memory, earlier) if one is not None]
    hashes = {one.content_hash for one in says_it}
    if session and says_it and await surfaces.was_given(tx, session, hashes, candidate.time - AT_ONCE):
        await memories.record_violation(tx, says_it[0].id, session)


async def last_word(ctx: RecallContext, judged: Judged, where: Provenance) -> Admission:
    """Return the final decision on a candidate after comparing it with stored memories. Call it right before storing.

    A candidate that repeats a memory in the session's context is discarded, unless the user said it.
    """
    candidate, stated = judged
    admission = await _in_context(ctx, candidate, stated, where)
    if candidate.origin is not Origin.USER and content_hash(candidate.content) in await _given(ctx, where):
        return replace(admission, decision=Decision.DISCARD, reason=ECHO)
    return admission


async def _given(ctx: RecallContext, where: Provenance) -> set[str]:
    """Return the hashes of memories injected into the session; an empty set if the user asked for the memory."""
    return set() if where.verified else await surfaces.given_hashes(ctx.database, where.place.session_id or "")


async def _in_context(ctx: RecallContext, candidate: Candidate, admission: Admission, where: Provenance) -> Admission:
    """Apply the poisoning check, using related memories and examples from `reject --teach`; return the new decision."""
    if not ctx.settings.poisoning:
        return admission
    verdict = admission.verdict or screen(candidate)
    known: list[Memory] = []
    if candidate.origin is not Origin.USER and admission.decision is Decision.AUTO:
        found = await full_text.search(
            ctx.database, terms(candidate.content), projects_of(where.place.project_id), NEIGHBOURS
        )
        known = list((await memories.get_many(ctx.database, [number for number, _ in found])).values())
    return apply_verdict(admission, with_context(candidate, verdict, known, await poison.lessons(ctx.database)))


async def admit_memory(
    ctx: RecallContext,
    tx: aiosqlite.Connection,
    capture_id: int,
    judged: Judged,
    where: Provenance,
    repeats: Repeats | None = None,
) -> Memory | None:
    """Store an accepted capture as a memory, or count the repetition of an equal memory; return the memory or None."""
    if judged[1].decision is not Decision.AUTO:
        return None
    found = repeats or Repeats()
    memory = memory_of(*judged, where)
    known = await memories.same_wording(tx, memory) if ctx.settings.dedupe else None
    known = known or await merging.known_as(tx, *judged, memory, found)
    if known is None:
        known = await memories.insert(tx, memory, where.actor, number=capture_id)
        await merging.take_place(tx, *judged, known, found)
    else:
        await memories.restate(tx, known, memory.said_at, memory.session_id, memory.origin)
    await captures.bind(tx, capture_id, known.id)
    if not merging.is_flagged(judged[1]):
        said_at = max(known.said_at, memory.said_at)  # a repetition in an imported session is older than what is known
        await _succeed(tx, replace(known, said_at=said_at), memory.origin, found)
    return known


async def _succeed(tx: aiosqlite.Connection, memory: Memory, origin: Origin, found: Repeats) -> None:
    """Supersede the earlier statements, including those of this batch, that a new statement of the user contradicts.

    A statement from an imported session may itself be superseded, by a later statement that is already stored.
    """
    if origin is not Origin.USER:
        return
    for later in found.overtaken_by.get(memory.content, ()):
        if (successor := await memories.find(tx, later)) is not None and successor.archived_at is None:
            await succession.take_over(tx, successor, [memory])
    meanwhile = [one for one in found.made if one.id != memory.id and replaces(memory.content, one.content)]
    await succession.take_over(tx, memory, [*found.replaced.get(memory.content, ()), *meanwhile])
    if (capture := found.displaced.get(memory.content)) is not None:
        await decisions.displace(tx, capture, f"memory {memory.id} has contradicted it since")
    if (doubted := found.in_doubt.get(memory.content)) is not None and not found.replaced.get(memory.content):
        await succession.propose(tx, memory, doubted)
    found.made.append(memory)


def memory_of(candidate: Candidate, admission: Admission, where: Provenance) -> Memory:
    """Return the memory made from an accepted candidate, without an id."""
    wide = candidate.scope is Scope.USER
    return Memory(
        id=0,
        project_id=None if wide else where.place.project_id,
        scope=candidate.scope,
        kind=candidate.kind,
        category=KINDS[candidate.kind].category,
        summary=candidate.summary,
        content=candidate.content,
        origin=candidate.origin,
        confidence=admission.confidence,
        raw_confidence=candidate.raw_confidence,
        extractor=candidate.extractor,
        created_at=time(),
        said_at=candidate.time,
        content_hash=content_hash(candidate.content),
        rationale=candidate.rationale,
        sentiment=candidate.sentiment,
        verified=where.verified,
        agent=where.agent,
        session_id=where.place.session_id,
        turn_id=candidate.evidence.turn_id,
        transcript=candidate.evidence.file,
        evidence=candidate.evidence.quote,
        byte_start=candidate.evidence.start,
        byte_end=candidate.evidence.end,
        branch=candidate.branch,
        commit=where.commit,
        intent=where.intent,
        tags=candidate.tags,
        files=candidate.files,
    )
