"""Counts repetitions: a note (a candidate under review) that repeats an earlier memory is not stored a second time.

An unconfirmed memory that another session finds independently is confirmed, with or without a model. In its review (the
second look), the model names the repeated memory, because a comparison of words does not recognise other wordings. A
note counts as a repetition only if ``gate.py`` would have made the note a memory itself.
"""

from __future__ import annotations

import aiosqlite

from subconscious.capture.admission import Provenance
from subconscious.capture.llm_extraction import second_look
from subconscious.capture.llm_extraction.origins import words
from subconscious.capture.llm_extraction.second_look import Look
from subconscious.domain.model import Decision, Level, Memory, Origin
from subconscious.recall.engines import projects_of
from subconscious.recall.recall_context import RecallContext
from subconscious.store import decisions, full_text, memories, surfaces, unconfirmed
from subconscious.store.capture_rows import candidate_from
from subconscious.store.filters import Filter
from subconscious.store.second_looks import WaitingCapture
from subconscious.supersession import confirmation
from subconscious.supersession.merging import ECHO
from subconscious.text.terms import terms

IN_COMMON = 2
"""The minimum number of words that a note shares with the memory that it repeats: the model may name a wrong memory."""


async def unconfirmed_near(
    ctx: RecallContext, content: str, project_id: str, session_id: str, limit: int
) -> dict[int, Memory]:
    """Return the unconfirmed memories of earlier sessions that share the most words with a note."""
    which = Filter(project_id, unconfirmed=True)
    near = await full_text.search(ctx.database, terms(content), projects_of(project_id), limit, which)
    found = await memories.get_many(ctx.database, [number for number, _ in near])
    return {number: one for number, one in found.items() if one.session_id != session_id}


def repeated(one: WaitingCapture, look: Look | None, shown: dict[int, Memory]) -> Memory | None:
    """Return the memory that a note repeats, if the note would otherwise have become a memory.

    Return None for the user's own words if the memory is unconfirmed: the words become a memory of their own.
    """
    memory = shown.get(look.repeats) if look is not None else None
    if look is None or memory is None:
        return None
    of_note = look.model_copy(update={"known": False})
    if not second_look.vouches(of_note) or second_look.refusal(of_note, one.capture["content"]):
        return None
    if one.capture["origin"] == Origin.USER and memory.unconfirmed:
        return None
    passed = one.decision is Decision.AUTO or one.reservation == ""
    common = words(one.capture["content"]) & words(memory.content)
    return memory if passed and one.capture["level"] == Level.NONE and len(common) >= IN_COMMON else None


async def count(
    ctx: RecallContext, tx: aiosqlite.Connection, one: WaitingCapture, memory: Memory, where: Provenance
) -> list[int]:
    """Count the recurrence of a memory and discard the note; return the ids of memories that this confirms (0 or 1).

    A recurrence in the memory's own session does not count. If the memory was shown to the session, the recurrence
    counts only if the user stated the note.
    """
    session_id = where.place.session_id or ""
    given = await surfaces.given_hashes(ctx.database, session_id)
    echo = memory.content_hash in given and one.capture["origin"] != Origin.USER
    confirmed = [] if echo or memory.session_id == session_id else await _count(tx, one, memory, session_id)
    await decisions.displace(tx, one.capture["id"], ECHO if echo else f"repeats memory {memory.id}")
    return confirmed


async def _count(tx: aiosqlite.Connection, one: WaitingCapture, memory: Memory, session_id: str) -> list[int]:
    candidate = candidate_from(one.capture)
    if memory.unconfirmed:
        capture = await unconfirmed.capture_of(tx, memory.id)
        return [await confirmation.seen_again(tx, capture, candidate, session_id)] if capture is not None else []
    if one.decision is Decision.AUTO:
        await memories.restate(tx, memory, candidate.time, session_id, candidate.origin)
    return []
