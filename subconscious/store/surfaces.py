"""Surfaces: a surface records that a memory was added to a session's context, when, and on which event.

The flag ``ledger`` marks surfaces of memories that are in the session's context now.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from time import time

import aiosqlite

from subconscious.domain.hits import Surface
from subconscious.store import events, memories
from subconscious.store.connect import Database
from subconscious.store.rows import column_values, insertion, qmarks, surface_from

PROACTIVE_EVENTS = ("prompt", "file", "error")
"""Events on which a session receives memories without asking; the session's limits for such memories apply."""


async def hashes_in_context(database: Database, session_id: str) -> set[str]:
    """Return the content hashes of the memories in a session's context now."""
    rows = await database.rows("SELECT content_hash FROM surfaces WHERE session_id = ? AND ledger = 1", (session_id,))
    return {row[0] for row in rows}


async def in_context(database: Database, session_id: str) -> list[int]:
    """Return the ids of the memories in a session's context now."""
    rows = await database.rows(
        "SELECT DISTINCT memory_id FROM surfaces WHERE session_id = ? AND ledger = 1", (session_id,)
    )
    return [row[0] for row in rows]


async def record(tx: aiosqlite.Connection, project_id: str, given: Sequence[Surface]) -> None:
    """Store surfaces. Call this before the hook response with their memories is sent."""
    rows = [
        column_values(surface)
        | {"engines": json.dumps([asdict(hit) for hit in surface.engines]), "project_id": project_id}
        for surface in given
    ]
    if rows:
        await tx.executemany(insertion("surfaces", rows[0])[0], rows)


async def was_recorded(tx: aiosqlite.Connection, session_id: str, event: str, at: float) -> bool:
    """Whether a surface of a session with this event and time is stored, as the running transaction sees it."""
    query = "SELECT 1 FROM surfaces WHERE session_id = ? AND event = ? AND at = ? LIMIT 1"
    return bool(list(await tx.execute_fetchall(query, (session_id, event, at))))


async def reset(tx: aiosqlite.Connection, session_id: str) -> None:
    """Record that a session's context was compacted or cleared: the session may receive every memory again."""
    for table in ("surfaces", "handovers"):
        await tx.execute(f"UPDATE {table} SET ledger = 0 WHERE session_id = ? AND ledger = 1", (session_id,))  # noqa: S608


async def latest_id(database: Database) -> int:
    """Return the id of the latest surface; 0 if there is none."""
    return int((await database.rows("SELECT coalesce(max(id), 0) FROM surfaces"))[0][0])


async def delete_after(tx: aiosqlite.Connection, session_id: str, after: int) -> None:
    """Delete a session's surfaces with an id above ``after``, because the session did not receive those memories."""
    await tx.execute("DELETE FROM surfaces WHERE session_id = ? AND id > ?", (session_id, after))


async def inherit(tx: aiosqlite.Connection, parent: str, fork: str) -> None:
    """Copy the records of the memories and hand-overs in a session's context to a fork, which has the same context."""
    await tx.execute(
        "INSERT INTO surfaces (session_id, project_id, event, at, memory_id, content_hash, position, reason, relevance,"
        " decay, engines, ledger) SELECT ?, project_id, 'fork', at, memory_id, content_hash, position, reason,"
        " relevance, decay, engines, ledger FROM surfaces WHERE session_id = ? AND ledger = 1",
        (fork, parent),
    )
    await tx.execute(
        "INSERT INTO handovers (session_id, from_id, event, at) SELECT ?, from_id, 'fork', at FROM handovers"
        " WHERE session_id = ? AND ledger = 1",
        (fork, parent),
    )


async def given_hashes(database: Database, session_id: str) -> set[str]:
    """Return the content hashes of all memories that a session received; repeating these is not a new statement."""
    rows = await database.rows("SELECT DISTINCT content_hash FROM surfaces WHERE session_id = ?", (session_id,))
    return {row[0] for row in rows}


async def was_given(tx: aiosqlite.Connection, session_id: str, hashes: Collection[str], until: float) -> bool:
    """Whether a session received a memory with one of the content ``hashes`` at or before the time ``until``."""
    rows = await tx.execute_fetchall(
        "SELECT 1 FROM surfaces WHERE session_id = ? AND at <= ?"  # noqa: S608
        f" AND content_hash IN ({qmarks(list(hashes))}) LIMIT 1",
        (session_id, until, *hashes),
    )
    return bool(list(rows))


async def proactive(database: Database, session_id: str) -> list[tuple[int, float, str, int]]:
    """Return the memories that a session received without asking, as (memory id, time, file, number of characters)."""
    rows = await database.rows(
        "SELECT memory_id, at, about, characters FROM surfaces"  # noqa: S608
        f" WHERE session_id = ? AND event IN ({qmarks(PROACTIVE_EVENTS)})",
        (session_id, *PROACTIVE_EVENTS),
    )
    return [(row["memory_id"], row["at"], row["about"], row["characters"]) for row in rows]


async def start_usage(database: Database, session_id: str) -> tuple[int, int]:
    """Return how many memories from the session's start are in its context now, and their length in characters."""
    rows = await database.rows(
        "SELECT count(*), coalesce(sum(characters), 0) FROM surfaces"
        " WHERE session_id = ? AND ledger = 1 AND event LIKE 'start/%'",
        (session_id,),
    )
    return rows[0][0], rows[0][1]


async def listing(
    database: Database,
    *,
    memory_id: int | None = None,
    session_id: str | None = None,
    project_id: str | None = None,
    limit: int = 50,
) -> list[Surface]:
    """Return up to ``limit`` surfaces of a memory, session and project (None: any), latest first."""
    rows = await database.rows(
        "SELECT * FROM surfaces WHERE (?1 IS NULL OR memory_id = ?1) AND (?2 IS NULL OR session_id = ?2)"
        " AND (?3 IS NULL OR project_id = ?3) ORDER BY id DESC LIMIT ?4",
        (memory_id, session_id, project_id, limit),
    )
    return [surface_from(row) for row in rows]


@dataclass(frozen=True, slots=True)
class NumberedSurface:
    """A surface, with the id of its row."""

    id: int
    surface: Surface


async def page(database: Database, before: int, limit: int, project_id: str | None) -> list[NumberedSurface]:
    """Return surfaces with an id below ``before``, latest first, without surfaces that a fork inherited."""
    condition, values = ("project_id = ? AND ", (project_id,)) if project_id else ("", ())
    rows = await database.rows(
        f"SELECT * FROM surfaces WHERE {condition}id < ? AND event <> 'fork' ORDER BY id DESC LIMIT ?",  # noqa: S608
        (*values, before, limit),
    )
    return [NumberedSurface(row["id"], surface_from(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A record that a session received a memory; whether the session used the memory has not been judged yet."""

    id: int
    memory_id: int
    event: str
    at: float


async def unjudged(database: Database, session_id: str) -> list[Unjudged]:
    """Return a session's surfaces whose use has not been judged yet, without surfaces that a fork inherited."""
    rows = await database.rows(
        "SELECT id, memory_id, event, at FROM surfaces WHERE session_id = ? AND event <> 'fork'"
        " AND NOT EXISTS (SELECT 1 FROM surface_outcomes WHERE surface_id = surfaces.id) ORDER BY id",
        (session_id,),
    )
    return [Unjudged(**dict(row)) for row in rows]


async def judge(
    tx: aiosqlite.Connection, surface: Unjudged, session_id: str, used: bool, reason: str, act: str
) -> bool:
    """Record whether a session used a surface's memory; return False if known already or if the surface was deleted."""
    after = {
        "surface_id": surface.id,
        "memory_id": surface.memory_id,
        "used": int(used),
        "reason": reason,
        "at": time(),
    }
    done = await tx.execute(
        "INSERT OR IGNORE INTO surface_outcomes (surface_id, memory_id, used, reason, at)"
        " SELECT :surface_id, :memory_id, :used, :reason, :at"
        " WHERE EXISTS (SELECT 1 FROM surfaces WHERE id = :surface_id)",
        after,
    )
    if not done.rowcount:
        return False
    if used:
        await memories.touch(tx, [surface.memory_id], float(str(after["at"])))
    action = "echo" if used else "fizzle"
    number = int(done.lastrowid or 0)
    await events.record(tx, action, "surface_outcome", number, session_id=session_id, after=after, act=act)
    return True
