"""The append-only log of changes: who changed what, with the values before and after."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from time import time
from typing import Any, cast

import aiosqlite

from subconscious.domain.errors import NotFoundError
from subconscious.store.connect import CURRENT_ACT, Database
from subconscious.store.rows import qmarks
from subconscious.wire.history import Event


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
    """Append one event, in the transaction of the change that it records.

    ``before`` and ``after`` are the changed columns with their values; ``before`` is None for an insertion, ``after``
    is None for a deletion. Events of one action by a user or the daemon share the id ``act``, so that they are undone
    together; by default, all events of a transaction share one id.
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
            act or CURRENT_ACT.get(),
        ),
    )


async def history(database: Database, subject: str, subject_id: int | str) -> list[Event]:
    """Return all events of one memory, capture or session, oldest first."""
    rows = await database.rows(
        "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id", (subject, str(subject_id))
    )
    return [_opened(row) for row in rows]


async def archivals(database: Database, ids: Sequence[int]) -> dict[int, Event]:
    """Return the latest archiving event of each memory, by the memory's id."""
    rows = await database.rows(
        "SELECT * FROM events WHERE id IN (SELECT max(id) FROM events WHERE subject = 'memory'"  # noqa: S608
        f" AND subject_id IN ({qmarks(ids)}) AND before IS NOT NULL AND after LIKE '%\"archived_at\": %'"
        " AND after NOT LIKE '%\"archived_at\": null%' GROUP BY subject_id)",
        [str(number) for number in ids],
    )
    return {int(event["subject_id"]): event for event in map(_opened, rows)}


async def subjects_by_reason(
    database: Database, action: str, subject: str, reasons: Sequence[str]
) -> dict[str, set[str]]:
    """Return the subject ids of all events with this action, this subject and one of ``reasons``, by reason."""
    rows = await database.rows(
        "SELECT reason, subject_id FROM events WHERE subject = ? AND action = ?"  # noqa: S608
        f" AND reason IN ({qmarks(reasons)})",
        (subject, action, *reasons),
    )
    found: dict[str, set[str]] = {}
    for reason, subject_id in rows:
        found.setdefault(reason, set()).add(subject_id)
    return found


async def latest(
    tx: aiosqlite.Connection, subject: str, subject_id: int | str, *, action: str = "", excluded: str = ""
) -> Event | None:
    """Return the newest event of a subject as the running transaction sees it; None if there is none.

    With ``action``, only events with this action count. Events with the action ``excluded`` are skipped.
    """
    rows = list(
        await tx.execute_fetchall(
            "SELECT * FROM events WHERE subject = ?1 AND subject_id = ?2 AND (action = ?3 OR ?3 = '') AND action <> ?4"
            " ORDER BY id DESC LIMIT 1",
            (subject, str(subject_id), action, excluded),
        )
    )
    return _opened(rows[0]) if rows else None


async def page(
    database: Database, before: int, limit: int, excluded: Sequence[str] = (), internal: Sequence[str] = ()
) -> list[Event]:
    """Return events with an id below ``before``, latest first.

    Left out are events that record who typed a text, events with a subject in ``excluded``, and events whose subject
    and action, such as "capture bind", are in ``internal``.
    """
    left_out = ("typed", "prompt", *excluded)
    rows = await database.rows(
        f"SELECT * FROM events WHERE id < ? AND subject NOT IN ({qmarks(left_out)})"  # noqa: S608
        f" AND subject || ' ' || action NOT IN ({qmarks(internal)}) ORDER BY id DESC LIMIT ?",
        (before, *left_out, *internal, limit),
    )
    return [_opened(row) for row in rows]


async def of_session(database: Database, session_id: str) -> list[Event]:
    """Return the events that a session caused and those about the session itself, oldest first, without prompts."""
    rows = await database.rows(
        "SELECT * FROM events WHERE subject NOT IN ('typed', 'prompt')"
        " AND (session_id = ?1 OR (subject = 'session' AND subject_id = ?1)) ORDER BY id",
        (session_id,),
    )
    return [_opened(row) for row in rows]


async def require(tx: aiosqlite.Connection, event_id: int) -> Event:
    """Return one event as the running transaction sees it. Raises NotFoundError if there is none with this id."""
    rows = list(await tx.execute_fetchall("SELECT * FROM events WHERE id = ?", (event_id,)))
    if not rows:
        raise NotFoundError(f"there is no event {event_id}", "`subconscious history` lists the latest")
    return _opened(rows[0])


async def of_act(tx: aiosqlite.Connection, event: Event) -> list[Event]:
    """Return the events with the act id of ``event``, oldest first; only ``event`` itself if it has no act id."""
    if not event["act"]:
        return [event]
    rows = await tx.execute_fetchall("SELECT * FROM events WHERE act = ? AND act <> '' ORDER BY id", (event["act"],))
    return [_opened(row) for row in rows]


async def newest_of_act(database: Database, act: str) -> int:
    """Return the id of the newest event of an act; 0 if there is none."""
    rows = await database.rows("SELECT max(id) FROM events WHERE act = ? AND act <> ''", (act,))
    return rows[0][0] or 0


async def after(tx: aiosqlite.Connection, event: Event) -> list[Event]:
    """Return later events of the same subject, latest first."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM events WHERE subject = ? AND subject_id = ? AND id > ? ORDER BY id DESC",
        (event["subject"], event["subject_id"], event["id"]),
    )
    return [_opened(row) for row in rows]


def _opened(row: sqlite3.Row) -> Event:
    sides = {side: json.loads(row[side]) if row[side] else None for side in ("before", "after")}
    return cast("Event", dict(row) | sides)


async def latest_id(database: Database) -> int:
    """Return the id of the newest event, 0 if there is none. Ids are never reused."""
    rows = await database.rows("SELECT max(id) FROM events")
    return rows[0][0] or 0


async def last_time(database: Database, action: str, subject: str, subject_id: str) -> float:
    """Return the time of the latest event with ``action`` on the subject; 0.0 if there is none.

    Times in the future come from a wrong clock and are ignored.
    """
    rows = await database.rows(
        "SELECT max(at) FROM events WHERE action = ? AND subject = ? AND subject_id = ? AND at <= ?",
        (action, subject, subject_id, time()),
    )
    return float(rows[0][0] or 0.0)


async def reasons_of(database: Database, action: str, subject: str, beginning: str) -> set[str]:
    """Return the reasons of all events with this action and subject whose subject id starts with ``beginning``."""
    rows = await database.rows(
        "SELECT reason FROM events WHERE subject = ? AND subject_id >= ? AND subject_id < ? AND action = ?",
        (subject, beginning, f"{beginning}\U0010ffff", action),
    )
    return {row["reason"] for row in rows}


def _json(values: dict[str, Any] | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False)
