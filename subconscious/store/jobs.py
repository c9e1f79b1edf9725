"""The durable job queue: enqueue, lease, finish, retry, or bury a job (mark it as failed for good)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import aiosqlite

from subconscious.store.connect import Database
from subconscious.store.rows import qmarks
from subconscious.wire.daemon import JobCounts

FAR = 3600.0
"""The maximum number of seconds until a retry or the end of a lease. A later time comes from a wrong clock."""

LANE_IS_FREE = """
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS other
        WHERE other.state = 'leased' AND other.lane = due.lane AND other.leased_until BETWEEN :now AND :far
    )
    ORDER BY id LIMIT 1
"""
READY = "SELECT id FROM jobs AS due WHERE state = 'ready' AND (run_after <= :now OR run_after > :far)" + LANE_IS_FREE  # noqa: S608 - constants
EXPIRED = "SELECT id FROM jobs AS due WHERE state = 'leased' AND leased_until NOT BETWEEN :now AND :far" + LANE_IS_FREE  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Job:
    """A job that processes one spool entry; the entry contains the data."""

    id: int
    name: str
    event: str
    lane: str
    attempts: int


async def enqueue(tx: aiosqlite.Connection, name: str, event: str, lane: str, at: float) -> None:
    """Add a job, unless a job with this name exists: a spool entry may be found twice."""
    await tx.execute(
        "INSERT INTO jobs (name, event, lane, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        (name, event, lane, at),
    )


async def lease(tx: aiosqlite.Connection, now: float, seconds: float) -> Job | None:
    """Lease the oldest due job in a lane without a leased job; return None if there is none.

    If no job is ready, a job with an expired lease is leased again.

    Jobs of one lane (one session) run one after the other. The attempt is counted here and not when the job fails, so
    that a job that kills the process runs out of attempts too. Times too far in the future come from a wrong clock, and
    count as past.
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
    """Mark a job as done, in the transaction that stores its results."""
    await tx.execute("UPDATE jobs SET state = 'done', finished_at = ?, leased_until = NULL WHERE id = ?", (now, job.id))


async def retry(tx: aiosqlite.Connection, job: Job, at: float, reason: str) -> None:
    """Make a job ready again at ``at``; a job that is already done stays done."""
    await tx.execute(
        "UPDATE jobs SET state = 'ready', run_after = ?, reason = ?, leased_until = NULL"
        " WHERE id = ? AND state = 'leased'",
        (at, reason, job.id),
    )


async def bury(tx: aiosqlite.Connection, name: str, event: str, reason: str, now: float) -> None:
    """Mark a job as failed for good, unless it is done; create it if missing. ``reason`` is shown to people."""
    await tx.execute(
        "INSERT INTO jobs (name, event, lane, state, reason, created_at, finished_at)"
        " VALUES (?1, ?2, '', 'buried', ?3, ?4, ?4) ON CONFLICT (name) DO UPDATE SET"
        " state = 'buried', reason = ?3, finished_at = ?4, leased_until = NULL WHERE state <> 'done'",
        (name, event, reason, now),
    )


async def release(tx: aiosqlite.Connection) -> int:
    """Make all leased jobs ready again when the daemon starts: the process that leased them has ended."""
    cursor = await tx.execute("UPDATE jobs SET state = 'ready', leased_until = NULL WHERE state = 'leased'")
    return cursor.rowcount


async def delete_done(tx: aiosqlite.Connection, before: float) -> int:
    """Delete jobs that were done before ``before``; their spool entries are already deleted."""
    cursor = await tx.execute("DELETE FROM jobs WHERE state = 'done' AND finished_at < ?", (before,))
    return cursor.rowcount


async def states(database: Database, names: Sequence[str]) -> dict[str, str]:
    """Return the states of jobs by name; names without a job are left out."""
    rows = await database.rows(f"SELECT name, state FROM jobs WHERE name IN ({qmarks(names)})", tuple(names))  # noqa: S608
    return {row["name"]: row["state"] for row in rows}


async def counts(database: Database) -> JobCounts:
    """Return the number of jobs in each state: ready, leased (in progress), or buried (failed, not retried)."""
    rows = await database.rows("SELECT state, count(*) FROM jobs WHERE state <> 'done' GROUP BY state")
    return cast("JobCounts", {"ready": 0, "leased": 0, "buried": 0} | {row[0]: row[1] for row in rows})


async def next_due(database: Database) -> float | None:
    """Return when the next ready job is due (0 if it has not been tried yet: at once); None if no job is ready."""
    rows = await database.rows("SELECT min(run_after) FROM jobs WHERE state = 'ready'")
    return rows[0][0] if rows and rows[0][0] is not None else None


async def busy_lanes(database: Database, lanes: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether jobs for events of ``kinds`` are ready or leased in any of ``lanes``.

    Jobs that wait for a retry don't count. A session's start calls this repeatedly, so the query is a union: each part
    uses an index on the state, and so skips the many finished jobs.
    """
    meant = f"AND lane IN ({qmarks(lanes)}) AND event IN ({qmarks(kinds)})"
    rows = await database.rows(
        f"SELECT 1 FROM jobs WHERE state = 'leased' {meant} UNION ALL"  # noqa: S608
        f" SELECT 1 FROM jobs WHERE state = 'ready' AND attempts = 0 {meant} LIMIT 1",
        2 * (*lanes, *kinds),
    )
    return bool(rows)


async def delete(tx: aiosqlite.Connection, names: Sequence[str]) -> None:
    """Delete the jobs of spool entries that no longer exist, except leased jobs."""
    await tx.executemany("DELETE FROM jobs WHERE name = ? AND state <> 'leased'", [(name,) for name in names])
