"""Rollback of a session, such as a poisoned one: withdraws everything that the session added, and can restore it.

Nothing is deleted. One event of the session records the changes, so that they can be reversed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import aiosqlite

from subconscious.domain.model import Memory, Origin
from subconscious.store import (
    captures,
    consolidations,
    decisions,
    events,
    failures,
    links,
    llm_requests,
    memories,
    merges,
    model_readings,
    reversal,
    sessions,
)
from subconscious.store.capture_rows import QUARANTINED, UNCONFIRMED
from subconscious.wire.captures import Capture
from subconscious.wire.history import Event

DONE, UNDONE = "rollback", "rollback undone"
NOT_CLOSED = ("captured", "review", "approved", QUARANTINED, UNCONFIRMED)
"""Statuses of captures that are a memory or may become one; other captures are not changed by a rollback."""
WITHDRAWN = "withdrawn"
"""The status of links that a rollback removed."""


@dataclass(frozen=True, slots=True)
class SessionAdditions:
    """What a session added to the store. The field names are stored in events.

    memories: memories of this session, and summaries that include one of them, because they repeat its content.
    repeated: memories of other sessions that this session stated again, and how often (id, count).
    captures: captures of this session that are memories or may become memories (id, status).
    unread: the number of parts of its transcripts that a model has yet to read, which could add more memories.
    links: links of these memories, by any author, and links between other memories that this session made (id, status).
    revived: memories of other sessions that were merged into these memories; a rollback makes them active again.
    failures: the number of failed tool calls of this session that count as evidence.
    leaves: whether this session left a hand-over for the next session.
    """

    session_id: str
    memories: tuple[int, ...] = ()
    repeated: tuple[tuple[int, int], ...] = ()
    captures: tuple[tuple[int, str], ...] = ()
    unread: int = 0
    links: tuple[tuple[int, str], ...] = ()
    revived: tuple[int, ...] = ()
    failures: int = 0
    leaves: bool = False

    @property
    def empty(self) -> bool:
        """Whether the session added nothing that can be withdrawn."""
        found = (self.memories, self.repeated, self.captures, self.unread, self.links, self.failures, self.leaves)
        return not any(found)


async def additions(tx: aiosqlite.Connection, session_id: str) -> SessionAdditions:
    """Return what a rollback of the session would withdraw; nothing is changed.

    A memory that another session stated, too, would stay, with a lower number of repetitions.
    """
    own_captures = [one for one in await captures.all_of_session(tx, session_id) if one["status"] in NOT_CLOSED]
    contributions = await _contributions(tx, session_id, own_captures)
    alone = {one.memory.id for one in contributions if one.alone}
    own = [one.memory.id for one in contributions if one.mine and one.alone and one.memory.archived_at is None]
    made, proposed = await consolidations.dependents(tx, own)
    own += [number for number in made if number not in own]
    own_captures += [await captures.require(tx, number) for number in proposed]
    revived = [memory.id for memory in await merges.merged_into(tx, own) if memory.id not in alone]
    repeated = await _repeated(tx, contributions, own)
    unread = len(await model_readings.unread(tx, session_id)) + await llm_requests.count_open(tx, session_id)
    statuses = tuple((one["id"], one["status"]) for one in own_captures)
    linked = {
        link.id: link.status
        for link in [*await links.open_links(tx, own), *await links.made_in_session(tx, session_id)]
    }
    ends, leaves = tuple(sorted(linked.items())), await sessions.has_handover(tx, session_id)
    met = await failures.count(tx, session_id)
    return SessionAdditions(session_id, tuple(own), repeated, statuses, unread, ends, tuple(revived), met, leaves)


@dataclass(frozen=True, slots=True)
class _Contribution:
    """What a session contributed to a memory.

    ``mine`` means that the session stated the memory first, ``alone`` that no other session states it. ``times`` is the
    number (0 or 1) that the session added to the memory's repetitions.
    """

    memory: Memory
    mine: bool
    alone: bool
    times: int


async def _contributions(
    tx: aiosqlite.Connection, session_id: str, own_captures: Sequence[Capture]
) -> list[_Contribution]:
    bound = {one["memory_id"] for one in own_captures if one["memory_id"] is not None}
    found = []
    for memory_id in sorted({*bound, *await memories.of_first_session(tx, session_id)}):
        memory = await memories.require(tx, memory_id)
        others = [one for one in await captures.of_memory(tx, memory_id) if one["session_id"] != session_id]
        mine = memory.session_id == session_id
        alone = (mine or bool(others)) and not any(one["status"] in NOT_CLOSED for one in others)
        # A statement of an origin less trusted than the memory's own did not raise the memory's recurrence.
        counted = [one for one in own_captures if one["memory_id"] == memory_id]
        times = int(any(Origin(one["origin"]).distrust <= memory.origin.distrust for one in counted))
        found.append(_Contribution(memory, mine, alone, times))
    return found


async def _repeated(
    tx: aiosqlite.Connection, contributions: Sequence[_Contribution], own: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Return pairs (memory id, count): how often the session repeated each memory that other sessions stated, too.

    If a memory was merged into another one, its repetition counts for that one as well. The first statement of a memory
    is not a repetition; it is assumed to come from another session. Archived memories are included, because they may be
    restored.
    """
    found = Counter({one.memory.id: one.times for one in contributions if not (one.mine and one.alone)})
    times = {one.memory.id: one.times for one in contributions}
    for memory_id, into_id in await merges.counted_merges(tx, list(times)):
        found[into_id] = max(found[into_id], 0 if into_id in own else times[memory_id])
    return tuple((number, found[number]) for number in sorted(found) if found[number])


async def withdraw(tx: aiosqlite.Connection, found: SessionAdditions, reason: str) -> list[Memory]:
    """Withdraw the additions of a session; return the memories to remove from the indexes."""
    why = f"rollback of session {found.session_id}" + (f": {reason}" if reason else "")
    withdrawn = [await memories.require(tx, memory_id) for memory_id in found.memories]
    for memory in withdrawn:
        await memories.archive(tx, memory, "user", why)
    await merges.restore(tx, [await memories.require(tx, memory_id) for memory_id in found.revived], "user", why)
    reduced = [
        (memory_id, await memories.remove_repetitions(tx, await memories.require(tx, memory_id), why, times))
        for memory_id, times in found.repeated
    ]
    for capture_id, _ in found.captures:
        await decisions.decide(tx, await captures.require(tx, capture_id), "discarded", "user", why, action=DONE)
    for link_id, _ in found.links:
        await links.change(tx, await links.require(tx, link_id), "user", why, status=WITHDRAWN)
    await failures.withdraw(tx, found.session_id, why)
    stories = await sessions.clear_story(tx, found.session_id)
    waits = await model_readings.withdraw(tx, found.session_id)
    await llm_requests.withdraw(tx, found.session_id, _skip_reason(found.session_id))
    await events.record(
        tx,
        DONE,
        "session",
        found.session_id,
        actor="user",
        session_id=found.session_id,
        reason=reason,
        before=asdict(found) | {"repeated": reduced, "told": stories, "waits": waits},
    )
    return withdrawn


async def put_back(tx: aiosqlite.Connection, session_id: str) -> tuple[SessionAdditions, list[Memory]]:
    """Undo the latest rollback of a session; return the restored additions and memories, empty if there was none.

    Rows that were purged after the rollback are left out. A memory that a person pinned or rated after the
    rollback is not merged again. If the session got a new summary after the rollback, that summary is kept.
    """
    done = await _in_force(tx, session_id)
    if done is None:
        return SessionAdditions(session_id), []
    before = done["before"]
    found = [await memories.find(tx, memory_id) for memory_id in before["memories"]]
    back = [memory for memory in found if memory is not None]
    why = f"rollback of session {session_id} undone"
    for memory in back:
        await memories.unarchive(tx, memory, "user", why)
    revived = tuple(await merges.merge_again(tx, before.get("revived", []), "user", why))
    repeated = await _restore_repetitions(tx, before["repeated"], why)
    decided = await _restore_decisions(tx, before["captures"], why)
    linked = await _restore_links(tx, before.get("links", []), why)  # older rollback events have no links
    await failures.withdraw(tx, session_id, why, back=True)
    if not await sessions.has_story(tx, session_id):
        await sessions.restore_story(tx, session_id, before["told"])
    await model_readings.restore_withdrawn(tx, before.get("waits", []))
    # Earlier versions recorded the second reason.
    reasons = (_skip_reason(session_id), f"the session {session_id} was rolled back")
    await llm_requests.restore_withdrawn(tx, session_id, reasons)
    await events.record(tx, UNDONE, "session", session_id, actor="user", session_id=session_id)
    own, unread = tuple(memory.id for memory in back), before.get("unread", 0)
    leaves = bool(before["told"].get("handover"))
    return SessionAdditions(session_id, own, repeated, decided, unread, linked, revived, leaves=leaves), back


async def _in_force(tx: aiosqlite.Connection, session_id: str) -> Event | None:
    """Return the event of the latest rollback of a session; None if there is none or it has been undone.

    Other events of the session, such as those that hooks record, are ignored.
    """
    done = await events.latest(tx, "session", session_id, action=DONE)
    back = await events.latest(tx, "session", session_id, action=UNDONE)
    if done is None or await reversal.is_undone(tx, done):
        return None
    restored = back is not None and back["id"] > done["id"] and not await reversal.is_undone(tx, back)
    return None if restored else done


NumberedRows = Iterable[tuple[int, Any]]
"""Rows as stored in an event: ids, each with a count or a status."""


async def _restore_repetitions(
    tx: aiosqlite.Connection, repeated: NumberedRows, why: str
) -> tuple[tuple[int, int], ...]:
    done = []
    for memory_id, times in repeated:
        if (memory := await memories.find(tx, memory_id)) is not None:
            await memories.add_repetitions(tx, memory, why, times)
            done.append((memory_id, times))
    return tuple(done)


async def _restore_decisions(tx: aiosqlite.Connection, decided: NumberedRows, why: str) -> tuple[tuple[int, str], ...]:
    done = []
    for capture_id, status in decided:
        if (capture := await captures.find(tx, capture_id)) is not None:
            await decisions.decide(tx, capture, status, "user", why, action=UNDONE)
            done.append((capture_id, status))
    return tuple(done)


async def _restore_links(tx: aiosqlite.Connection, linked: NumberedRows, why: str) -> tuple[tuple[int, str], ...]:
    """Restore the status of withdrawn links, except links that a person has decided on after the rollback."""
    done = []
    for link_id, status in linked:
        if (link := await links.find(tx, link_id)) is not None and link.status == WITHDRAWN:
            await links.change(tx, link, "user", why, status=status)
            done.append((link_id, status))
    return tuple(done)


def _skip_reason(session_id: str) -> str:
    return f"the memory changes of session {session_id} were rolled back"
