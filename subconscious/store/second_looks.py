"""The queue and the results of second looks. Both are stored, so that each look is made once and none is lost.

A second look is a model's review, after a session, of the captures that a model proposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import time
from typing import cast

import aiosqlite

from subconscious.domain.model import Decision
from subconscious.store.capture_rows import capture_from
from subconscious.store.connect import Database
from subconscious.store.model_readings import FAR
from subconscious.wire.captures import Capture
from subconscious.wire.daemon import SecondLookCounts

WAITS = "a second look is still to come"
"""The reservation (why sessions don't receive a capture's memory) of captures that wait for a second look.

Such captures don't count towards a session's limits.
"""

_WAITING = (
    "SELECT session_id FROM second_looks WHERE looked_at IS NULL UNION SELECT id AS session_id FROM sessions"
    " WHERE story_due"
)
"""SQL: the sessions with captures that wait for a second look, or with a requested summary, each once."""

_READY = (
    "(SELECT status FROM sessions WHERE id = w.session_id) IS NOT 'open'"
    " AND NOT EXISTS (SELECT 1 FROM model_readings AS r WHERE r.session_id = w.session_id AND (r.due OR r.tokens > 0))"
    " AND NOT EXISTS (SELECT 1 FROM llm_requests AS q WHERE q.session_id = w.session_id"
    " AND q.purpose IN ('capture', 'import') AND q.state IN ('waiting', 'sent'))"
)
"""SQL condition: the session has ended, and a model has read all of it."""


@dataclass(frozen=True, slots=True)
class WaitingCapture:
    """A capture that waits for its second look, with the result of the admission gate and the text around its quote."""

    capture: Capture
    decision: Decision
    reservation: str | None
    before: str


async def enqueue(
    tx: aiosqlite.Connection, capture_id: int, decision: Decision, reservation: str | None, before: str
) -> None:
    """Queue a capture for a model's second look, in the transaction that stored it.

    ``decision`` and ``reservation`` are the result of the admission gate, ``before`` is the text around the quote.
    """
    await tx.execute(
        "INSERT INTO second_looks (capture_id, session_id, decision, reservation, before)"
        " SELECT id, session_id, ?, ?, ? FROM implicit_captures WHERE id = ? AND session_id IS NOT NULL"
        " ON CONFLICT (capture_id) DO UPDATE SET decision = excluded.decision, reservation = excluded.reservation,"
        " before = excluded.before, looked_at = NULL, verdict = ''",
        (decision.value, reservation, before, capture_id),
    )


async def next_due(database: Database, now: float) -> tuple[str, int] | None:
    """Return the id and the failed attempts of the next session due for a second look; None if no session is due."""
    rows = await database.rows(
        f"SELECT w.session_id, coalesce(s.attempts, 0) FROM ({_WAITING}) AS w"  # noqa: S608 - constants
        f" LEFT JOIN session_looks AS s USING (session_id) WHERE {_READY}"
        " AND (coalesce(s.retry_at, 0) <= ? OR s.retry_at > ?) ORDER BY coalesce(s.retry_at, 0), 1 LIMIT 1",
        (now, now + FAR),
    )
    return (str(rows[0][0]), int(rows[0][1])) if rows else None


async def next_retry(database: Database) -> float | None:
    """Return the time from which the next ended session is due for a model's second look; None if none waits."""
    rows = await database.rows(
        f"SELECT min(coalesce(s.retry_at, 0)) FROM ({_WAITING}) AS w"  # noqa: S608 - constants
        f" LEFT JOIN session_looks AS s USING (session_id) WHERE {_READY}"
    )
    found: float | None = rows[0][0]
    return found


async def waiting_captures(tx: aiosqlite.Connection, session_id: str) -> list[WaitingCapture]:
    """Return a session's captures that wait for a model's second look, without those that were decided meanwhile."""
    rows = await tx.execute_fetchall(
        "SELECT c.*, l.decision AS gate, l.reservation AS kept, l.before FROM second_looks AS l"
        " JOIN implicit_captures AS c ON c.id = l.capture_id AND c.status = 'review' AND c.reservation = ?"
        " WHERE l.session_id = ? AND l.looked_at IS NULL ORDER BY c.id",
        (WAITS, session_id),
    )
    return [WaitingCapture(capture_from(row), Decision(row["gate"]), row["kept"], row["before"]) for row in rows]


async def finish(tx: aiosqlite.Connection, session_id: str, verdicts: dict[int, str]) -> None:
    """Record why a second look rejected captures (``verdicts``, by id), and remove the session from the queue."""
    now = time()
    await tx.executemany(
        "UPDATE second_looks SET verdict = ? WHERE capture_id = ?", [(why, one) for one, why in verdicts.items()]
    )
    await tx.execute(
        "UPDATE second_looks SET looked_at = ?, before = '' WHERE session_id = ? AND looked_at IS NULL",
        (now, session_id),
    )
    await tx.execute("UPDATE sessions SET story_due = 0 WHERE id = ?", (session_id,))
    await tx.execute("DELETE FROM session_looks WHERE session_id = ?", (session_id,))


async def retry_later(tx: aiosqlite.Connection, session_id: str, at: float, reason: str, *, failed: bool) -> None:
    """Postpone a model's second look at a session until ``at``; with ``failed``, count a failed attempt."""
    await tx.execute(
        "INSERT INTO session_looks (session_id, attempts, retry_at, reason) VALUES (:id, :failed, :at, :reason)"
        " ON CONFLICT (session_id) DO UPDATE SET attempts = attempts + :failed, retry_at = :at, reason = :reason",
        {"id": session_id, "failed": int(failed), "at": at, "reason": reason},
    )


async def retry_now(tx: aiosqlite.Connection, session_id: str = "") -> None:
    """Make the second look at a session ("": at every session) due now: settings or a key may have changed."""
    await tx.execute("UPDATE session_looks SET retry_at = 0 WHERE ?1 IN ('', session_id)", (session_id,))


async def waiting_sessions(database: Database) -> list[str]:
    """Return the ids of the sessions that wait for a model's second look or for a model's summary."""
    return [row[0] for row in await database.rows(_WAITING)]


async def counts(database: Database) -> SecondLookCounts:
    """Return the numbers of waiting sessions and of rejected captures, and why second looks are postponed.

    The reason is that of the session to be retried first; "" if no session was postponed.
    """
    rows = await database.rows(
        f"SELECT (SELECT count(*) FROM ({_WAITING})) AS looks,"  # noqa: S608 - constants
        " (SELECT count(*) FROM second_looks WHERE verdict <> '') AS refused"
    )
    why = await database.rows("SELECT reason FROM session_looks WHERE reason <> '' ORDER BY retry_at LIMIT 1")
    return cast("SecondLookCounts", dict(rows[0]) | {"looks_wait": why[0]["reason"] if why else ""})
