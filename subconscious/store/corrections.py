"""Corrections and feedback: what people said of memories, and what became of them in use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import time

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.merges import MERGED
from subconscious.store.rows import insertion, marks


@dataclass(frozen=True, slots=True)
class Correction:
    """One memory that a person corrected: how, and what holds instead."""

    memory_id: int
    way: str
    replacement_id: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What became of one memory once; ``outcome`` is a row of `decay.OUTCOMES`, or says nothing of confidence."""

    memory_id: int
    outcome: str
    actor: str
    reason: str = ""
    session_id: str | None = None
    correction_id: int | None = None


async def correct(tx: aiosqlite.Connection, correction: Correction, actor: str, act: str = "") -> int:
    """Put a correction on record; its id."""
    values = asdict(correction) | {"created_at": time()}
    done = await tx.execute(*insertion("memory_corrections", values))
    number = int(done.lastrowid or 0)
    await events.record(
        tx, "correct", "correction", number, actor=actor, reason=correction.reason, after=values, act=act
    )
    return number


async def known(tx: aiosqlite.Connection, correction: Correction) -> bool:
    """Whether the same was said before: to say it twice makes it no worse."""
    rows = await tx.execute_fetchall(
        "SELECT 1 FROM memory_corrections WHERE memory_id = ? AND way = ? AND replacement_id IS ? LIMIT 1",
        (correction.memory_id, correction.way, correction.replacement_id),
    )
    return bool(list(rows))


async def append(tx: aiosqlite.Connection, feedback: Feedback, act: str = "") -> int:
    """Add to the log; the entry's id."""
    values = asdict(feedback) | {"created_at": time()}
    done = await tx.execute(*insertion("feedback", values))
    number = int(done.lastrowid or 0)
    await events.record(
        tx,
        "feedback",
        "feedback",
        number,
        actor=feedback.actor,
        session_id=feedback.session_id,
        reason=feedback.reason,
        after=values,
        act=act,
    )
    return number


async def counts(database: Database, ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """How often each outcome is on record, of each of these memories that has any, or of what was merged into it."""
    rows = await database.rows(
        f"SELECT memory_id, outcome, count(*) FROM (SELECT memory_id, outcome FROM feedback"  # noqa: S608
        f" WHERE memory_id IN ({marks(ids)}) UNION ALL SELECT into_id, outcome FROM {MERGED} AS merged"
        f" JOIN feedback ON feedback.memory_id = merged.memory_id WHERE into_id IN ({marks(ids)}))"
        " GROUP BY memory_id, outcome",
        (*ids, *ids),
    )
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for row in rows:
        found[row[0]][row[1]] = row[2]
    return dict(found)


async def of(database: Database, memory_id: int) -> list[dict[str, object]]:
    """The corrections that a memory was part of, the latest first."""
    rows = await database.rows(
        "SELECT * FROM memory_corrections WHERE memory_id = ?1 OR replacement_id = ?1 ORDER BY id DESC", (memory_id,)
    )
    return [dict(row) for row in rows]
