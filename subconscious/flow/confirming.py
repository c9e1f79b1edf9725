"""What confirms an unconfirmed memory, and what retires it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import aiosqlite

from subconscious.model import Candidate, Memory
from subconscious.poisoning.context import contradicts
from subconscious.store import decisions, memories, unconfirmed
from subconscious.store.connect import Database

MISSES = 3
"""Sessions to which one is given in vain before it is given no more."""

COMPARED = 200
"""Unconfirmed memories of a project, the latest, that a new statement may contradict."""

SEEN_AGAIN = "another session found the same by itself"
USED = "a session was given it and used it"
IN_VAIN = f"given to {MISSES} sessions in vain"
CONTRADICTED = "a later statement contradicts it"


async def contradicted(database: Database, said: Iterable[Candidate], project_id: str) -> list[int]:
    """Return the unconfirmed memories that new statements contradict. Slow: do it before the transaction."""
    new = list(said)
    known = await unconfirmed.of_project(database, project_id, COMPARED) if new else []
    return await asyncio.to_thread(_contradicted, new, known) if known else []


def _contradicted(said: Sequence[Candidate], known: Sequence[Memory]) -> list[int]:
    return [one.id for one in known if any(contradicts(new.content, one.content) for new in said)]


async def retire(tx: aiosqlite.Connection, memory_ids: Iterable[int], reason: str, actor: str = "daemon") -> list[int]:
    """Retire those of these memories that are unconfirmed, and return them."""
    retired = []
    for memory_id in memory_ids:
        if (capture := await unconfirmed.capture_of(tx, memory_id)) is not None:
            await unconfirmed.retire(tx, capture, reason, actor)
            retired.append(memory_id)
    return retired


async def approve(tx: aiosqlite.Connection, memory_ids: Iterable[int], reason: str) -> None:
    """Note that a person brings these memories into use, as far as they are unconfirmed: it is their approval."""
    for memory_id in memory_ids:
        if (capture := await unconfirmed.capture_of(tx, memory_id)) is not None:
            await decisions.decide(tx, capture, "approved", "user", reason, memory_id=memory_id)


async def seen_again(tx: aiosqlite.Connection, capture: dict[str, Any], candidate: Candidate, session_id: str) -> int:
    """Confirm what another session found again; return the memory, which recurs."""
    memory = await confirm(tx, capture, SEEN_AGAIN)
    await memories.recur(tx, memory, candidate.time, session_id, candidate.origin)
    return memory.id


async def conclude(tx: aiosqlite.Connection, memory_id: int) -> int | None:
    """Confirm or retire an unconfirmed memory by what sessions made of it; return it if it is in force now.

    A session's contradictions are found before: it has been read to its end.
    """
    capture = await unconfirmed.capture_of(tx, memory_id)
    if capture is None:
        return None
    found = await unconfirmed.outcomes(tx, memory_id)
    if found.used:
        return (await confirm(tx, capture, USED)).id
    if found.missed >= MISSES:
        await unconfirmed.retire(tx, capture, IN_VAIN)
    return None


async def confirm(tx: aiosqlite.Connection, capture: dict[str, Any], reason: str) -> Memory:
    """Put an unconfirmed memory in force, with its vector; the index learns of it when that is committed."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    memory = await unconfirmed.confirm(tx, capture, reason)
    await vectors.activate(tx, [memory.id], True)
    return memory
