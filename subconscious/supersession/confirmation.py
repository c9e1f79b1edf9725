"""Confirms and retires unconfirmed memories."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import aiosqlite

from subconscious.domain.model import OBSERVED_ONCE, Candidate, Memory
from subconscious.poisoning.context import contradicts
from subconscious.store import decisions, memories, unconfirmed
from subconscious.store.connect import Database
from subconscious.wire.captures import Capture

MISSES = 3
"""The number of sessions that must have received an unconfirmed memory without using it before it is retired."""

COMPARED = 200
"""The number of a project's latest unconfirmed memories that are compared with a new statement."""

SEEN_AGAIN = "another session found the same independently"
USED = "a session received it and used it"
IN_VAIN = f"{MISSES} sessions received it, and none used it"
CONTRADICTED = "a later statement contradicts it"


async def contradicted(database: Database, said: Iterable[Candidate], project_id: str) -> list[int]:
    """Return the ids of unconfirmed memories that statements in ``said`` contradict. Slow: call before the transaction."""
    new = list(said)
    known = await unconfirmed.of_project(database, project_id, COMPARED) if new else []
    return await asyncio.to_thread(_contradicted, new, known) if known else []


def _contradicted(said: Sequence[Candidate], known: Sequence[Memory]) -> list[int]:
    return [one.id for one in known if any(contradicts(new.content, one.content) for new in said)]


async def retire(tx: aiosqlite.Connection, memory_ids: Iterable[int], reason: str, actor: str = "daemon") -> list[int]:
    """Retire the unconfirmed memories among ``memory_ids``, and return their ids."""
    retired = []
    for memory_id in memory_ids:
        if (capture := await unconfirmed.capture_of(tx, memory_id)) is not None:
            await unconfirmed.retire(tx, capture, reason, actor)
            retired.append(memory_id)
    return retired


async def approve(tx: aiosqlite.Connection, memory_ids: Iterable[int], reason: str) -> None:
    """Approve the unconfirmed memories among ``memory_ids``, which a person is restoring."""
    for memory_id in memory_ids:
        if (capture := await unconfirmed.capture_of(tx, memory_id)) is not None:
            await decisions.decide(tx, capture, "approved", "user", reason, memory_id=memory_id)


async def seen_again(tx: aiosqlite.Connection, capture: Capture, candidate: Candidate, session_id: str) -> int:
    """Confirm the captured memory that session ``session_id`` found again; count the recurrence, return the memory's id."""
    memory = await confirm(tx, capture, SEEN_AGAIN)
    await memories.restate(tx, memory, candidate.time, session_id, candidate.origin)
    return memory.id


async def conclude(tx: aiosqlite.Connection, memory_id: int) -> int | None:
    """Confirm an unconfirmed memory that a session used, or retire one that ``MISSES`` sessions received but did not use.

    Return the memory's id if it was confirmed. Contradictions are found elsewhere, by ``contradicted``.
    """
    capture = await unconfirmed.capture_of(tx, memory_id)
    if capture is None:
        return None
    found = await unconfirmed.outcomes(tx, memory_id)
    if found.used:
        return (await confirm(tx, capture, USED)).id
    if found.missed >= MISSES and capture["extractor"] != OBSERVED_ONCE:
        # Memories of a failure are exempt: a session that did not meet the failure may have heeded the warning.
        await unconfirmed.retire(tx, capture, IN_VAIN)
    return None


async def confirm(tx: aiosqlite.Connection, capture: Capture, reason: str) -> Memory:
    """Activate an unconfirmed memory and its vector; the caller updates the index after the commit."""
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    memory = await unconfirmed.confirm(tx, capture, reason)
    await vectors.activate(tx, [memory.id], True)
    return memory
