"""Requests to a model that need no immediate answer, and the batches in which they are sent.

A request is `waiting`, then `sent` in a batch, then `done` or `buried` (failed for good). The transaction that uses a
model's answer marks the request as done, so no answer is used twice.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.jobs import FAR
from subconscious.store.rows import Diff, insertion, qmarks, update_row
from subconscious.wire.daemon import RequestCounts

DAY = 86_400.0

EMPTIED = "system = '', text = '', payload = '{}', batch_id = NULL"
"""SQL assignments that delete the texts of a finished request. The request's key stays."""


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A request to a model, as it is stored.

    ``payload`` is data of the requester, which is returned with the answer. ``provider`` and ``model`` are set once the
    request has been answered.
    """

    id: int
    purpose: str
    key: str
    system: str
    text: str
    max_tokens: int
    payload: Mapping[str, Any]
    session_id: str
    project_id: str
    attempts: int
    alone: bool
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch sent to a provider. If ``name`` is None, it is unknown whether the provider accepted the batch."""

    id: int
    provider: str
    model: str
    name: str | None
    polls: int
    created_at: float


@dataclass(frozen=True, slots=True)
class Request:
    """A request to store, with the session and project that its cost is charged to."""

    purpose: str
    key: str
    system: str
    text: str
    max_tokens: int
    payload: Mapping[str, Any]
    session_id: str
    project_id: str
    created_at: float


async def insert(tx: aiosqlite.Connection, request: Request) -> bool:
    """Store a request; return False if a request with the same purpose and key was stored before."""
    values = asdict(request) | {"payload": json.dumps(dict(request.payload), ensure_ascii=False)}
    cursor = await tx.execute(*insertion("llm_requests", values, "ON CONFLICT (purpose, key) DO NOTHING"))
    return cursor.rowcount > 0


async def waiting(database: Database, purposes: Sequence[str], now: float, limit: int) -> list[StoredRequest]:
    """Return the requests that are due, oldest first.

    A request with a time far in the future, which comes from a wrong clock, counts as due.
    """
    rows = await database.rows(
        f"SELECT * FROM llm_requests WHERE state = 'waiting' AND purpose IN ({qmarks(purposes)})"  # noqa: S608
        " AND run_after NOT BETWEEN ? AND ? ORDER BY id LIMIT ?",
        (*purposes, now, now + 2 * DAY, limit),
    )
    return [_request_from(row) for row in rows]


async def of_batch(database: Database, batch_id: int) -> list[StoredRequest]:
    """Return the requests of a batch that have no answer yet."""
    rows = await database.rows("SELECT * FROM llm_requests WHERE state = 'sent' AND batch_id = ?", (batch_id,))
    return [_request_from(row) for row in rows]


def _request_from(row: sqlite3.Row) -> StoredRequest:
    return StoredRequest(
        row["id"],
        row["purpose"],
        row["key"],
        row["system"],
        row["text"],
        row["max_tokens"],
        json.loads(row["payload"]),
        row["session_id"],
        row["project_id"],
        row["attempts"],
        bool(row["alone"]),
    )


async def claim(tx: aiosqlite.Connection, request_id: int, now: float) -> bool:
    """Mark a request as done; return False if it was already done or has failed for good.

    If False is returned, the caller must discard the request's answer.
    """
    cursor = await tx.execute(
        f"UPDATE llm_requests SET state = 'done', finished_at = ?, {EMPTIED}"  # noqa: S608 - constant
        " WHERE id = ? AND state IN ('waiting', 'sent')",
        (now, request_id),
    )
    return cursor.rowcount > 0


async def requeue(
    tx: aiosqlite.Connection, request_id: int, run_after: float, reason: str, *, alone: bool, counts: bool
) -> None:
    """Put a request back into the queue.

    With ``alone``, the request is sent without others from now on; with ``counts``, the try counts as an attempt.
    """
    await tx.execute(
        "UPDATE llm_requests SET state = 'waiting', batch_id = NULL, run_after = ?, reason = ?,"
        " alone = max(alone, ?), attempts = attempts + ? WHERE id = ? AND state IN ('waiting', 'sent')",
        (run_after, reason, int(alone), int(counts), request_id),
    )


async def make_due(tx: aiosqlite.Connection, session_id: str = "") -> None:
    """Make the waiting requests of a session ("": of all sessions) due now: settings or keys may have changed."""
    await tx.execute(
        "UPDATE llm_requests SET run_after = 0 WHERE state = 'waiting' AND run_after > 0 AND ?1 IN ('', session_id)",
        (session_id,),
    )


async def bury(tx: aiosqlite.Connection, request_id: int, reason: str, now: float) -> None:
    """Mark a request as failed for good, with the reason."""
    await tx.execute(
        f"UPDATE llm_requests SET state = 'buried', finished_at = ?, reason = ?, {EMPTIED}"  # noqa: S608 - constant
        " WHERE id = ? AND state IN ('waiting', 'sent')",
        (now, reason, request_id),
    )


async def count_open(tx: aiosqlite.Connection, session_id: str) -> int:
    """Return how many requests about a session are still unanswered, waiting or sent."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT count(*) FROM llm_requests WHERE session_id = ? AND state IN ('waiting', 'sent')", (session_id,)
        )
    )
    return int(rows[0][0])


async def withdraw(tx: aiosqlite.Connection, session_id: str, reason: str) -> None:
    """Mark the open requests of a session as failed, but keep their texts; an answer that arrives later is dropped."""
    rows = await tx.execute_fetchall(
        "SELECT id, reason FROM llm_requests WHERE session_id = ? AND state IN ('waiting', 'sent')", (session_id,)
    )
    for row in rows:
        await update_row(tx, "llm_requests", row["id"], {"state": "buried", "batch_id": None, "reason": reason})
        # Undo returns a sent request to `waiting`, not to `sent`: by then its batch may be gone.
        before, after = {"state": "waiting", "reason": row["reason"]}, {"state": "buried", "reason": reason}
        await _record_event(tx, "withdraw", row["id"], session_id, (before, after))


async def restore_withdrawn(tx: aiosqlite.Connection, session_id: str, reasons: Sequence[str]) -> None:
    """Put the requests of a session that were withdrawn for one of ``reasons`` back into the queue."""
    rows = await tx.execute_fetchall(
        "SELECT id FROM llm_requests WHERE session_id = ? AND state = 'buried' AND text <> ''"  # noqa: S608
        f" AND reason IN ({qmarks(reasons)})",
        (session_id, *reasons),
    )
    for row in rows:
        diff = await update_row(tx, "llm_requests", row["id"], {"state": "waiting", "run_after": 0.0})
        await _record_event(tx, "put back", row["id"], session_id, diff)


async def _record_event(tx: aiosqlite.Connection, action: str, request_id: int, session_id: str, diff: Diff) -> None:
    origin = {"actor": "user", "session_id": session_id}
    await events.record(tx, action, "question", request_id, before=diff[0], after=diff[1], **origin)


async def create_batch(tx: aiosqlite.Connection, provider: str, model: str, ids: Sequence[int], now: float) -> int:
    """Store a batch of these requests before the batch is sent; return its id.

    After a crash before the provider's reply, this record shows that the batch may exist at the provider.
    """
    cursor = await tx.execute(
        "INSERT INTO llm_batches (provider, model, created_at) VALUES (?, ?, ?)", (provider, model, now)
    )
    batch_id = cursor.lastrowid or 0
    await tx.execute(
        f"UPDATE llm_requests SET state = 'sent', batch_id = ? WHERE id IN ({qmarks(ids)})",  # noqa: S608
        (batch_id, *ids),
    )
    return batch_id


async def batch_accepted(tx: aiosqlite.Connection, batch_id: int, name: str, poll_after: float) -> None:
    """Record the name that the provider gave to an accepted batch."""
    await tx.execute(
        "UPDATE llm_batches SET state = 'running', name = ?, poll_after = ? WHERE id = ?", (name, poll_after, batch_id)
    )


async def batch_polled(tx: aiosqlite.Connection, batch_id: int, poll_after: float) -> None:
    """Record that a batch was polled, and when it is polled next."""
    await tx.execute("UPDATE llm_batches SET polls = polls + 1, poll_after = ? WHERE id = ?", (poll_after, batch_id))


async def finish_batch(tx: aiosqlite.Connection, batch_id: int, state: str, reason: str, now: float) -> None:
    """Finish a batch with the state `ended` or `lost`."""
    await tx.execute(
        "UPDATE llm_batches SET state = ?, reason = ?, finished_at = ? WHERE id = ?", (state, reason, now, batch_id)
    )


async def due_batches(database: Database, state: str, now: float) -> list[Batch]:
    """Return the batches with this state whose next poll is due."""
    rows = await database.rows(
        "SELECT id, provider, model, name, polls, created_at FROM llm_batches"
        " WHERE state = ? AND poll_after NOT BETWEEN ? AND ? ORDER BY id",
        (state, now, now + FAR),
    )
    return [Batch(**dict(row)) for row in rows]


async def next_due(database: Database) -> float | None:
    """Return the time at which the next request or batch is due; None if there is none."""
    rows = await database.rows(
        "SELECT min(due) FROM (SELECT min(run_after) AS due FROM llm_requests WHERE state = 'waiting'"
        " UNION ALL SELECT min(poll_after) FROM llm_batches WHERE state = 'running')"
    )
    return rows[0][0] if rows and rows[0][0] is not None else None


async def counts(database: Database) -> RequestCounts:
    """Return the number of requests in each state: waiting, sent, or buried (failed for good)."""
    rows = await database.rows("SELECT state, count(*) FROM llm_requests WHERE state <> 'done' GROUP BY state")
    return cast("RequestCounts", {"waiting": 0, "sent": 0, "buried": 0} | {row[0]: row[1] for row in rows})
