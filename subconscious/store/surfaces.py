"""What was given to which session, and why: the ledger and `why-surfaced` in one table."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict

import aiosqlite

from subconscious.model import Surface
from subconscious.store.connect import Database
from subconscious.store.rows import insertion, marks, stored, surface_from

UNASKED = ("prompt", "file", "error")
"""Events of what nobody asked for, to which the limits of a session apply."""


async def ledger(database: Database, session_id: str) -> set[str]:
    """The content hashes that stand in a session's context now."""
    rows = await database.rows("SELECT content_hash FROM surfaces WHERE session_id = ? AND ledger = 1", (session_id,))
    return {row[0] for row in rows}


async def in_context(database: Database, session_id: str) -> list[int]:
    """The ids of the memories that stand in a session's context now."""
    rows = await database.rows(
        "SELECT DISTINCT memory_id FROM surfaces WHERE session_id = ? AND ledger = 1", (session_id,)
    )
    return [row[0] for row in rows]


async def record(tx: aiosqlite.Connection, project_id: str, given: Sequence[Surface]) -> None:
    """Save what is about to be given, before the answer leaves."""
    rows = [
        stored(surface) | {"engines": json.dumps([asdict(hit) for hit in surface.engines]), "project_id": project_id}
        for surface in given
    ]
    if rows:
        await tx.executemany(insertion("surfaces", rows[0])[0], rows)


async def recorded(tx: aiosqlite.Connection, session_id: str, event: str, at: float) -> bool:
    """Whether something was given to a session on such an event at that very time, as this transaction sees it."""
    asked = "SELECT 1 FROM surfaces WHERE session_id = ? AND event = ? AND at = ? LIMIT 1"
    return bool(list(await tx.execute_fetchall(asked, (session_id, event, at))))


async def reset(tx: aiosqlite.Connection, session_id: str) -> None:
    """The session's context is gone (compact, clear): everything may be given again."""
    for table in ("surfaces", "handovers"):
        await tx.execute(f"UPDATE {table} SET ledger = 0 WHERE session_id = ? AND ledger = 1", (session_id,))  # noqa: S608


async def newest(database: Database) -> int:
    """The number of the surface that was recorded last; 0 before the first."""
    return int((await database.rows("SELECT coalesce(max(id), 0) FROM surfaces"))[0][0])


async def take_back(tx: aiosqlite.Connection, session_id: str, after: int) -> None:
    """What was recorded after that number did not arrive: it was never given, and what says it again is news."""
    await tx.execute("DELETE FROM surfaces WHERE session_id = ? AND id > ?", (session_id, after))


async def inherit(tx: aiosqlite.Connection, parent: str, fork: str) -> None:
    """Copy the ledger of a session to its fork, which continues with the same context."""
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
    """Everything that was ever given to a session: what it repeats of that is no news."""
    rows = await database.rows("SELECT DISTINCT content_hash FROM surfaces WHERE session_id = ?", (session_id,))
    return {row[0] for row in rows}


async def was_given(tx: aiosqlite.Connection, session_id: str, hashes: Collection[str], until: float) -> bool:
    """Whether a session had been given one of these wordings by then."""
    rows = await tx.execute_fetchall(
        "SELECT 1 FROM surfaces WHERE session_id = ? AND at <= ?"  # noqa: S608
        f" AND content_hash IN ({marks(list(hashes))}) LIMIT 1",
        (session_id, until, *hashes),
    )
    return bool(list(rows))


async def unasked(database: Database, session_id: str) -> list[tuple[int, float, str, int]]:
    """What a session was given unasked since it began: which memory, when, for which file, in how many characters."""
    rows = await database.rows(
        "SELECT memory_id, at, about, characters FROM surfaces"  # noqa: S608
        f" WHERE session_id = ? AND event IN ({marks(UNASKED)})",
        (session_id, *UNASKED),
    )
    return [(row["memory_id"], row["at"], row["about"], row["characters"]) for row in rows]


async def started(database: Database, session_id: str) -> tuple[int, int]:
    """Return how many memories a session's start gave it that stand in its context now, and their characters."""
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
    """Surfaces, the latest first."""
    rows = await database.rows(
        "SELECT * FROM surfaces WHERE (?1 IS NULL OR memory_id = ?1) AND (?2 IS NULL OR session_id = ?2)"
        " AND (?3 IS NULL OR project_id = ?3) ORDER BY id DESC LIMIT ?4",
        (memory_id, session_id, project_id, limit),
    )
    return [surface_from(row) for row in rows]
