"""Take back all that a session added, and put it back: for when a session turns out to have been poisoned.

Nothing is deleted. One event of the session records the changes, so that they can be reversed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import aiosqlite

from subconscious.model import Memory, Origin
from subconscious.store import (
    asked,
    captures,
    consolidations,
    decisions,
    events,
    failures,
    links,
    memories,
    merges,
    model_readings,
    sessions,
)
from subconscious.store.capture_rows import QUARANTINED, UNCONFIRMED

DONE, UNDONE = "rollback", "rollback undone"
STANDING = ("captured", "review", "approved", QUARANTINED, UNCONFIRMED)
"""Captures that are, or may yet become, something; the others were closed before."""
WITHDRAWN = "withdrawn"
"""The status of links that went with a session."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What a session added: memories that are its own, those of others that it repeated and how often, captures.

    What sums up memories of its own, with others' perhaps, counts as its own too: it says what they say.

    ``unread`` counts what a model was still to read of it, which would add more. ``links`` are those of its memories,
    whoever made them, and those that it made between others'. ``revived`` are other sessions' memories that were merged
    into its own: they say it again. ``failures`` counts those of its tool calls that count towards ways out.
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
    """Whether it leaves a hand-over to the next session."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to take back."""
        found = (self.memories, self.repeated, self.captures, self.unread, self.links, self.failures, self.leaves)
        return not any(found)


async def extent(tx: aiosqlite.Connection, session_id: str) -> Extent:
    """Look at what a session added, changing nothing.

    A memory that other sessions stated as well stays: only the session's share of it goes.
    """
    brought = [one for one in await captures.of_whole_session(tx, session_id) if one["status"] in STANDING]
    said = await _said(tx, session_id, brought)
    alone = {one.memory.id for one in said if one.alone}
    own = [one.memory.id for one in said if one.mine and one.alone and one.memory.archived_at is None]
    made, proposed = await consolidations.built_on(tx, own)
    own += [number for number in made if number not in own]
    brought += [await captures.held(tx, number) for number in proposed]
    revived = [memory.id for memory in await merges.under(tx, own) if memory.id not in alone]
    repeated = await _repeated(tx, said, own)
    unread = len(await model_readings.unread(tx, session_id)) + await asked.open_of(tx, session_id)
    statuses = tuple((one["id"], one["status"]) for one in brought)
    linked = {link.id: link.status for link in [*await links.at_ends(tx, own), *await links.made_in(tx, session_id)]}
    ends, leaves = tuple(sorted(linked.items())), await sessions.leaves(tx, session_id)
    met = await failures.counting(tx, session_id)
    return Extent(session_id, tuple(own), repeated, statuses, unread, ends, tuple(revived), met, leaves)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a session has to do with a memory: whether it brought it, alone or not, and how often it counts in it."""

    memory: Memory
    mine: bool
    alone: bool
    times: int


async def _said(tx: aiosqlite.Connection, session_id: str, brought: Sequence[dict[str, Any]]) -> list[_Said]:
    bound = {one["memory_id"] for one in brought if one["memory_id"] is not None}
    found = []
    for memory_id in sorted({*bound, *await memories.made_by(tx, session_id)}):
        memory = await memories.held(tx, memory_id)
        others = [one for one in await captures.of_memory(tx, memory_id) if one["session_id"] != session_id]
        mine = memory.session_id == session_id
        alone = (mine or bool(others)) and not any(one["status"] in STANDING for one in others)
        # What is trusted less than the memory has lent it nothing.
        counted = [one for one in brought if one["memory_id"] == memory_id]
        times = int(any(Origin(one["origin"]).distrust <= memory.origin.distrust for one in counted))
        found.append(_Said(memory, mine, alone, times))
    return found


async def _repeated(tx: aiosqlite.Connection, said: Sequence[_Said], own: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """How often the session counts in memories that others said too, be it by what was merged into them.

    A memory's first statement is no repetition of it; here it is one of others' that counts as the first. What is
    archived loses it as well: it may come back.
    """
    found = Counter({one.memory.id: one.times for one in said if not (one.mine and one.alone)})
    times = {one.memory.id: one.times for one in said}
    for memory_id, into_id in await merges.lent(tx, list(times)):
        found[into_id] = max(found[into_id], 0 if into_id in own else times[memory_id])
    return tuple((number, found[number]) for number in sorted(found) if found[number])


async def withdraw(tx: aiosqlite.Connection, found: Extent, reason: str) -> list[Memory]:
    """Take it all back; return the memories that have to leave the indexes."""
    why = f"rollback of session {found.session_id}" + (f": {reason}" if reason else "")
    gone = [await memories.held(tx, memory_id) for memory_id in found.memories]
    for memory in gone:
        await memories.archive(tx, memory, "user", why)
    await merges.give_back(tx, [await memories.held(tx, memory_id) for memory_id in found.revived], "user", why)
    fewer = [
        (memory_id, await memories.recur_less(tx, await memories.held(tx, memory_id), why, times))
        for memory_id, times in found.repeated
    ]
    for capture_id, _ in found.captures:
        await decisions.decide(tx, await captures.held(tx, capture_id), "discarded", "user", why, action=DONE)
    for link_id, _ in found.links:
        await links.change(tx, await links.held(tx, link_id), "user", why, status=WITHDRAWN)
    await failures.withdraw(tx, found.session_id, why)
    told = await sessions.untell(tx, found.session_id)
    waits = await model_readings.withdraw(tx, found.session_id)
    await asked.withdraw(tx, found.session_id, _unasked(found.session_id))
    await events.record(
        tx,
        DONE,
        "session",
        found.session_id,
        actor="user",
        session_id=found.session_id,
        reason=reason,
        before=asdict(found) | {"repeated": fewer, "told": told, "waits": waits},
    )
    return gone


async def put_back(tx: aiosqlite.Connection, session_id: str) -> tuple[Extent, list[Memory]]:
    """Undo the latest rollback of a session; return what came back, and its memories. Empty if there was none.

    What was purged since is left out; what a person has pinned or rated since stays beside what it was merged into.
    """
    done = await events.latest(tx, "session", session_id)
    if done is None or done["action"] != DONE:
        return Extent(session_id), []
    before = done["before"]
    found = [await memories.found(tx, memory_id) for memory_id in before["memories"]]
    back = [memory for memory in found if memory is not None]
    why = f"rollback of session {session_id} undone"
    for memory in back:
        await memories.unarchive(tx, memory, "user", why)
    revived = tuple(await merges.join(tx, before.get("revived", []), "user", why))
    repeated = await _say_again(tx, before["repeated"], why)
    decided = await _decide_again(tx, before["captures"], why)
    linked = await _link_again(tx, before.get("links", []), why)  # a rollback of before there were links has none
    await failures.withdraw(tx, session_id, why, back=True)
    await sessions.retell(tx, session_id, before["told"])
    await model_readings.put_back(tx, before.get("waits", []))
    await asked.put_back(tx, session_id, _unasked(session_id))
    await events.record(tx, UNDONE, "session", session_id, actor="user", session_id=session_id)
    own, unread = tuple(memory.id for memory in back), before.get("unread", 0)
    leaves = bool(before["told"].get("handover"))
    return Extent(session_id, own, repeated, decided, unread, linked, revived, leaves), back


Numbered = Iterable[tuple[int, Any]]
"""As an event keeps them: ids, each with a count or a status."""


async def _say_again(tx: aiosqlite.Connection, repeated: Numbered, why: str) -> tuple[tuple[int, int], ...]:
    done = []
    for memory_id, times in repeated:
        if (memory := await memories.found(tx, memory_id)) is not None:
            await memories.recur_more(tx, memory, why, times)
            done.append((memory_id, times))
    return tuple(done)


async def _decide_again(tx: aiosqlite.Connection, decided: Numbered, why: str) -> tuple[tuple[int, str], ...]:
    done = []
    for capture_id, status in decided:
        if (capture := await captures.found(tx, capture_id)) is not None:
            await decisions.decide(tx, capture, status, "user", why, action=UNDONE)
            done.append((capture_id, status))
    return tuple(done)


async def _link_again(tx: aiosqlite.Connection, linked: Numbered, why: str) -> tuple[tuple[int, str], ...]:
    """Put links back as they were; one that a person has decided on since stays as it is."""
    done = []
    for link_id, status in linked:
        if (link := await links.found(tx, link_id)) is not None and link.status == WITHDRAWN:
            await links.change(tx, link, "user", why, status=status)
            done.append((link_id, status))
    return tuple(done)


def _unasked(session_id: str) -> str:
    return f"the session {session_id} was rolled back"
