"""Whether answers used what they were given. A use counts for the memory; having been given does not."""

from __future__ import annotations

from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.store import events, memories
from subconscious.store.connect import Database


@dataclass(frozen=True, slots=True)
class Open:
    """A surface that is not judged yet."""

    id: int
    memory_id: int
    event: str
    at: float


async def unjudged(database: Database, session_id: str) -> list[Open]:
    """What a session was given and nobody has judged; what a fork took over was given to its parent."""
    rows = await database.rows(
        "SELECT id, memory_id, event, at FROM surfaces WHERE session_id = ? AND event <> 'fork'"
        " AND NOT EXISTS (SELECT 1 FROM surface_outcomes WHERE surface_id = surfaces.id) ORDER BY id",
        (session_id,),
    )
    return [Open(**dict(row)) for row in rows]


async def judge(tx: aiosqlite.Connection, surface: Open, session_id: str, used: bool, reason: str, act: str) -> bool:
    """Judge a surface, once. False if it was judged, or taken back meanwhile."""
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
