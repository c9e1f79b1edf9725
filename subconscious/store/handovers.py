"""Which session was handed over to which one."""

from __future__ import annotations

from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.model import Session
from subconscious.store.connect import Database
from subconscious.store.rows import session_from
from subconscious.store.sessions import AHEAD, LATEST_FIRST


@dataclass(frozen=True, slots=True)
class Given:
    """One hand-over: which session was told of which other one, and when."""

    session_id: str
    from_id: str
    event: str
    at: float


async def finished(database: Database, project_id: str, session_id: str, limit: int) -> list[Session]:
    """The latest other sessions of a project that are over and worked on something; none that still runs.

    Of a session that only worked off an approved plan, no prompt is on record.
    """
    rows = await database.rows(
        "SELECT * FROM sessions WHERE project_id = ? AND id <> ? AND status <> 'open'"  # noqa: S608
        f" AND (turns > 0 OR handover <> '') ORDER BY {LATEST_FIRST} LIMIT ?",
        (project_id, session_id, time() + AHEAD, limit),
    )
    return [session_from(row) for row in rows]


async def record(tx: aiosqlite.Connection, given: Given) -> None:
    """Note that a session is handed over, before the answer leaves."""
    await tx.execute(
        "INSERT INTO handovers (session_id, from_id, event, at) VALUES (?, ?, ?, ?)",
        (given.session_id, given.from_id, given.event, given.at),
    )


async def ledger(database: Database, session_id: str) -> set[str]:
    """The sessions whose hand-over stands in a session's context now."""
    rows = await database.rows("SELECT from_id FROM handovers WHERE session_id = ? AND ledger = 1", (session_id,))
    return {row[0] for row in rows}


async def newest(database: Database) -> int:
    """The number of the hand-over that was recorded last; 0 before the first."""
    return int((await database.rows("SELECT coalesce(max(id), 0) FROM handovers"))[0][0])


async def take_back(tx: aiosqlite.Connection, session_id: str, after: int) -> None:
    """What was recorded after that number did not arrive."""
    await tx.execute("DELETE FROM handovers WHERE session_id = ? AND id > ?", (session_id, after))


async def of_session(database: Database, session_id: str) -> list[Given]:
    """What was handed over to a session, the latest first."""
    rows = await database.rows(
        "SELECT session_id, from_id, event, at FROM handovers WHERE session_id = ? ORDER BY id DESC", (session_id,)
    )
    return [Given(**dict(row)) for row in rows]
