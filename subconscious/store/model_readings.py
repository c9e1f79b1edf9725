"""How far a language model has read each transcript, and which parts are still unread.

A *span* is a part of one transcript file that a model has to read. It is *due* if the model should read it now, without
waiting for more text. Positions are byte offsets in the file; they are stored, so that a crash loses none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import Any, cast

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import insertion
from subconscious.wire.daemon import ReadingCounts

FAR = 40 * 86_400.0
"""The maximum number of seconds until a retry: more than a month, because a monthly cap can delay a retry that long.

A later time comes from a wrong clock.
"""


@dataclass(frozen=True, slots=True)
class ReadingPosition:
    """The position from which to continue reading a file.

    ``anchor`` is the byte offset, ``state`` the state of the reader there (JSON), ``seen`` the number of turns after
    the offset that were read already.
    """

    anchor: int
    state: str
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of one transcript that a model is to read, and how far it has been read."""

    id: int
    path: str
    session_id: str
    project_id: str
    begin: int
    until: int
    place: ReadingPosition
    tokens: int
    attempts: int
    imported: bool


@dataclass(frozen=True, slots=True)
class NewText:
    """New text of a transcript: start and end in bytes, the reader's state at the start, and the number of tokens."""

    path: str
    session_id: str
    project_id: str
    begin: int
    state: str
    until: int
    tokens: int


async def record_new_text(tx: aiosqlite.Connection, new: NewText, enough: int) -> None:
    """Record that a transcript has grown; a span of at least ``enough`` tokens is due at once.

    New text extends a span only if it follows without a gap: text from a time when no model was set up stays unread.
    Otherwise, spans that begin at or after the new text are deleted, because the file was rewritten, and a new span is
    added.
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


def _values(new: NewText, enough: int) -> dict[str, Any]:
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
class Part:
    """A part of a file that a model has read or is to read; ``open`` means that it is still unread."""

    begin: int
    until: int
    place: ReadingPosition
    open: bool


async def parts(database: Database) -> dict[str, list[Part]]:
    """Return the parts of each file that a model has read or is to read, by path."""
    found: dict[str, list[Part]] = {}
    for row in await database.rows("SELECT *, due OR tokens > 0 AS open FROM model_readings ORDER BY path, begin"):
        place = ReadingPosition(row["anchor"], row["state"], row["seen"])
        found.setdefault(row["path"], []).append(Part(row["begin"], row["until"], place, bool(row["open"])))
    return found


async def insert_imported(tx: aiosqlite.Connection, span: Span, last: ReadingPosition) -> bool:
    """Record a span that an import has queued for reading; return False if a part of it was recorded before.

    If a recorded span without unread text ends where the new one begins, that span is extended instead. The reading
    position becomes ``last``.
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


async def make_due(tx: aiosqlite.Connection, session_id: str) -> None:
    """Make a session's unread spans due, because the session pauses or has ended."""
    await tx.execute("UPDATE model_readings SET due = 1 WHERE session_id = ? AND tokens > 0", (session_id,))


async def next_due(database: Database, now: float) -> Span | None:
    """Return the due span that has waited longest; None if none is due."""
    rows = await database.rows(
        "SELECT * FROM model_readings WHERE due AND (retry_at <= ? OR retry_at > ?) ORDER BY retry_at, id LIMIT 1",
        (now, now + FAR),
    )
    return _span(rows[0]) if rows else None


async def next_retry(database: Database) -> float | None:
    """Return when the next due span may be read (0 if it has not been tried yet: at once); None if no span is due."""
    rows = await database.rows("SELECT min(retry_at) FROM model_readings WHERE due")
    return rows[0][0] if rows else None


async def get(database: Database, span_id: int) -> Span | None:
    """Return one span; None if it was deleted."""
    rows = await database.rows("SELECT * FROM model_readings WHERE id = ?", (span_id,))
    return _span(rows[0]) if rows else None


def _span(row: sqlite3.Row) -> Span:
    place = ReadingPosition(row["anchor"], row["state"], row["seen"])
    same = ("id", "path", "session_id", "project_id", "begin", "until", "tokens", "attempts")
    return Span(**{name: row[name] for name in same}, place=place, imported=bool(row["imported"]))


async def advance(tx: aiosqlite.Connection, span: Span, place: ReadingPosition, left: int, *, more: bool) -> bool:
    """Move a span's position, in the transaction that stores the results; return False if another task has moved it.

    ``left`` is the number of tokens still unread. The span stays due if there is ``more`` to read now, or if it has
    grown meanwhile.
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


async def retry_later(tx: aiosqlite.Connection, span_id: int, at: float, reason: str, *, failed: bool) -> None:
    """Retry a span at the time ``at``.

    With ``failed``, this counts as an attempt, because the span itself caused the error.
    """
    await tx.execute(
        "UPDATE model_readings SET retry_at = ?, reason = ?, attempts = attempts + ? WHERE id = ?",
        (at, reason, int(failed), span_id),
    )


async def close(tx: aiosqlite.Connection, span_id: int, reason: str) -> None:
    """Record that a span can't be read any more, with the reason."""
    await tx.execute("UPDATE model_readings SET due = 0, tokens = 0, reason = ? WHERE id = ?", (reason, span_id))


async def retry_now(tx: aiosqlite.Connection, session_id: str = "") -> None:
    """Make waiting spans due now, of one session or of all: settings or a key may have changed."""
    await tx.execute("UPDATE model_readings SET retry_at = 0 WHERE due AND ?1 IN ('', session_id)", (session_id,))


async def unread_sessions(database: Database) -> list[str]:
    """Return the ids of the sessions that have unread spans."""
    rows = await database.rows("SELECT DISTINCT session_id FROM model_readings WHERE due OR tokens > 0")
    return [row[0] for row in rows]


async def delete_unread(tx: aiosqlite.Connection, session_id: str) -> None:
    """Delete a session's unread spans: a model will not read these parts later."""
    await tx.execute("DELETE FROM model_readings WHERE session_id = ? AND (due OR tokens > 0)", (session_id,))


async def unread(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """Return the rows of a session's unread spans, for ``restore_withdrawn``."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM model_readings WHERE session_id = ? AND (due OR tokens > 0) ORDER BY id", (session_id,)
    )
    return [dict(row) for row in rows]


async def withdraw(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """Delete a session's unread spans because a person asked for it; return their rows for ``restore_withdrawn``."""
    rows = await unread(tx, session_id)
    await delete_unread(tx, session_id)
    for row in rows:
        await events.record(tx, "withdraw", "reading", row["id"], actor="user", session_id=session_id, before=row)
    return rows


async def restore_withdrawn(tx: aiosqlite.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Restore withdrawn spans, except spans that were recorded again meanwhile."""
    for row in rows:
        done = await tx.execute(*insertion("model_readings", row, "ON CONFLICT DO NOTHING"))
        if done.rowcount:
            origin = {"actor": "user", "session_id": row["session_id"]}
            await events.record(tx, "put back", "reading", row["id"], after=dict(row), **origin)


async def counts(database: Database) -> ReadingCounts:
    """Return how many spans are due and how many still grow, the unread tokens, and the next retry with its reason."""
    rows = await database.rows(
        "SELECT count(*) FILTER (WHERE tokens > 0 AND NOT due) AS gathering, count(*) FILTER (WHERE due) AS due,"
        " coalesce(sum(tokens), 0) AS tokens, min(retry_at) FILTER (WHERE due) AS retry_at FROM model_readings"
    )
    why = await database.rows("SELECT reason FROM model_readings WHERE due AND reason <> '' ORDER BY retry_at LIMIT 1")
    return cast("ReadingCounts", dict(rows[0]) | {"reason": why[0]["reason"] if why else ""})
