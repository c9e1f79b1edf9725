"""Requests that can wait, and the batches that they were sent in.

A request is `waiting`, then `sent` in a batch, then `done` or `buried`. The transaction that uses an answer claims the
request, so that no answer is used twice.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.jobs import FAR
from subconscious.store.rows import Diff, alter, insertion, marks

DAY = 86_400.0

EMPTIED = "system = '', text = '', payload = '{}', batch_id = NULL"
"""What a request that is over loses: its words. Its key stays."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on record. ``payload`` is the asker's own: what the answer is for.

    ``provider`` and ``model`` say who answered, once somebody has.
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
    """A batch of a provider's; without a name nobody knows whether it came into being."""

    id: int
    provider: str
    model: str
    name: str | None
    polls: int
    created_at: float


@dataclass(frozen=True, slots=True)
class Question:
    """A request, and the session and project that pay for it."""

    purpose: str
    key: str
    system: str
    text: str
    max_tokens: int
    payload: Mapping[str, Any]
    session_id: str
    project_id: str
    created_at: float


async def put(tx: aiosqlite.Connection, question: Question) -> bool:
    """Put a question on record; False when one of that purpose and key is, or was."""
    values = asdict(question) | {"payload": json.dumps(dict(question.payload), ensure_ascii=False)}
    cursor = await tx.execute(*insertion("llm_requests", values, "ON CONFLICT (purpose, key) DO NOTHING"))
    return cursor.rowcount > 0


async def waiting(database: Database, purposes: Sequence[str], now: float, limit: int) -> list[Asked]:
    """Return the requests that are due, the oldest first. A time far in the future comes from a wrong clock."""
    rows = await database.rows(
        f"SELECT * FROM llm_requests WHERE state = 'waiting' AND purpose IN ({marks(purposes)})"  # noqa: S608
        " AND run_after NOT BETWEEN ? AND ? ORDER BY id LIMIT ?",
        (*purposes, now, now + 2 * DAY, limit),
    )
    return [_asked(row) for row in rows]


async def of_batch(database: Database, batch_id: int) -> list[Asked]:
    """What went out in a batch and is not answered yet."""
    rows = await database.rows("SELECT * FROM llm_requests WHERE state = 'sent' AND batch_id = ?", (batch_id,))
    return [_asked(row) for row in rows]


def _asked(row: sqlite3.Row) -> Asked:
    return Asked(
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
    """Mark a request done; False when it is already, and its answer must not be used again."""
    cursor = await tx.execute(
        f"UPDATE llm_requests SET state = 'done', finished_at = ?, {EMPTIED}"  # noqa: S608 - constant
        " WHERE id = ? AND state IN ('waiting', 'sent')",
        (now, request_id),
    )
    return cursor.rowcount > 0


async def again(
    tx: aiosqlite.Connection, request_id: int, run_after: float, reason: str, *, alone: bool, counts: bool
) -> None:
    """Return a request to the queue; ``counts``: this try counts as an attempt."""
    await tx.execute(
        "UPDATE llm_requests SET state = 'waiting', batch_id = NULL, run_after = ?, reason = ?,"
        " alone = max(alone, ?), attempts = attempts + ? WHERE id = ? AND state IN ('waiting', 'sent')",
        (run_after, reason, int(alone), int(counts), request_id),
    )


async def hurry(tx: aiosqlite.Connection, session_id: str = "") -> None:
    """Make waiting requests due now, of one session or of all, because their conditions may have changed."""
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


async def open_of(tx: aiosqlite.Connection, session_id: str) -> int:
    """How many questions about a session have no answer yet."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT count(*) FROM llm_requests WHERE session_id = ? AND state IN ('waiting', 'sent')", (session_id,)
        )
    )
    return int(rows[0][0])


async def withdraw(tx: aiosqlite.Connection, session_id: str, reason: str) -> None:
    """Ask nothing more about a session; an answer that is on its way finds no open question. The words stay."""
    rows = await tx.execute_fetchall(
        "SELECT id, reason FROM llm_requests WHERE session_id = ? AND state IN ('waiting', 'sent')", (session_id,)
    )
    for row in rows:
        await alter(tx, "llm_requests", row["id"], {"state": "buried", "batch_id": None, "reason": reason})
        # Put back, one that was sent is asked anew: its batch may be gone by then.
        before, after = {"state": "waiting", "reason": row["reason"]}, {"state": "buried", "reason": reason}
        await _tell(tx, "withdraw", row["id"], session_id, (before, after))


async def put_back(tx: aiosqlite.Connection, session_id: str, reason: str) -> None:
    """Return the requests that were withdrawn for this reason to the queue."""
    rows = await tx.execute_fetchall(
        "SELECT id FROM llm_requests WHERE session_id = ? AND state = 'buried' AND reason = ? AND text <> ''",
        (session_id, reason),
    )
    for row in rows:
        diff = await alter(tx, "llm_requests", row["id"], {"state": "waiting", "run_after": 0.0})
        await _tell(tx, "put back", row["id"], session_id, diff)


async def _tell(tx: aiosqlite.Connection, action: str, request_id: int, session_id: str, diff: Diff) -> None:
    who = {"actor": "user", "session_id": session_id}
    await events.record(tx, action, "question", request_id, before=diff[0], after=diff[1], **who)


async def intend(tx: aiosqlite.Connection, provider: str, model: str, ids: Sequence[int], now: float) -> int:
    """Write down that these go out as a batch, before they do; return the batch's id."""
    cursor = await tx.execute(
        "INSERT INTO llm_batches (provider, model, created_at) VALUES (?, ?, ?)", (provider, model, now)
    )
    batch_id = cursor.lastrowid or 0
    await tx.execute(
        f"UPDATE llm_requests SET state = 'sent', batch_id = ? WHERE id IN ({marks(ids)})",  # noqa: S608
        (batch_id, *ids),
    )
    return batch_id


async def named(tx: aiosqlite.Connection, batch_id: int, name: str, poll_after: float) -> None:
    """The provider took the batch under this name."""
    await tx.execute(
        "UPDATE llm_batches SET state = 'running', name = ?, poll_after = ? WHERE id = ?", (name, poll_after, batch_id)
    )


async def polled(tx: aiosqlite.Connection, batch_id: int, poll_after: float) -> None:
    """It was asked how far it is, and is to be asked again."""
    await tx.execute("UPDATE llm_batches SET polls = polls + 1, poll_after = ? WHERE id = ?", (poll_after, batch_id))


async def over(tx: aiosqlite.Connection, batch_id: int, state: str, reason: str, now: float) -> None:
    """The batch is `ended`, or `lost`."""
    await tx.execute(
        "UPDATE llm_batches SET state = ?, reason = ?, finished_at = ? WHERE id = ?", (state, reason, now, batch_id)
    )


async def batches(database: Database, state: str, now: float) -> list[Batch]:
    """Batches in a state that are due to be looked at."""
    rows = await database.rows(
        "SELECT id, provider, model, name, polls, created_at FROM llm_batches"
        " WHERE state = ? AND poll_after NOT BETWEEN ? AND ? ORDER BY id",
        (state, now, now + FAR),
    )
    return [Batch(**dict(row)) for row in rows]


async def next_due(database: Database) -> float | None:
    """When the next request or batch is due."""
    rows = await database.rows(
        "SELECT min(due) FROM (SELECT min(run_after) AS due FROM llm_requests WHERE state = 'waiting'"
        " UNION ALL SELECT min(poll_after) FROM llm_batches WHERE state = 'running')"
    )
    return rows[0][0] if rows and rows[0][0] is not None else None


async def counts(database: Database) -> dict[str, int]:
    """How many questions wait, are out in batches, were given up."""
    rows = await database.rows("SELECT state, count(*) FROM llm_requests WHERE state <> 'done' GROUP BY state")
    return {"waiting": 0, "sent": 0, "buried": 0} | {row[0]: row[1] for row in rows}
