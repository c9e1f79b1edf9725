"""Records which session received the hand-over (a short record of the work) of which previous session."""

from __future__ import annotations

from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.domain.model import Session
from subconscious.store.connect import Database
from subconscious.store.rows import session_from
from subconscious.store.sessions import CLOCK_TOLERANCE, LATEST_FIRST


@dataclass(frozen=True, slots=True)
class Handover:
    """A record that the session ``session_id`` received the hand-over of the session ``from_id``."""

    session_id: str
    from_id: str
    event: str
    at: float


async def finished_sessions(database: Database, project_id: str, session_id: str, limit: int) -> list[Session]:
    """Return the latest finished sessions of a project in which any work was done, except the session ``session_id``.

    A session that only executed an approved plan has no user turns, but it has a hand-over.
    """
    rows = await database.rows(
        "SELECT * FROM sessions WHERE project_id = ? AND id <> ? AND status <> 'open'"  # noqa: S608
        f" AND (turns > 0 OR handover <> '') ORDER BY {LATEST_FIRST} LIMIT ?",
        (project_id, session_id, time() + CLOCK_TOLERANCE, limit),
    )
    return [session_from(row) for row in rows]


async def record(tx: aiosqlite.Connection, given: Handover) -> None:
    """Record that a session receives a hand-over. Call this before the hook response with the hand-over is sent."""
    await tx.execute(
        "INSERT INTO handovers (session_id, from_id, event, at) VALUES (?, ?, ?, ?)",
        (given.session_id, given.from_id, given.event, given.at),
    )


async def in_context(database: Database, session_id: str) -> set[str]:
    """Return the ids of the sessions whose hand-over is now in the context of the session ``session_id``."""
    rows = await database.rows("SELECT from_id FROM handovers WHERE session_id = ? AND ledger = 1", (session_id,))
    return {row[0] for row in rows}


async def latest_id(database: Database) -> int:
    """Return the id of the latest record; 0 if there is none."""
    return int((await database.rows("SELECT coalesce(max(id), 0) FROM handovers"))[0][0])


async def delete_after(tx: aiosqlite.Connection, session_id: str, after: int) -> None:
    """Delete a session's records with an id above ``after``, because the session did not receive those hand-overs."""
    await tx.execute("DELETE FROM handovers WHERE session_id = ? AND id > ?", (session_id, after))


async def of_session(database: Database, session_id: str) -> list[Handover]:
    """Return the hand-overs that a session received, latest first."""
    rows = await database.rows(
        "SELECT session_id, from_id, event, at FROM handovers WHERE session_id = ? ORDER BY id DESC", (session_id,)
    )
    return [Handover(**dict(row)) for row in rows]
