"""The append-only log of changes (SPEC N10): who did what to what, with the values before and after."""

from __future__ import annotations

import json
import sqlite3
from time import time
from typing import Any

import aiosqlite

from subconscious.store.connect import Database


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
    was taken away. Changes that belong together have one ``act``.
    """
    await tx.execute(
        "INSERT INTO events (at, actor, action, subject, subject_id, session_id, reason, before, after, act)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (time(), actor, action, subject, str(subject_id), session_id, reason, _json(before), _json(after), act),
    )


async def history(database: Database, subject: str, subject_id: int | str) -> list[dict[str, Any]]:
    """All events of one memory, capture or session, oldest first."""
    rows = await database.rows(
        "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id", (subject, str(subject_id))
    )
    return [_opened(row) for row in rows]


async def latest(tx: aiosqlite.Connection, subject: str, subject_id: int | str) -> dict[str, Any] | None:
    """The newest event of one subject, as the running transaction sees it."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id DESC LIMIT 1",
            (subject, str(subject_id)),
        )
    )
    return _opened(rows[0]) if rows else None


def _opened(row: sqlite3.Row) -> dict[str, Any]:
    return dict(row) | {side: json.loads(row[side]) if row[side] else None for side in ("before", "after")}


async def last(database: Database, action: str, subject: str, subject_id: str) -> float:
    """When ``action`` was last done to the subject; 0.0 if never."""
    rows = await database.rows(
        "SELECT max(at) FROM events WHERE action = ? AND subject = ? AND subject_id = ?",
        (action, subject, subject_id),
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
