"""A person's corrections and ratings of memories: replace, reword, merge, deprecate, pin, rate as useful or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time
from uuid import uuid4

import aiosqlite

from subconscious.app import App
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Level, Link, Memory, Origin
from subconscious.memories.memory_commands import refuse_wordless
from subconscious.poisoning import check_text
from subconscious.poisoning.quarantine import refuse_held
from subconscious.redaction.cleaning import clean
from subconscious.store import consolidations, corrections, events, fading, links, memories
from subconscious.store.connect import new_act
from subconscious.store.corrections import Correction, Feedback
from subconscious.store.rows import content_hash
from subconscious.text.wording import CONTENT_LENGTH, SUMMARY_LENGTH
from subconscious.text.words import cut

SUPERSEDES = "SUPERSEDES"


@dataclass(frozen=True, slots=True)
class CorrectionEffect:
    """The effect of a kind of correction: the feedback on the corrected memory, and whether that memory is archived."""

    outcome: str
    archives: bool


EFFECTS = {
    "superseded": CorrectionEffect("rejected", archives=False),
    "deprecated": CorrectionEffect("rejected", archives=True),
    "refined": CorrectionEffect("modified", archives=True),
    "merged": CorrectionEffect("modified", archives=True),
}


@dataclass(frozen=True, slots=True)
class CorrectionRequest:
    """A requested correction of the memory ``memory_id``; ``way`` is a key of EFFECTS.

    The memory is replaced by the memory ``other``, by a new memory with ``text``, or not at all.
    """

    memory_id: int
    way: str
    other: int | None = None
    text: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Corrected:
    """The result of a correction: the corrected memory, its replacement, and the id that groups the changes."""

    memory: Memory
    replacement: Memory | None
    act: str


async def correct(app: App, request: CorrectionRequest) -> Corrected:
    """Apply a person's correction in one transaction."""
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    memory = await memories.get(app.database, request.memory_id)
    await refuse_held(app.database, [request.memory_id, *([request.other] if request.other else [])])
    other = await _replacement(app, memory, request)
    act = new_act()
    async with app.database.write() as tx:
        if request.way == "refined":
            other = await _reworded_memory(tx, memory, request.text, act)
        archived = await apply(tx, memory, other, request, act)
        await vectors.activate(tx, archived, False)
    await app.embedding.refresh(archived)
    app.embedding.wake()
    await app.calibrate()
    return Corrected(await memories.get(app.database, memory.id), other, act)


async def _replacement(app: App, memory: Memory, request: CorrectionRequest) -> Memory | None:
    """Return the memory that will replace ``memory``, or None. Raises RequestError if that memory is unsuitable."""
    if request.other is None:
        return None
    other = await memories.get(app.database, request.other)
    if other.id == memory.id:
        raise RequestError("a memory can't replace itself", "name the memory that replaces it")
    if other.archived_at is not None:
        raise RequestError(f"memory {other.id} is archived", f"subconscious unarchive {other.id}")
    if None not in (memory.project_id, other.project_id) and memory.project_id != other.project_id:
        raise RequestError(
            "the two memories belong to different projects", "give the new text: subconscious correct ID --refined TEXT"
        )
    return other


async def _reworded_memory(tx: aiosqlite.Connection, memory: Memory, text: str, act: str) -> Memory:
    """Store and return a memory with the person's wording; if an equal memory exists, return that memory.

    Raises RequestError if the wording is empty, has no words, is the same as before, or looks like an attack.
    """
    words = " ".join(clean(text).split())
    if not words or content_hash(words) == memory.content_hash:
        raise RequestError("the new wording is empty or the same as before", "give the new text: --refined TEXT")
    refuse_wordless(words)
    if check_text(words).level.rank >= Level.MEDIUM.rank:
        raise RequestError("this text looks like an attack on later sessions", "write it as a plain statement")
    now = time()
    content = cut(words, CONTENT_LENGTH)
    made = replace(
        memory,
        id=0,
        summary=cut(words, SUMMARY_LENGTH),
        content=content,
        content_hash=content_hash(content),
        origin=Origin.USER,
        confidence=1.0,
        raw_confidence=1.0,
        extractor="told",
        created_at=now,
        said_at=now,
        verified=True,
        uses=0,
        last_used_at=None,
        archived_at=None,
        session_id=None,
        turn_id=f"told-{uuid4()}",
        transcript="",
        evidence=words,
        byte_start=0,
        byte_end=0,
        embedding_status="pending",
    )
    return await memories.same_wording(tx, made) or await memories.insert(tx, made, "user", act)


async def apply(
    tx: aiosqlite.Connection, memory: Memory, other: Memory | None, request: CorrectionRequest, act: str
) -> list[int]:
    """Record a correction and its effects; return the ids of the archived memories."""
    correction = Correction(memory.id, request.way, other.id if other else None, request.reason)
    if await corrections.is_known(tx, correction):
        return []
    number = await corrections.record(tx, correction, "user", act)
    outcome = EFFECTS[request.way].outcome
    await corrections.record_feedback(
        tx, Feedback(memory.id, outcome, "user", request.reason, correction_id=number), act
    )
    if other is not None:
        await _supersede(tx, other, memory, request.reason, act)
    if request.way == "deprecated":
        await fading.set_importance(tx, memory.id, "deprecated", "user", act)
    if not EFFECTS[request.way].archives:
        return []
    # A rewording or replacement does not mean that the capture was wrong, so the daemon is recorded as the actor.
    actor = "user" if other is None else "daemon"
    archived = (
        [memory.id]
        if await memories.archive(tx, memory, actor, f"{request.way}: {request.reason}".rstrip(": "), act)
        else []
    )
    return archived + await consolidations.archive_dependents(tx, archived, "daemon", request.way, act)


async def _supersede(tx: aiosqlite.Connection, new: Memory, old: Memory, reason: str, act: str) -> None:
    """Store a link that says that ``new`` supersedes ``old``, and withdraw a link in the opposite direction."""
    found = [link for link in await links.between(tx, new.id, old.id) if link.type == SUPERSEDES]
    for link in found:
        holds = link.source_id == new.id
        if holds or link.status == "active":
            await links.change(tx, link, "user", reason, act, status="active" if holds else "withdrawn")
    if not any(link.source_id == new.id for link in found):
        evidence = reason or "a person corrected it"
        link = Link(0, new.id, old.id, SUPERSEDES, "active", 1.0, "user", evidence, time())
        await links.add(tx, link, "user", act)


async def record_feedback(app: App, ids: Sequence[int], outcome: str, reason: str) -> list[Memory]:
    """Record that a person found memories useful or wrong."""
    found = [await memories.get(app.database, memory_id) for memory_id in ids]
    act = uuid4().hex
    async with app.database.write() as tx:
        for memory in found:
            await corrections.record_feedback(tx, Feedback(memory.id, outcome, "user", reason), act)
    return found


async def pin(app: App, ids: Sequence[int], pinned: bool) -> list[Memory]:
    """Pin or unpin memories. Raises RequestError if a memory to pin is archived: sessions would not start with it."""
    found = [await memories.get(app.database, memory_id) for memory_id in ids]
    if pinned and (gone := [memory.id for memory in found if memory.archived_at is not None]):
        raise RequestError(f"memory {gone[0]} is archived", f"bring it back first: subconscious unarchive {gone[0]}")
    act = uuid4().hex
    async with app.database.write() as tx:
        for memory in found:
            await fading.set_pinned(tx, memory.id, pinned, "user", act)
    return [replace(memory, pinned=pinned) for memory in found]


async def set_importance(app: App, ids: Sequence[int], importance: str) -> list[Memory]:
    """Set the importance of memories; memories that become "deprecated" are archived."""
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    found = [await memories.get(app.database, memory_id) for memory_id in ids]
    act, archived = uuid4().hex, []
    async with app.database.write() as tx:
        for memory in found:
            await fading.set_importance(tx, memory.id, importance, "user", act)
            if importance == "deprecated" and await memories.archive(tx, memory, "user", "deprecated", act):
                archived += [
                    memory.id,
                    *await consolidations.archive_dependents(tx, [memory.id], "user", "deprecated", act),
                ]
        await vectors.activate(tx, archived, False)
    await app.embedding.refresh(archived)
    return [await memories.get(app.database, memory.id) for memory in found]


async def reset_decay(app: App, ids: Sequence[int], reason: str) -> int:
    """Restart the decay of memories; return their number."""
    act, now = uuid4().hex, time()
    async with app.database.write() as tx:
        for memory_id in ids:
            await fading.reset(tx, memory_id, now, "user", act)
        await events.record(tx, "reset", "store", "decay", actor="user", reason=reason)
    return len(ids)
