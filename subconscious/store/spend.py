"""Calls of language models and their costs: a row is stored before each call, and completed after it.

The row first reserves the highest possible cost of the call and then records the real one. If the process dies in
between, the reservation counts against the caps: a cost is never forgotten or assumed to be zero.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import cast

import aiosqlite

from subconscious.store.connect import Database
from subconscious.store.rows import insertion
from subconscious.wire.stats import NamedCalls, SpendTables, TotalCalls

COUNTED = "sum(coalesce(cost, reserved))"
"""SQL: the dollars of calls that count against a cap: their cost, or the reservation where the cost is unknown."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call before it is made, with its highest possible cost in dollars (``reserved``) and in tokens."""

    at: float
    provider: str
    model: str
    purpose: str
    session_id: str
    project_id: str
    reserved: float
    batch: bool = False
    request_id: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a call. ``cost`` is in dollars, or None if it is unknown: then ``reserved`` counts."""

    outcome: str
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float | None
    reserved: float
    duration: float | None = None


async def begin(tx: aiosqlite.Connection, call: Call) -> int:
    """Store a call before it is made; return its id."""
    cursor = await tx.execute(*insertion("llm_calls", asdict(call)))
    return cursor.lastrowid or 0


async def complete(tx: aiosqlite.Connection, call_id: int, outcome: Outcome) -> None:
    """Record the result of a call."""
    await tx.execute(
        "UPDATE llm_calls SET outcome = :outcome, model = :model, input_tokens = :input_tokens,"
        " output_tokens = :output_tokens, cached_tokens = :cached_tokens, cost = :cost, reserved = :reserved,"
        " duration = :duration WHERE id = :id",
        asdict(outcome) | {"id": call_id},
    )


async def close(tx: aiosqlite.Connection, call_id: int, outcome: str) -> None:
    """Mark the cost of a call as unknown for good: its reservation keeps counting."""
    await tx.execute("UPDATE llm_calls SET outcome = ? WHERE id = ? AND outcome = 'asked'", (outcome, call_id))


async def withdraw(tx: aiosqlite.Connection, call_id: int) -> None:
    """Delete the record of a call that was never made."""
    await tx.execute("DELETE FROM llm_calls WHERE id = ?", (call_id,))


async def of_request(tx: aiosqlite.Connection, request_id: int) -> int | None:
    """Return the id of the open call of a request in a batch; None if there is none."""
    rows = await tx.execute_fetchall(
        "SELECT id FROM llm_calls WHERE request_id = ? AND outcome = 'asked' ORDER BY id DESC LIMIT 1", (request_id,)
    )
    return next((row[0] for row in rows), None)


async def since(tx: aiosqlite.Connection, begin: float, end: float = math.inf) -> float:
    """Return the dollars spent or reserved from ``begin`` (included) to ``end`` (excluded).

    Calls after ``end`` come from a wrong clock. If they counted as today's, they would use up the cap of every day
    until the time of the call.
    """
    rows = await tx.execute_fetchall(
        f"SELECT {COUNTED} FROM llm_calls WHERE at >= ? AND at < ?",  # noqa: S608 - constant
        (begin, end),
    )
    return float(next(iter(rows))[0] or 0.0)


async def tokens_since(tx: aiosqlite.Connection, provider: str, begin: float, end: float) -> int:
    """Return the tokens of a provider's calls in a period; a call with unknown usage counts with its maximum."""
    rows = await tx.execute_fetchall(
        "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM llm_calls"
        " WHERE provider = ? AND at >= ? AND at < ?",
        (provider, begin, end),
    )
    return int(next(iter(rows))[0])


async def of_session(tx: aiosqlite.Connection, session_id: str) -> float:
    """Return the dollars spent or reserved for a session."""
    rows = await tx.execute_fetchall(
        f"SELECT {COUNTED} FROM llm_calls WHERE session_id = ?",  # noqa: S608 - constant
        (session_id,),
    )
    return float(next(iter(rows))[0] or 0.0)


GROUPS = {
    "days": "date(at, 'unixepoch', 'localtime')",
    "sessions": "session_id",
    "purposes": "purpose",
    "models": "provider || ' ' || model",
}


async def tables(database: Database, project_id: str | None, limit: int = 14) -> SpendTables:
    """Return the calls, tokens and dollars of each day, session, purpose and model, latest first."""
    tables = {title: await _table(database, column, project_id, limit) for title, column in GROUPS.items()}
    return cast("SpendTables", tables)


async def total(database: Database, project_id: str | None) -> TotalCalls:
    """Return the totals of a project (None: of all projects): calls, tokens and dollars."""
    rows = await _table(database, "''", project_id, 1)
    return cast("TotalCalls", rows[0]) if rows else NO_CALLS


_SUMS = (
    "count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,"
    " coalesce(sum(cost), 0.0) AS cost, sum(cost IS NULL) AS unknown,"
    " coalesce(sum(CASE WHEN cost IS NULL THEN reserved END), 0.0) AS assumed, sum(batch) AS batched"
)
NO_CALLS: TotalCalls = {
    "calls": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "cost": 0.0,
    "unknown": 0,
    "assumed": 0.0,
    "batched": 0,
}


async def _table(database: Database, column: str, project_id: str | None, limit: int) -> list[NamedCalls]:
    rows = await database.rows(
        f"SELECT {column} AS name, {_SUMS} FROM llm_calls WHERE (?1 IS NULL OR project_id = ?1)"  # noqa: S608 - constants
        " GROUP BY 1 ORDER BY max(at) DESC LIMIT ?2",
        (project_id, limit),
    )
    return [cast("NamedCalls", dict(row)) for row in rows]
