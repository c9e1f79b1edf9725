"""The append-only log of changes: who did what to what, with the values before and after."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import NotFoundError
from subconscious.store.connect import ACT, Database
from subconscious.store.rows import marks


async def record(
    tx: aiosqlite.Connection,
    action: str,
    subject: str,
    subject_id: int | str,
    *,
    actor: str = "daemon",
    session_id: str | None = None,
    reason: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    act: str = "",
) -> None:
    """Append one event, in the transaction of the change it tells of.

    ``before`` and ``after`` are the columns that changed, with their values; None before: it was made; None after: it
    was taken away. Changes that belong together have one ``act``: those of one transaction, unless it is given.
    """
    await tx.execute(
        "INSERT INTO events (at, actor, action, subject, subject_id, session_id, reason, before, after, act)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            time(),
            actor,
            action,
            subject,
            str(subject_id),
            session_id,
            reason,
            _json(before),
            _json(after),
            act or ACT.get(),
        ),
    )


async def history(database: Database, subject: str, subject_id: int | str) -> list[dict[str, Any]]:
    """All events of one memory, capture or session, oldest first."""
    rows = await database.rows(
        "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id", (subject, str(subject_id))
    )
    return [_opened(row) for row in rows]


async def subjects_by_reason(
    database: Database, action: str, subject: str, reasons: Sequence[str]
) -> dict[str, set[str]]:
    """The ids of the subjects that events of one action are about, by the events' reasons."""
    rows = await database.rows(
        "SELECT reason, subject_id FROM events WHERE subject = ? AND action = ?"  # noqa: S608
        f" AND reason IN ({marks(reasons)})",
        (subject, action, *reasons),
    )
    found: dict[str, set[str]] = {}
    for reason, subject_id in rows:
        found.setdefault(reason, set()).add(subject_id)
    return found


async def latest(tx: aiosqlite.Connection, subject: str, subject_id: int | str, but: str = "") -> dict[str, Any] | None:
    """The newest event of one subject, as the running transaction sees it; ``but`` is an action to pass over."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT * FROM events WHERE subject = ? AND subject_id = ? AND action <> ? ORDER BY id DESC LIMIT 1",
            (subject, str(subject_id), but),
        )
    )
    return _opened(rows[0]) if rows else None


async def page(database: Database, before: int, limit: int, but: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Events older than one, the latest first; without the marks of what was typed, and those of some subjects."""
    left_out = ("typed", "prompt", *but)
    rows = await database.rows(
        f"SELECT * FROM events WHERE id < ? AND subject NOT IN ({marks(left_out)}) ORDER BY id DESC LIMIT ?",  # noqa: S608
        (before, *left_out, limit),
    )
    return [_opened(row) for row in rows]


async def of_session(database: Database, session_id: str) -> list[dict[str, Any]]:
    """Return the events that a session caused and those about its story, oldest first."""
    rows = await database.rows(
        "SELECT * FROM events WHERE subject NOT IN ('typed', 'prompt')"
        " AND (session_id = ?1 OR (subject = 'session' AND subject_id = ?1)) ORDER BY id",
        (session_id,),
    )
    return [_opened(row) for row in rows]


async def held(tx: aiosqlite.Connection, event_id: int) -> dict[str, Any]:
    """One event, as the running transaction sees it. Raises NotFoundError."""
    rows = list(await tx.execute_fetchall("SELECT * FROM events WHERE id = ?", (event_id,)))
    if not rows:
        raise NotFoundError(f"there is no event {event_id}", "`subconscious history` lists the latest")
    return _opened(rows[0])


async def of_act(tx: aiosqlite.Connection, event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of the same act as one, oldest first; only itself, if it has no act."""
    if not event["act"]:
        return [event]
    rows = await tx.execute_fetchall("SELECT * FROM events WHERE act = ? AND act <> '' ORDER BY id", (event["act"],))
    return [_opened(row) for row in rows]


async def after(tx: aiosqlite.Connection, event: dict[str, Any]) -> list[dict[str, Any]]:
    """What happened to an event's subject since, the latest first."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM events WHERE subject = ? AND subject_id = ? AND id > ? ORDER BY id DESC",
        (event["subject"], event["subject_id"], event["id"]),
    )
    return [_opened(row) for row in rows]


def _opened(row: sqlite3.Row) -> dict[str, Any]:
    return dict(row) | {side: json.loads(row[side]) if row[side] else None for side in ("before", "after")}


async def newest(database: Database) -> int:
    """The number of the newest event; 0 where nothing has happened yet. Numbers are never used twice."""
    rows = await database.rows("SELECT max(id) FROM events")
    return rows[0][0] or 0


async def last(database: Database, action: str, subject: str, subject_id: str) -> float:
    """When ``action`` was last done to the subject; 0.0 if never. A time ahead of now, of a wrong clock, is none."""
    rows = await database.rows(
        "SELECT max(at) FROM events WHERE action = ? AND subject = ? AND subject_id = ? AND at <= ?",
        (action, subject, subject_id, time()),
    )
    return float(rows[0][0] or 0.0)


async def reasons(database: Database, action: str, subject: str, beginning: str) -> set[str]:
    """The reasons of all events of that action whose subject's id begins so."""
    rows = await database.rows(
        "SELECT reason FROM events WHERE subject = ? AND subject_id >= ? AND subject_id < ? AND action = ?",
        (subject, beginning, f"{beginning}\U0010ffff", action),
    )
    return {row["reason"] for row in rows}


def _json(values: dict[str, Any] | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False)
