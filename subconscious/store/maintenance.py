"""The record of maintenance: which run of which job is under way, how far it is, and what runs did."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from time import time
from typing import Any

import aiosqlite

from subconscious.store.connect import Database

KEPT = 400
"""Runs on record, the latest: those of a year."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job: the phase that is under way with its cursor, and what each phase did so far."""

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
    """Put a run of a job on record, at its first phase, or take up the one that was cut short."""
    await tx.execute(
        "INSERT INTO maintenance_runs (job, started_at, phase) SELECT ?1, ?2, ?3 WHERE NOT EXISTS"
        " (SELECT 1 FROM maintenance_runs WHERE job = ?1 AND state = 'running')",
        (job, time(), phase),
    )
    rows = await tx.execute_fetchall("SELECT * FROM maintenance_runs WHERE job = ? AND state = 'running'", (job,))
    return _run(next(iter(rows)))


async def advance(tx: aiosqlite.Connection, run: Run) -> None:
    """Save how far a run is and what it did."""
    await tx.execute(
        "UPDATE maintenance_runs SET phase = ?, cursor = ?, report = ? WHERE id = ?",
        (run.phase, run.cursor, json.dumps(run.report), run.id),
    )


async def finish(tx: aiosqlite.Connection, run: Run) -> Run:
    """A run is over; of the old ones only so many are kept."""
    over = replace(run, state="done", finished_at=time())
    await tx.execute(
        "UPDATE maintenance_runs SET state = 'done', finished_at = ? WHERE id = ?", (over.finished_at, run.id)
    )
    await tx.execute("DELETE FROM maintenance_runs WHERE id <= ?", (run.id - KEPT,))
    return over


async def unfinished(database: Database) -> list[str]:
    """The jobs that were cut short."""
    rows = await database.rows("SELECT job FROM maintenance_runs WHERE state = 'running' ORDER BY id")
    return [row[0] for row in rows]


async def last_begun(database: Database, job: str) -> float:
    """When a job was begun last; if never, when the store was made, for what is new has nothing to be maintained.

    A time ahead of now was written by a clock that was wrong, and is unknown: it must not keep the job waiting for it.
    """
    rows = await database.rows(
        "SELECT coalesce((SELECT max(started_at) FROM maintenance_runs WHERE job = ?1 AND started_at <= ?2),"
        " (SELECT min(applied_at) FROM schema_migrations WHERE applied_at <= ?2), 0)",
        (job, time()),
    )
    return float(rows[0][0])


async def listing(database: Database, limit: int) -> list[Run]:
    """The latest runs, the latest first."""
    rows = await database.rows("SELECT * FROM maintenance_runs ORDER BY id DESC LIMIT ?", (limit,))
    return [_run(row) for row in rows]


async def slack(database: Database) -> float:
    """Which share of the file is empty pages."""
    free = (await database.rows("PRAGMA freelist_count"))[0][0]
    pages = (await database.rows("PRAGMA page_count"))[0][0]
    return float(free / pages) if pages else 0.0


async def optimize(tx: aiosqlite.Connection) -> None:
    """Merge the full text's index into one piece, and let SQLite see to what its planner knows of the tables."""
    await tx.execute("INSERT INTO memories_fts (memories_fts) VALUES ('optimize')")
    await tx.execute("PRAGMA optimize")


async def ids_after(database: Database, after: int, limit: int) -> list[int]:
    """Ids of active memories, in their order."""
    rows = await database.rows(
        "SELECT id FROM memories WHERE id > ? AND archived_at IS NULL ORDER BY id LIMIT ?", (after, limit)
    )
    return [row[0] for row in rows]
