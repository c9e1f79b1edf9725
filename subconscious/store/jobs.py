"""The durable queue: enqueue once, lease, finish, retry later, bury with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import aiosqlite

from subconscious.store.connect import Database
from subconscious.store.rows import marks

FAR = 3600.0
"""Seconds ahead of now that no retry and no lease reaches."""

FREE = """
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS other
        WHERE other.state = 'leased' AND other.lane = due.lane AND other.leased_until BETWEEN :now AND :far
    )
    ORDER BY id LIMIT 1
"""
READY = "SELECT id FROM jobs AS due WHERE state = 'ready' AND (run_after <= :now OR run_after > :far)" + FREE  # noqa: S608 - constants
EXPIRED = "SELECT id FROM jobs AS due WHERE state = 'leased' AND leased_until NOT BETWEEN :now AND :far" + FREE  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Job:
    """A reference to a spool entry; the entry keeps the words."""

    id: int
    name: str
    event: str
    lane: str
    attempts: int


async def enqueue(tx: aiosqlite.Connection, name: str, event: str, lane: str, at: float) -> None:
    """Add a job; the same name again changes nothing (an entry may be swept twice)."""
    await tx.execute(
        "INSERT INTO jobs (name, event, lane, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        (name, event, lane, at),
    )


async def lease(tx: aiosqlite.Connection, now: float, seconds: float) -> Job | None:
    """Take the oldest job that is due and whose lane is free; a lease that has run out counts for nothing.

    The attempt is counted here, not at the failure: a job that kills the process must run out of tries too. Times that
    lie too far ahead were written by a clock that was wrong.
    """
    times = {"now": now, "far": now + FAR, "until": now + seconds}
    for candidate in (READY, EXPIRED):
        rows = await tx.execute_fetchall(
            f"UPDATE jobs SET state = 'leased', attempts = attempts + 1, leased_until = :until"  # noqa: S608
            f" WHERE id = ({candidate}) RETURNING id, name, event, lane, attempts",
            times,
        )
        for row in rows:
            return Job(**dict(row))
    return None


async def finish(tx: aiosqlite.Connection, job: Job, now: float) -> None:
    """Mark a job done, in the transaction of its effects."""
    await tx.execute("UPDATE jobs SET state = 'done', finished_at = ?, leased_until = NULL WHERE id = ?", (now, job.id))


async def retry(tx: aiosqlite.Connection, job: Job, at: float, reason: str) -> None:
    """Try again at ``at``; a job that was cut off when its end had just been written stays done."""
    await tx.execute(
        "UPDATE jobs SET state = 'ready', run_after = ?, reason = ?, leased_until = NULL"
        " WHERE id = ? AND state = 'leased'",
        (at, reason, job.id),
    )


async def bury(tx: aiosqlite.Connection, name: str, event: str, reason: str, now: float) -> None:
    """Give a job up for good; the reason stays for a person to read."""
    await tx.execute(
        "INSERT INTO jobs (name, event, lane, state, reason, created_at, finished_at)"
        " VALUES (?1, ?2, '', 'buried', ?3, ?4, ?4) ON CONFLICT (name) DO UPDATE SET"
        " state = 'buried', reason = ?3, finished_at = ?4, leased_until = NULL WHERE state <> 'done'",
        (name, event, reason, now),
    )


async def release(tx: aiosqlite.Connection) -> int:
    """Make leased jobs ready again: their daemon died, for there is only one and it is just starting."""
    cursor = await tx.execute("UPDATE jobs SET state = 'ready', leased_until = NULL WHERE state = 'leased'")
    return cursor.rowcount


async def forget_done(tx: aiosqlite.Connection, before: float) -> int:
    """Drop records of jobs done before ``before``: their entries went long ago."""
    cursor = await tx.execute("DELETE FROM jobs WHERE state = 'done' AND finished_at < ?", (before,))
    return cursor.rowcount


async def states(database: Database, names: Sequence[str]) -> dict[str, str]:
    """The states of some jobs by name; names without a job are left out."""
    rows = await database.rows(f"SELECT name, state FROM jobs WHERE name IN ({marks(names)})", tuple(names))  # noqa: S608
    return {row["name"]: row["state"] for row in rows}


async def counts(database: Database) -> dict[str, int]:
    """How many jobs are ready, leased, buried."""
    rows = await database.rows("SELECT state, count(*) FROM jobs WHERE state <> 'done' GROUP BY state")
    return {"ready": 0, "leased": 0, "buried": 0} | {row[0]: row[1] for row in rows}


async def next_due(database: Database) -> float | None:
    """When the next job that waits for its retry is due."""
    rows = await database.rows("SELECT min(run_after) FROM jobs WHERE state = 'ready'")
    return rows[0][0] if rows and rows[0][0] is not None else None


async def busy_lanes(database: Database, lanes: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether work of some events is ready or under way in any of ``lanes``; what waits for a retry does not count.

    A start asks again and again: each half keeps to the index of its state, past a week of jobs that are done.
    """
    meant = f"AND lane IN ({marks(lanes)}) AND event IN ({marks(kinds)})"
    rows = await database.rows(
        f"SELECT 1 FROM jobs WHERE state = 'leased' {meant} UNION ALL"  # noqa: S608
        f" SELECT 1 FROM jobs WHERE state = 'ready' AND attempts = 0 {meant} LIMIT 1",
        2 * (*lanes, *kinds),
    )
    return bool(rows)


async def forget(tx: aiosqlite.Connection, names: Sequence[str]) -> None:
    """Drop the jobs of entries that are gone, but for those that are being worked on."""
    await tx.executemany("DELETE FROM jobs WHERE name = ? AND state <> 'leased'", [(name,) for name in names])
