"""How far a model has read each transcript, and what waits to be read: durable, so that no death loses any of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import Any

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import insertion

FAR = 40 * 86_400.0
"""Seconds ahead of now that no pause reaches, a month's cap included: a time beyond is a clock's that was wrong."""


@dataclass(frozen=True, slots=True)
class Place:
    """The position to continue a file from: ``anchor``, the reader's ``state``, and the turns ``seen`` from there."""

    anchor: int
    state: str
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of one transcript that a model is to read, and how far it is."""

    id: int
    path: str
    session_id: str
    project_id: str
    begin: int
    until: int
    place: Place
    tokens: int
    attempts: int
    imported: bool


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one reading of a transcript added: from where, with which state of the reader, up to where, how much."""

    path: str
    session_id: str
    project_id: str
    begin: int
    state: str
    until: int
    tokens: int


async def gather(tx: aiosqlite.Connection, new: Gathered, enough: int) -> None:
    """Record that a transcript has grown; from ``enough`` tokens on it is due at once.

    A span grows only without a gap: turns from a time without a model stay unread.
    """
    grown = await tx.execute(
        "UPDATE model_readings SET until = :until, tokens = tokens + :tokens, session_id = :session,"
        " project_id = :project, due = due OR tokens + :tokens >= :enough WHERE path = :path AND until = :begin",
        _values(new, enough),
    )
    if grown.rowcount:
        return
    await tx.execute("DELETE FROM model_readings WHERE path = ? AND begin >= ?", (new.path, new.begin))
    await tx.execute(
        "INSERT INTO model_readings (path, session_id, project_id, begin, until, anchor, state, tokens, due)"
        " VALUES (:path, :session, :project, :begin, :until, :begin, :state, :tokens, :tokens >= :enough)",
        _values(new, enough),
    )


def _values(new: Gathered, enough: int) -> dict[str, Any]:
    return {
        "path": new.path,
        "session": new.session_id,
        "project": new.project_id,
        "begin": new.begin,
        "until": new.until,
        "state": new.state,
        "tokens": new.tokens,
        "enough": enough,
    }


@dataclass(frozen=True, slots=True)
class Reach:
    """A part of a file that a model has read or is to read; ``open`` while that is under way."""

    begin: int
    until: int
    place: Place
    open: bool


async def reaches(database: Database) -> dict[str, list[Reach]]:
    """How far a model has come in every file, by path."""
    found: dict[str, list[Reach]] = {}
    for row in await database.rows("SELECT *, due OR tokens > 0 AS open FROM model_readings ORDER BY path, begin"):
        place = Place(row["anchor"], row["state"], row["seen"])
        found.setdefault(row["path"], []).append(Reach(row["begin"], row["until"], place, bool(row["open"])))
    return found


async def order(tx: aiosqlite.Connection, span: Span, last: Place) -> bool:
    """Record a span that an import queued for reading; False if another import has done so.

    It extends the previous span, if that ends there, and ends at ``last``.
    """
    values = {
        "path": span.path,
        "session_id": span.session_id,
        "project_id": span.project_id,
        "begin": span.begin,
        "until": span.until,
        "anchor": last.anchor,
        "state": last.state,
        "seen": last.seen,
        "imported": 1,
        "read_at": time(),
    }
    grown = await tx.execute(
        "UPDATE model_readings SET until = :until, anchor = :anchor, state = :state, seen = :seen, read_at = :read_at"
        " WHERE path = :path AND until = :begin AND NOT due AND tokens = 0",
        values,
    )
    if grown.rowcount:
        return True
    overlaps = "SELECT 1 FROM model_readings WHERE path = :path AND begin < :until AND until > :begin"
    if list(await tx.execute_fetchall(overlaps, values)):
        return False
    added = await tx.execute(*insertion("model_readings", values, "ON CONFLICT DO NOTHING"))
    return added.rowcount > 0


async def call_due(tx: aiosqlite.Connection, session_id: str) -> None:
    """Make a session's unread span due, because the session pauses or is over."""
    await tx.execute("UPDATE model_readings SET due = 1 WHERE session_id = ? AND tokens > 0", (session_id,))


async def next_due(database: Database, now: float) -> Span | None:
    """The span to read now: the one that has waited longest first."""
    rows = await database.rows(
        "SELECT * FROM model_readings WHERE due AND (retry_at <= ? OR retry_at > ?) ORDER BY retry_at, id LIMIT 1",
        (now, now + FAR),
    )
    return _span(rows[0]) if rows else None


async def next_retry(database: Database) -> float | None:
    """When the next span that waits for another try may be read; None where none waits."""
    rows = await database.rows("SELECT min(retry_at) FROM model_readings WHERE due")
    return rows[0][0] if rows else None


async def get(database: Database, span_id: int) -> Span | None:
    """One span, if it is still there."""
    rows = await database.rows("SELECT * FROM model_readings WHERE id = ?", (span_id,))
    return _span(rows[0]) if rows else None


def _span(row: sqlite3.Row) -> Span:
    place = Place(row["anchor"], row["state"], row["seen"])
    same = ("id", "path", "session_id", "project_id", "begin", "until", "tokens", "attempts")
    return Span(**{name: row[name] for name in same}, place=place, imported=bool(row["imported"]))


async def advance(tx: aiosqlite.Connection, span: Span, place: Place, left: int, *, more: bool) -> bool:
    """The model has read on, in the transaction of what came of it; False when somebody else had it read meanwhile.

    ``left`` tokens are still unread. It stays due while there is ``more``, or when it has grown meanwhile.
    """
    changed = await tx.execute(
        "UPDATE model_readings SET anchor = :anchor, state = :state, seen = :seen, attempts = 0, retry_at = 0,"
        " reason = '', read_at = :now, tokens = CASE WHEN until = :until THEN :left ELSE :left + tokens - :had END,"
        " due = CASE WHEN :more OR until > :until THEN due ELSE 0 END"
        " WHERE id = :id AND anchor = :was AND seen = :saw",
        {
            "anchor": place.anchor,
            "state": place.state,
            "seen": place.seen,
            "now": time(),
            "until": span.until,
            "left": left,
            "had": span.tokens,
            "more": int(more),
            "id": span.id,
            "was": span.place.anchor,
            "saw": span.place.seen,
        },
    )
    return changed.rowcount > 0


async def wait(tx: aiosqlite.Connection, span_id: int, at: float, reason: str, *, failed: bool) -> None:
    """Retry a span at ``at``; only errors of the span itself count as an attempt."""
    await tx.execute(
        "UPDATE model_readings SET retry_at = ?, reason = ?, attempts = attempts + ? WHERE id = ?",
        (at, reason, int(failed), span_id),
    )


async def close(tx: aiosqlite.Connection, span_id: int, reason: str) -> None:
    """Nothing of a span can be read any more; why stays on record."""
    await tx.execute("UPDATE model_readings SET due = 0, tokens = 0, reason = ? WHERE id = ?", (reason, span_id))


async def unlock(tx: aiosqlite.Connection, session_id: str = "") -> None:
    """Make waiting spans due now, of one session or of all: settings or a key may have changed."""
    await tx.execute("UPDATE model_readings SET retry_at = 0 WHERE due AND ?1 IN ('', session_id)", (session_id,))


async def unread_sessions(database: Database) -> list[str]:
    """The sessions of which something waits to be read."""
    rows = await database.rows("SELECT DISTINCT session_id FROM model_readings WHERE due OR tokens > 0")
    return [row[0] for row in rows]


async def forget_unread(tx: aiosqlite.Connection, session_id: str) -> None:
    """Withdraw a session's unread spans, because no model is wanted; they stay unread."""
    await tx.execute("DELETE FROM model_readings WHERE session_id = ? AND (due OR tokens > 0)", (session_id,))


async def unread(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """The rows of what waits to be read of a session, for who wants them back."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM model_readings WHERE session_id = ? AND (due OR tokens > 0) ORDER BY id", (session_id,)
    )
    return [dict(row) for row in rows]


async def withdraw(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """A person wants nothing more read of a session; return the rows, for who wants them back."""
    rows = await unread(tx, session_id)
    await forget_unread(tx, session_id)
    for row in rows:
        await events.record(tx, "withdraw", "reading", row["id"], actor="user", session_id=session_id, before=row)
    return rows


async def put_back(tx: aiosqlite.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Restore withdrawn spans, except those that were recorded again."""
    for row in rows:
        done = await tx.execute(*insertion("model_readings", row, "ON CONFLICT DO NOTHING"))
        if done.rowcount:
            who = {"actor": "user", "session_id": row["session_id"]}
            await events.record(tx, "put back", "reading", row["id"], after=dict(row), **who)


async def counts(database: Database) -> dict[str, Any]:
    """How many spans gather, wait to be read, and why the next of them waits."""
    rows = await database.rows(
        "SELECT count(*) FILTER (WHERE tokens > 0 AND NOT due) AS gathering, count(*) FILTER (WHERE due) AS due,"
        " coalesce(sum(tokens), 0) AS tokens, min(retry_at) FILTER (WHERE due) AS retry_at FROM model_readings"
    )
    why = await database.rows("SELECT reason FROM model_readings WHERE due AND reason <> '' ORDER BY retry_at LIMIT 1")
    return dict(rows[0]) | {"reason": why[0]["reason"] if why else ""}
