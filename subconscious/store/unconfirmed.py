"""Unconfirmed memories: made of captures that wait, and confirmed or retired by what later sessions bring.

Such a memory is archived with a mark, so that nothing takes it for one in force. It lasts as long as its capture waits:
whatever decides on that, a person, time or a rollback, needs to know nothing of the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any

import aiosqlite

from subconscious.model import MODELS, Decision, Memory
from subconscious.store import captures, events, full_text, memories
from subconscious.store.capture_rows import DAY, opened
from subconscious.store.connect import Database
from subconscious.store.filters import UNCONFIRMED
from subconscious.store.rows import alter, marks, memory_from

DAYS = 180.0
"""Days until one that nothing has confirmed or retired expires."""

REJUDGED = "rejudged"
"""The subject of events that tell what became of captures which had waited when this state was introduced."""

_OVER = (
    "SELECT c.session_id FROM implicit_captures AS c JOIN sessions AS s ON s.id = c.session_id AND s.status <> 'open'"
    " WHERE c.status = 'review' AND c.memory_id IS NULL"
)


async def unweighed(database: Database, limit: int) -> list[str]:
    """Sessions that are over and have captures which nobody has examined, or which may be given and are not yet."""
    rows = await database.rows(
        f"{_OVER} AND (c.reservation IS NULL OR (c.reservation = '' AND c.level = 'none'))"
        " GROUP BY 1 ORDER BY 1 LIMIT ?",
        (limit,),
    )
    return [row[0] for row in rows]


async def waiting(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """What waits of a session and no memory was made of."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM implicit_captures WHERE session_id = ? AND status = 'review' AND memory_id IS NULL ORDER BY id",
        (session_id,),
    )
    return [opened(row) for row in rows]


async def made_of(tx: aiosqlite.Connection, session_id: str) -> int:
    """How many captures of a session wait of which an unconfirmed memory was made."""
    rows = await tx.execute_fetchall(
        "SELECT count(*) FROM implicit_captures WHERE session_id = ? AND status = 'review' AND memory_id IS NOT NULL",
        (session_id,),
    )
    return int(next(iter(rows))[0])


async def weakest(tx: aiosqlite.Connection, session_id: str) -> dict[str, Any] | None:
    """The unconfirmed finding of a session that may give way: the rules made it, and no session was given it yet."""
    rows = await tx.execute_fetchall(
        "SELECT c.* FROM implicit_captures AS c WHERE c.session_id = ? AND c.status = 'review' AND c.origin <> 'user'"
        " AND c.memory_id IS NOT NULL AND c.extractor NOT LIKE ? || '%'"
        " AND NOT EXISTS (SELECT 1 FROM surfaces AS s WHERE s.memory_id = c.memory_id)"
        " ORDER BY c.confidence, c.id DESC LIMIT 1",
        (session_id, MODELS),
    )
    return next((opened(row) for row in rows), None)


async def note(tx: aiosqlite.Connection, capture_id: int, reservation: str) -> None:
    """Keep why a capture may not be given unconfirmed. It is derived from its transcript, so no event tells of it."""
    await tx.execute("UPDATE implicit_captures SET reservation = ? WHERE id = ?", (reservation, capture_id))


async def make(tx: aiosqlite.Connection, capture_id: int, memory: Memory) -> Memory:
    """Store an unconfirmed memory of a capture that waits."""
    now = time()
    made = await memories.insert(tx, replace(memory, archived_at=now, unconfirmed=True), number=capture_id)
    values = {"memory_id": made.id, "expires_at": now + DAYS * DAY}
    await captures.change(tx, "unconfirmed", capture_id, values, reason="may be given until it is confirmed")
    return made


async def capture_of(tx: aiosqlite.Connection, memory_id: int) -> dict[str, Any] | None:
    """The capture that an unconfirmed memory lasts as long as; None where it is not unconfirmed any more."""
    rows = await tx.execute_fetchall(
        "SELECT c.* FROM implicit_captures AS c JOIN memories AS m ON m.id = c.memory_id AND m.unconfirmed"
        " WHERE c.memory_id = ? AND c.status = 'review' ORDER BY c.id LIMIT 1",
        (memory_id,),
    )
    return next((opened(row) for row in rows), None)


async def confirm(tx: aiosqlite.Connection, capture: dict[str, Any], reason: str) -> Memory:
    """Store what was unconfirmed; the caller sees to the vector. Returns the memory, which is in force now."""
    memory = await memories.held(tx, capture["memory_id"])
    values = {"status": "captured", "decision": Decision.AUTO.value, "expires_at": None, "reason": reason}
    await captures.change(tx, "confirmed", capture["id"], values, reason=reason)
    await memories.unarchive(tx, memory, "daemon", reason)
    return replace(memory, archived_at=None, unconfirmed=False)


async def retire(tx: aiosqlite.Connection, capture: dict[str, Any], reason: str, actor: str = "daemon") -> None:
    """Give an unconfirmed memory to no session any more; its capture can be restored like any that was discarded."""
    values = {"status": "discarded", "reason": f"{reason}: {capture['reason']}"}
    await captures.change(tx, "retired", capture["id"], values, actor, reason=reason)


async def doubt_again(tx: aiosqlite.Connection, memory: Memory) -> None:
    """Let a memory be unconfirmed again whose confirmation was taken back; it has been archived."""
    before, after = await alter(tx, "memories", memory.id, {"unconfirmed": 1})
    await full_text.reindex(tx, memory)
    await events.record(tx, "unconfirmed", "memory", memory.id, actor="user", before=before, after=after)


async def of_project(database: Database, project_id: str, limit: int) -> list[Memory]:
    """The unconfirmed memories of a project, the latest first."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE project_id = ? AND {UNCONFIRMED} ORDER BY id DESC LIMIT ?",  # noqa: S608
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def among(database: Database, ids: Sequence[int]) -> list[Memory]:
    """Those of ``ids`` that are unconfirmed."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE id IN ({marks(ids)}) AND {UNCONFIRMED} ORDER BY id",  # noqa: S608
        tuple(ids),
    )
    return [memory_from(row) for row in rows]


async def given_to(database: Database, session_id: str) -> int:
    """How many unconfirmed memories a session was given."""
    rows = await database.rows(
        "SELECT count(DISTINCT s.memory_id) FROM surfaces AS s JOIN memories AS m ON m.id = s.memory_id"
        " WHERE s.session_id = ? AND m.unconfirmed",
        (session_id,),
    )
    return int(rows[0][0])


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How often a memory was given and used, and given in vain."""

    used: int
    missed: int


async def outcomes(tx: aiosqlite.Connection, memory_id: int) -> Outcomes:
    """What became of an unconfirmed memory's surfaces, each session counted once."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT coalesce(sum(used), 0), coalesce(sum(1 - used), 0) FROM (SELECT max(o.used) AS used"
            " FROM surface_outcomes AS o JOIN surfaces AS s ON s.id = o.surface_id WHERE o.memory_id = ?"
            " GROUP BY s.session_id)",
            (memory_id,),
        )
    )
    return Outcomes(int(rows[0][0]), int(rows[0][1]))


async def tell(tx: aiosqlite.Connection, project_id: str, counted: dict[str, int]) -> None:
    """Put on record what became of captures that had waited before."""
    await events.record(tx, REJUDGED, REJUDGED, project_id, after=counted)


async def told_since(database: Database, project_id: str, since: float) -> dict[str, int]:
    """What became of a project's captures that were judged anew since then."""
    rows = await database.rows(
        "SELECT key, sum(value) FROM events, json_each(events.after) WHERE subject = ? AND subject_id = ? AND at > ?"
        " GROUP BY key",
        (REJUDGED, project_id, since),
    )
    return {row[0]: int(row[1]) for row in rows}
