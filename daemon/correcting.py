"""What a person says of memories: that one no longer holds, is put better, was useful or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time
from uuid import uuid4

import aiosqlite

from subconscious.errors import RequestError
from subconscious.flow.remembering import clean
from subconscious.model import Level, Link, Memory, Origin
from subconscious.poisoning import check_text
from subconscious.store import consolidations, corrections, events, fading, links, memories
from subconscious.store.corrections import Correction, Feedback
from subconscious.store.rows import content_hash

from .acts import CONTENT_LENGTH, SUMMARY_LENGTH, cut, refuse_held
from .core import Core

SUPERSEDES = "SUPERSEDES"


@dataclass(frozen=True, slots=True)
class Way:
    """How a memory can be corrected: what that says of its confidence, and whether it goes out of use."""

    outcome: str
    archives: bool


WAYS = {
    "superseded": Way("rejected", archives=False),
    "deprecated": Way("rejected", archives=True),
    "refined": Way("modified", archives=True),
    "merged": Way("modified", archives=True),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """One correction as it is asked for: ``other`` takes the memory's place, or ``text`` does, or nothing."""

    memory_id: int
    way: str
    other: int | None = None
    text: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What became of it: the memory as it is now, what holds instead, and what the changes are known by together."""

    memory: Memory
    replacement: Memory | None
    act: str


async def correct(core: Core, wish: Wish) -> Corrected:
    """Carry a person's correction out, whole or not at all."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    memory = await memories.get(core.database, wish.memory_id)
    await refuse_held(core, [wish.memory_id, *([wish.other] if wish.other else [])])
    other = await _other(core, memory, wish)
    act = uuid4().hex
    async with core.database.write() as tx:
        if wish.way == "refined":
            other = await _reworded(tx, memory, wish.text, act)
        gone = await apply(tx, memory, other, wish, act)
        await vectors.activate(tx, gone, False)
    await core.embedding.refresh(gone)
    core.embedding.wake()
    await core.calibrate()
    return Corrected(await memories.get(core.database, memory.id), other, act)


async def _other(core: Core, memory: Memory, wish: Wish) -> Memory | None:
    """What takes the memory's place, where that is a memory. Raises RequestError for what can't."""
    if wish.other is None:
        return None
    other = await memories.get(core.database, wish.other)
    if other.id == memory.id:
        raise RequestError("a memory can't take its own place", "name the one that holds instead")
    if other.archived_at is not None:
        raise RequestError(f"memory {other.id} is archived", f"subconscious unarchive {other.id}")
    if None not in (memory.project_id, other.project_id) and memory.project_id != other.project_id:
        raise RequestError("they are of different projects", "remember it here: subconscious correct ID --refined TEXT")
    return other


async def _reworded(tx: aiosqlite.Connection, memory: Memory, text: str, act: str) -> Memory:
    """The memory that says it in a person's own words; the one that says so already, if there is one."""
    words = " ".join(clean(text).split())
    if not words or content_hash(words) == memory.content_hash:
        raise RequestError("there are no new words", "say it as it should read: --refined TEXT")
    if check_text(words).level.rank >= Level.MEDIUM.rank:
        raise RequestError("these words look like an attack on later sessions", "say it as a plain statement")
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


async def apply(tx: aiosqlite.Connection, memory: Memory, other: Memory | None, wish: Wish, act: str) -> list[int]:
    """Write it down; the memories that went out of use by it."""
    correction = Correction(memory.id, wish.way, other.id if other else None, wish.reason)
    if await corrections.known(tx, correction):
        return []
    number = await corrections.correct(tx, correction, "user", act)
    outcome = WAYS[wish.way].outcome
    await corrections.append(tx, Feedback(memory.id, outcome, "user", wish.reason, correction_id=number), act)
    if other is not None:
        await _supersede(tx, other, memory, wish.reason, act)
    if wish.way == "deprecated":
        await fading.set_importance(tx, memory.id, "deprecated", "user", act)
    if not WAYS[wish.way].archives:
        return []
    # Who words a memory better has not said that it was captured wrongly: that it goes is only what follows.
    actor = "user" if other is None else "daemon"
    gone = [memory.id] if await memories.archive(tx, memory, actor, f"{wish.way}: {wish.reason}", act) else []
    return gone + await consolidations.fall(tx, gone, "daemon", wish.way, act)


async def _supersede(tx: aiosqlite.Connection, new: Memory, old: Memory, reason: str, act: str) -> None:
    """Let one memory take the other's place; should it have been the other way round, that holds no longer."""
    found = [link for link in await links.between(tx, new.id, old.id) if link.type == SUPERSEDES]
    for link in found:
        holds = link.source_id == new.id
        if holds or link.status == "active":
            await links.change(tx, link, "user", reason, act, status="active" if holds else "withdrawn")
    if not any(link.source_id == new.id for link in found):
        evidence = reason or "a person corrected it"
        link = Link(0, new.id, old.id, SUPERSEDES, "active", 1.0, "user", evidence, time())
        await links.add(tx, link, "user", act)


async def judge(core: Core, ids: Sequence[int], outcome: str, reason: str) -> list[Memory]:
    """A person says that memories were useful, or wrong."""
    known = [await memories.get(core.database, memory_id) for memory_id in ids]
    act = uuid4().hex
    async with core.database.write() as tx:
        for memory in known:
            await corrections.append(tx, Feedback(memory.id, outcome, "user", reason), act)
    return known


async def pin(core: Core, ids: Sequence[int], pinned: bool) -> list[Memory]:
    """A person pins memories, or unpins them."""
    known = [await memories.get(core.database, memory_id) for memory_id in ids]
    act = uuid4().hex
    async with core.database.write() as tx:
        for memory in known:
            await fading.set_pinned(tx, memory.id, pinned, "user", act)
    return [replace(memory, pinned=pinned) for memory in known]


async def rate(core: Core, ids: Sequence[int], importance: str) -> list[Memory]:
    """A person says how important memories are. What is deprecated goes out of use."""
    from subconscious.store import vectors  # as above

    known = [await memories.get(core.database, memory_id) for memory_id in ids]
    act, gone = uuid4().hex, []
    async with core.database.write() as tx:
        for memory in known:
            await fading.set_importance(tx, memory.id, importance, "user", act)
            if importance == "deprecated" and await memories.archive(tx, memory, "user", "deprecated", act):
                gone += [memory.id, *await consolidations.fall(tx, [memory.id], "user", "deprecated", act)]
        await vectors.activate(tx, gone, False)
    await core.embedding.refresh(gone)
    return [await memories.get(core.database, memory.id) for memory in known]


async def reset(core: Core, ids: Sequence[int], reason: str) -> int:
    """A person lets memories be as fresh as new; how many they were."""
    act, now = uuid4().hex, time()
    async with core.database.write() as tx:
        for memory_id in ids:
            await fading.reset(tx, memory_id, now, "user", act)
        await events.record(tx, "reset", "store", "decay", actor="user", reason=reason)
    return len(ids)
