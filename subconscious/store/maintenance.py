"""Runs of maintenance jobs with their progress and results, and maintenance that was postponed.

Maintenance is postponed if it would change an unusual number of rows, which a wrong clock can cause.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import astuple, dataclass, field, replace
from time import time
from typing import Any

import aiosqlite

from subconscious.store.connect import Database

KEPT = 400
"""How many of the latest runs are kept: about one year of runs."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job: the current phase with its cursor, and the results of each phase so far."""

    id: int
    job: str
    state: str
    phase: str
    cursor: str
    started_at: float
    finished_at: float | None
    report: dict[str, dict[str, Any]] = field(default_factory=dict)


def _run(row: Any) -> Run:
    return Run(**dict(row) | {"report": json.loads(row["report"])})


async def begin(tx: aiosqlite.Connection, job: str, phase: str) -> Run:
    """Return the unfinished run of a job, or start a new one at its first phase."""
    await tx.execute(
        "INSERT INTO maintenance_runs (job, started_at, phase) SELECT ?1, ?2, ?3 WHERE NOT EXISTS"
        " (SELECT 1 FROM maintenance_runs WHERE job = ?1 AND state = 'running')",
        (job, time(), phase),
    )
    rows = await tx.execute_fetchall("SELECT * FROM maintenance_runs WHERE job = ? AND state = 'running'", (job,))
    return _run(next(iter(rows)))


async def advance(tx: aiosqlite.Connection, run: Run) -> None:
    """Save the progress and results of a run."""
    await tx.execute(
        "UPDATE maintenance_runs SET phase = ?, cursor = ?, report = ? WHERE id = ?",
        (run.phase, run.cursor, json.dumps(run.report), run.id),
    )


async def finish(tx: aiosqlite.Connection, run: Run) -> Run:
    """Mark a run as done, and delete all runs except the latest ``KEPT``; return the finished run."""
    over = replace(run, state="done", finished_at=time())
    await tx.execute(
        "UPDATE maintenance_runs SET state = 'done', finished_at = ? WHERE id = ?", (over.finished_at, run.id)
    )
    await tx.execute("DELETE FROM maintenance_runs WHERE id <= ?", (run.id - KEPT,))
    return over


async def unfinished(database: Database) -> list[str]:
    """Return the names of the jobs with an interrupted run."""
    rows = await database.rows("SELECT job FROM maintenance_runs WHERE state = 'running' ORDER BY id")
    return [row[0] for row in rows]


async def last_begun(database: Database, job: str) -> float:
    """Return the time when a job last started, or the time when the store was created if the job never ran.

    Times in the future come from a wrong clock and are ignored: they would postpone the job.
    """
    rows = await database.rows(
        "SELECT coalesce((SELECT max(started_at) FROM maintenance_runs WHERE job = ?1 AND started_at <= ?2),"
        " (SELECT min(applied_at) FROM schema_migrations WHERE applied_at <= ?2), 0)",
        (job, time()),
    )
    return float(rows[0][0])


async def listing(database: Database, limit: int) -> list[Run]:
    """Return the latest runs, latest first."""
    rows = await database.rows("SELECT * FROM maintenance_runs ORDER BY id DESC LIMIT ?", (limit,))
    return [_run(row) for row in rows]


async def slack(database: Database) -> float:
    """Return the share of empty pages in the database file, 0 to 1."""
    free = (await database.rows("PRAGMA freelist_count"))[0][0]
    pages = (await database.rows("PRAGMA page_count"))[0][0]
    return float(free / pages) if pages else 0.0


async def optimize(tx: aiosqlite.Connection) -> None:
    """Merge the segments of the full-text index, and update the statistics of SQLite's planner."""
    await tx.execute("INSERT INTO memories_fts (memories_fts) VALUES ('optimize')")
    await tx.execute("PRAGMA optimize")


async def ids_after(database: Database, after: int, limit: int) -> list[int]:
    """Return the ids of the next active memories with an id above ``after``, in ascending order."""
    rows = await database.rows(
        "SELECT id FROM memories WHERE id > ? AND archived_at IS NULL ORDER BY id LIMIT ?", (after, limit)
    )
    return [row[0] for row in rows]


_COLUMNS = "name, since, affected, total, waits, allowed"


@dataclass(frozen=True, slots=True)
class Postponed:
    """Maintenance with an unusual number of changes: ``affected`` of ``total`` rows.

    If ``waits`` is true, the maintenance was first postponed at the time ``since``; sessions that begin later confirm
    that the clock is right. If ``waits`` is false, the maintenance ran at that time. ``allowed`` means that a person
    permitted the maintenance.
    """

    name: str
    since: float
    affected: int
    total: int
    waits: bool
    allowed: bool = False


async def get_postponed(database: Database, name: str) -> Postponed | None:
    """Return the record of maintenance that would change, or changed, unusually many rows; None if there is none."""
    rows = await database.rows(f"SELECT {_COLUMNS} FROM postponed_upkeep WHERE name = ?", (name,))  # noqa: S608
    return _from(rows[0]) if rows else None


async def save_postponed(tx: aiosqlite.Connection, new: Postponed) -> None:
    """Insert or replace the record of postponed maintenance."""
    await tx.execute(
        f"INSERT OR REPLACE INTO postponed_upkeep ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - constant
        astuple(new),
    )


async def delete_postponed(tx: aiosqlite.Connection, name: str) -> None:
    """Delete the record of postponed maintenance, because the number of rows to change is usual again."""
    await tx.execute("DELETE FROM postponed_upkeep WHERE name = ?", (name,))


async def allow_postponed(tx: aiosqlite.Connection) -> None:
    """Record a person's permission to run all postponed maintenance."""
    await tx.execute("UPDATE postponed_upkeep SET allowed = 1 WHERE waits")


def waiting_postponed(connection: sqlite3.Connection) -> list[Postponed]:
    """Return the maintenance that waits for permission; an empty list for a database with an earlier schema."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'postponed_upkeep'").fetchone():
        return []
    rows = connection.execute(f"SELECT {_COLUMNS} FROM postponed_upkeep WHERE waits ORDER BY name")  # noqa: S608
    return [_from(row) for row in rows]


def _from(row: sqlite3.Row) -> Postponed:
    name, since, affected, total, waits, allowed = row
    return Postponed(name, since, affected, total, bool(waits), bool(allowed))
