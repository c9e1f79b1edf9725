"""Unconfirmed memories: made from captures that wait for review, and confirmed or retired by later sessions.

An unconfirmed memory is an archived row with a flag, so that no query treats it as active. It exists as long as its
capture waits. A person's decision, expiry or a rollback changes only the capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time

import aiosqlite

from subconscious.domain.model import MODELS, OBSERVED_OFTEN, OBSERVED_ONCE, Decision, Memory
from subconscious.store import captures, events, full_text, memories
from subconscious.store.capture_rows import DAY, capture_from
from subconscious.store.connect import Database
from subconscious.store.filters import UNCONFIRMED
from subconscious.store.rows import memory_from, qmarks, update_row
from subconscious.wire.captures import Capture

DAYS = 180.0
"""Days after which an unconfirmed memory expires if it was neither confirmed nor retired."""

REJUDGED = "rejudged"
"""The subject of events that record that old captures, from before unconfirmed memories existed, were judged again."""

_ENDED = (
    "SELECT c.session_id FROM implicit_captures AS c JOIN sessions AS s ON s.id = c.session_id AND s.status <> 'open'"
    " WHERE c.status = 'review' AND c.memory_id IS NULL"
)


async def unexamined_sessions(database: Database, limit: int) -> list[str]:
    """Return the ids of ended sessions with waiting captures that must be judged or made into unconfirmed memories."""
    rows = await database.rows(
        f"{_ENDED} AND (c.reservation IS NULL OR (c.reservation = '' AND c.level = 'none'))"
        " GROUP BY 1 ORDER BY 1 LIMIT ?",
        (limit,),
    )
    return [row[0] for row in rows]


async def waiting(tx: aiosqlite.Connection, session_id: str) -> list[Capture]:
    """Return the waiting captures of a session that have no memory."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM implicit_captures WHERE session_id = ? AND status = 'review' AND memory_id IS NULL ORDER BY id",
        (session_id,),
    )
    return [capture_from(row) for row in rows]


async def count_made(tx: aiosqlite.Connection, session_id: str, *, typed: bool = False) -> int:
    """Return how many unconfirmed memories a session has: from the user's statements if ``typed``, else from others."""
    rows = await tx.execute_fetchall(
        "SELECT count(*) FROM implicit_captures WHERE session_id = ? AND status = 'review' AND memory_id IS NOT NULL"
        " AND (origin = 'user') = ?",
        (session_id, typed),
    )
    return int(next(iter(rows))[0])


async def weakest(tx: aiosqlite.Connection, session_id: str) -> Capture | None:
    """Return the capture whose unconfirmed memory a better one may replace; None if there is none.

    Rules found the capture, and no session received its memory. The user's own words are never returned, and neither is
    a failure with the command that then worked, because such memories help most often.
    """
    rows = await tx.execute_fetchall(
        "SELECT c.* FROM implicit_captures AS c WHERE c.session_id = ? AND c.status = 'review' AND c.origin <> 'user'"
        " AND c.memory_id IS NOT NULL AND c.extractor NOT LIKE ? || '%' AND c.extractor <> ?"
        " AND NOT EXISTS (SELECT 1 FROM surfaces AS s WHERE s.memory_id = c.memory_id)"
        " ORDER BY c.confidence, c.id DESC LIMIT 1",
        (session_id, MODELS, OBSERVED_ONCE),
    )
    return next((capture_from(row) for row in rows), None)


async def set_reservation(tx: aiosqlite.Connection, capture_id: int, reservation: str) -> None:
    """Store the reservation of a capture: why its memory must not be shown to sessions before it is confirmed."""
    await tx.execute("UPDATE implicit_captures SET reservation = ? WHERE id = ?", (reservation, capture_id))


async def insert(tx: aiosqlite.Connection, capture_id: int, memory: Memory) -> Memory:
    """Store an unconfirmed memory made from a waiting capture."""
    now = time()
    made = await memories.insert(tx, replace(memory, archived_at=now, unconfirmed=True), number=capture_id)
    values = {"memory_id": made.id, "expires_at": now + DAYS * DAY}
    await captures.change(tx, "unconfirmed", capture_id, values, reason="may be used, marked as unconfirmed")
    return made


async def capture_of(tx: aiosqlite.Connection, memory_id: int) -> Capture | None:
    """Return the waiting capture of an unconfirmed memory; None if it is no longer unconfirmed."""
    rows = await tx.execute_fetchall(
        "SELECT c.* FROM implicit_captures AS c JOIN memories AS m ON m.id = c.memory_id AND m.unconfirmed"
        " WHERE c.memory_id = ? AND c.status = 'review' ORDER BY c.id LIMIT 1",
        (memory_id,),
    )
    return next((capture_from(row) for row in rows), None)


async def confirm(tx: aiosqlite.Connection, capture: Capture, reason: str) -> Memory:
    """Confirm an unconfirmed memory; return it as an active memory. The caller updates its vector."""
    memory = await memories.require(tx, capture["memory_id"] or 0)
    values = {"status": "captured", "decision": Decision.AUTO.value, "expires_at": None, "reason": reason}
    await captures.change(tx, "confirmed", capture["id"], values, reason=reason)
    await memories.unarchive(tx, memory, "daemon", reason)
    return replace(memory, archived_at=None, unconfirmed=False)


async def retire(tx: aiosqlite.Connection, capture: Capture, reason: str, actor: str = "daemon") -> None:
    """Discard the capture of an unconfirmed memory: sessions no longer receive the memory. This can be undone."""
    values = {"status": "discarded", "reason": f"{reason}: {capture['reason']}"}
    await captures.change(tx, "retired", capture["id"], values, actor, reason=reason)


async def unconfirm(tx: aiosqlite.Connection, memory: Memory) -> None:
    """Mark a memory as unconfirmed again after its confirmation was undone, which archived it."""
    before, after = await update_row(tx, "memories", memory.id, {"unconfirmed": 1})
    await full_text.reindex(tx, memory)
    await events.record(tx, "unconfirmed", "memory", memory.id, actor="user", before=before, after=after)


async def of_project(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return the unconfirmed memories of a project, latest first."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE project_id = ? AND {UNCONFIRMED} ORDER BY id DESC LIMIT ?",  # noqa: S608
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def observed(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return the unconfirmed memories of a project that come from tool calls, latest first."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE project_id = ? AND {UNCONFIRMED} AND extractor IN (?, ?)"  # noqa: S608
        " ORDER BY id DESC LIMIT ?",
        (project_id, OBSERVED_ONCE, OBSERVED_OFTEN, limit),
    )
    return [memory_from(row) for row in rows]


async def among(database: Database, ids: Sequence[int]) -> list[Memory]:
    """Return the memories with these ids that are unconfirmed."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE id IN ({qmarks(ids)}) AND {UNCONFIRMED} ORDER BY id",  # noqa: S608
        tuple(ids),
    )
    return [memory_from(row) for row in rows]


async def count_given(database: Database, session_id: str) -> int:
    """Return how many unconfirmed memories a session received."""
    rows = await database.rows(
        "SELECT count(DISTINCT s.memory_id) FROM surfaces AS s JOIN memories AS m ON m.id = s.memory_id"
        " WHERE s.session_id = ? AND m.unconfirmed",
        (session_id,),
    )
    return int(rows[0][0])


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How many sessions that received a memory used it (``used``), and how many did not (``missed``)."""

    used: int
    missed: int


async def outcomes(tx: aiosqlite.Connection, memory_id: int) -> Outcomes:
    """Return how many of the sessions that received an unconfirmed memory used it, and how many did not."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT coalesce(sum(used), 0), coalesce(sum(1 - used), 0) FROM (SELECT max(o.used) AS used"
            " FROM surface_outcomes AS o JOIN surfaces AS s ON s.id = o.surface_id WHERE o.memory_id = ?"
            " GROUP BY s.session_id)",
            (memory_id,),
        )
    )
    return Outcomes(int(rows[0][0]), int(rows[0][1]))


async def record_rejudged(tx: aiosqlite.Connection, project_id: str, counted: dict[str, int]) -> None:
    """Record how many old captures were judged again, by result (``counted``)."""
    await events.record(tx, REJUDGED, REJUDGED, project_id, after=counted)


async def rejudged_since(database: Database, project_id: str, since: float) -> dict[str, int]:
    """Return how many of a project's old captures were judged again since a time, by result."""
    rows = await database.rows(
        "SELECT key, sum(value) FROM events, json_each(events.after) WHERE subject = ? AND subject_id = ? AND at > ?"
        " GROUP BY key",
        (REJUDGED, project_id, since),
    )
    return {row[0]: int(row[1]) for row in rows}
