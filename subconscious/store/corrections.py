"""Corrections of memories by people, and feedback: what happened after a memory was used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import time
from typing import cast

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.merges import MERGED
from subconscious.store.rows import insertion, qmarks
from subconscious.wire.decay import CorrectionRow


@dataclass(frozen=True, slots=True)
class Correction:
    """A person's correction of one memory: the kind of correction (``way``), and the id of the new memory, if any."""

    memory_id: int
    way: str
    replacement_id: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """One feedback entry about a memory.

    ``outcome`` is a key of `decay.OUTCOMES`; any other value has no effect on confidence.
    """

    memory_id: int
    outcome: str
    actor: str
    reason: str = ""
    session_id: str | None = None
    correction_id: int | None = None


async def record(tx: aiosqlite.Connection, correction: Correction, actor: str, act: str = "") -> int:
    """Store a correction; return its id."""
    values = asdict(correction) | {"created_at": time()}
    done = await tx.execute(*insertion("memory_corrections", values))
    number = int(done.lastrowid or 0)
    await events.record(
        tx, "correct", "correction", number, actor=actor, reason=correction.reason, after=values, act=act
    )
    return number


async def is_known(tx: aiosqlite.Connection, correction: Correction) -> bool:
    """Whether the same correction was stored before: a repeated correction must not count twice."""
    rows = await tx.execute_fetchall(
        "SELECT 1 FROM memory_corrections WHERE memory_id = ? AND way = ? AND replacement_id IS ? LIMIT 1",
        (correction.memory_id, correction.way, correction.replacement_id),
    )
    return bool(list(rows))


async def record_feedback(tx: aiosqlite.Connection, feedback: Feedback, act: str = "") -> int:
    """Store one feedback entry; return its id."""
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
    """Count the feedback on each memory by outcome, including feedback on memories merged into it."""
    rows = await database.rows(
        f"SELECT memory_id, outcome, count(*) FROM (SELECT memory_id, outcome FROM feedback"  # noqa: S608
        f" WHERE memory_id IN ({qmarks(ids)}) UNION ALL SELECT into_id, outcome FROM {MERGED} AS merged"
        f" JOIN feedback ON feedback.memory_id = merged.memory_id WHERE into_id IN ({qmarks(ids)}))"
        " GROUP BY memory_id, outcome",
        (*ids, *ids),
    )
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for row in rows:
        found[row[0]][row[1]] = row[2]
    return dict(found)


async def of_memory(database: Database, memory_id: int) -> list[CorrectionRow]:
    """Return the corrections that changed a memory or created it, latest first."""
    rows = await database.rows(
        "SELECT * FROM memory_corrections WHERE memory_id = ?1 OR replacement_id = ?1 ORDER BY id DESC", (memory_id,)
    )
    return [cast("CorrectionRow", dict(row)) for row in rows]
