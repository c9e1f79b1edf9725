"""Candidates as they were judged: captured, waiting for review, or discarded with a reason.

What becomes of them later stands in ``decisions``.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import NotFoundError
from subconscious.model import Admission, Candidate, Decision, Verdict
from subconscious.store import events
from subconscious.store.capture_rows import (
    DAY,
    QUARANTINED,
    TABLE,
    UNCONFIRMED,
    Place,
    capture_key,
    columns_of,
    opened,
    outcome,
    written,
)
from subconscious.store.connect import Database
from subconscious.store.numbers import free_number, next_number
from subconscious.store.rows import alter, content_hash, insertion, marks


async def is_known(tx: aiosqlite.Connection, candidate: Candidate) -> bool:
    """Whether the same was read before, or purged: nothing comes of it."""
    key = capture_key(candidate)
    rows = await tx.execute_fetchall(
        "SELECT 1 FROM implicit_captures WHERE capture_key = ?1"
        " UNION ALL SELECT 1 FROM purged_captures WHERE capture_key = ?1",
        (key,),
    )
    return bool(list(rows))


async def insert(
    tx: aiosqlite.Connection,
    candidate: Candidate,
    admission: Admission,
    place: Place,
    expiry_days: float,
    actor: str = "daemon",
) -> int | None:
    """Keep a judged candidate; its id, or None when the same was read before, or purged.

    What is discarded is its own record: nothing came of it that could be taken back.
    """
    now, key = time(), capture_key(candidate)
    if list(await tx.execute_fetchall("SELECT 1 FROM purged_captures WHERE capture_key = ?", (key,))):
        return None
    number = await next_number(tx)
    values = {
        "id": number,
        "capture_key": key,
        "project_id": place.project_id,
        "session_id": place.session_id,
        **outcome(admission),
        "content_hash": content_hash(candidate.content),
        "created_at": now,
        "expires_at": now + expiry_days * DAY if admission.decision is Decision.REVIEW else None,
        **columns_of(candidate),
    }
    cursor = await tx.execute(*insertion("implicit_captures", values, "ON CONFLICT (capture_key) DO NOTHING"))
    if not cursor.rowcount:
        return None
    if admission.decision is not Decision.DISCARD:
        await _made(tx, number, values, actor)
    return number


async def _made(tx: aiosqlite.Connection, capture_id: int, values: dict[str, Any], actor: str = "daemon") -> None:
    told = {"status": QUARANTINED if values["quarantined"] else values["status"], "quarantined": values["quarantined"]}
    session = values["session_id"]
    await events.record(tx, "create", "capture", capture_id, actor=actor, session_id=session, after=told)


async def bind(tx: aiosqlite.Connection, capture_id: int, memory_id: int) -> None:
    """Note which memory a capture became, or repeated."""
    await change(tx, "bind", capture_id, {"memory_id": memory_id})


async def change(
    tx: aiosqlite.Connection,
    action: str,
    capture_id: int,
    values: dict[str, Any],
    actor: str = "daemon",
    reason: str = "",
    act: str = "",
) -> None:
    """Set columns of a capture, and say so where that changed any."""
    before, after = await alter(tx, TABLE, capture_id, values)
    if after:
        await events.record(
            tx, action, "capture", capture_id, actor=actor, reason=reason, before=before, after=after, act=act
        )


async def get(database: Database, capture_id: int) -> dict[str, Any]:
    """One capture. Raises NotFoundError."""
    rows = await database.rows("SELECT * FROM implicit_captures WHERE id = ?", (capture_id,))
    return _only(rows, capture_id)


async def listing(
    database: Database,
    *,
    project_id: str | None = None,
    session_id: str | None = None,
    status: str | None = None,
    after: int = 0,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """Captures, oldest first, by project, session and status; ``after`` leaves out ids up to it.

    What waits (status ``review``) includes what is unconfirmed, and begins with it.
    """
    chosen = {"project_id": project_id, "session_id": session_id}
    named = {name: value for name, value in chosen.items() if value is not None}
    where = "".join(f" AND {name} = :{name}" for name in named)
    if status is not None:
        # The plain column too, for its index.
        where += " AND quarantined = :held AND status = :status"
        where += " AND memory_id IS NOT NULL" if status == UNCONFIRMED else ""
        named |= {"status": written(status)["status"], "held": written(status)["quarantined"]}
    # Of what waits, the unconfirmed is shown first: it is given to sessions already.
    first = "memory_id IS NULL, " if status == "review" else ""
    rows = await database.rows(
        f"SELECT * FROM implicit_captures WHERE id > :after{where} ORDER BY {first}id LIMIT :limit",  # noqa: S608
        named | {"after": after, "limit": limit},  # type: ignore[arg-type]
    )
    return [opened(row) for row in rows]


async def held(tx: aiosqlite.Connection, capture_id: int) -> dict[str, Any]:
    """One capture as the running transaction sees it. Raises NotFoundError."""
    rows = list(await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE id = ?", (capture_id,)))
    return _only(rows, capture_id)


async def found(tx: aiosqlite.Connection, capture_id: int) -> dict[str, Any] | None:
    """One capture as the running transaction sees it, unless it was purged."""
    rows = await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE id = ?", (capture_id,))
    return next((opened(row) for row in rows), None)


def _only(rows: Sequence[Any], capture_id: int) -> dict[str, Any]:
    if not rows:
        raise NotFoundError(f"there is no capture {capture_id}", "`subconscious review` shows those that wait")
    return opened(rows[0])


async def insert_held(
    tx: aiosqlite.Connection, candidate: Candidate, verdict: Verdict, place: Place, reason: str, memory_id: int
) -> None:
    """Set a memory apart that has no capture: one is made of it, for a person to decide on."""
    admission = Admission(Decision.QUARANTINE, candidate.raw_confidence, reason, verdict)
    number = await free_number(tx, TABLE, memory_id)
    values = {
        "id": number,
        "capture_key": f"memory-{memory_id}",
        "project_id": place.project_id,
        "session_id": place.session_id,
        **outcome(admission),
        "memory_id": memory_id,
        "content_hash": content_hash(candidate.content),
        "created_at": time(),
        **columns_of(candidate),
    }
    known = "SELECT id FROM implicit_captures WHERE capture_key = ?"
    for row in await tx.execute_fetchall(known, (values["capture_key"],)):
        await change(tx, QUARANTINED, row[0], written(QUARANTINED), reason=reason)
        return
    await tx.execute(*insertion(TABLE, values))
    await _made(tx, number, values)


async def of_memory(tx: aiosqlite.Connection, memory_id: int) -> list[dict[str, Any]]:
    """The captures that became a memory or repeated it, the first one first."""
    rows = await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE memory_id = ? ORDER BY id", (memory_id,))
    return [opened(row) for row in rows]


async def in_quarantine(tx: aiosqlite.Connection, memory_ids: Sequence[int]) -> set[int]:
    """Those memories that are kept apart."""
    rows = await tx.execute_fetchall(
        f"SELECT memory_id FROM implicit_captures WHERE quarantined AND memory_id IN ({marks(memory_ids)})",  # noqa: S608
        tuple(memory_ids),
    )
    return {row[0] for row in rows}


async def unseconded(database: Database, prompt: int, limit: int) -> list[dict[str, Any]]:
    """Captures that were flagged, wait for a person, and that no model was asked about with this prompt yet."""
    rows = await database.rows(
        "SELECT * FROM implicit_captures WHERE (status = 'review' OR quarantined) AND seconded_with <> ?"
        " AND released_at IS NULL AND level IN ('medium', 'high', 'critical') ORDER BY id LIMIT ?",
        (prompt, limit),
    )
    return [opened(row) for row in rows]


async def quarantined(database: Database, project_id: str | None = None, since: float = 0.0) -> int:
    """How many captures are kept apart, in one project or in all, newer than ``since``."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures"
        " WHERE quarantined AND (?1 IS NULL OR project_id = ?1) AND created_at > ?2",
        (project_id, since),
    )
    return int(rows[0][0])


async def suspected(database: Database, project_id: str | None = None, since: float = 0.0) -> list[dict[str, Any]]:
    """Captures that wait for a person and look like an attack, the worst first, newer than ``since``."""
    rows = await database.rows(
        "SELECT * FROM implicit_captures WHERE status = 'review' AND NOT quarantined AND level <> 'none'"
        " AND (?1 IS NULL OR project_id = ?1) AND created_at > ?2"
        " ORDER BY CASE level WHEN 'low' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END, id",
        (project_id, since),
    )
    return [opened(row) for row in rows]


async def suspected_of(database: Database, memory_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Captures of these memories that look like an attack and that no person has released, the worst of each last."""
    rows = await database.rows(
        f"SELECT * FROM implicit_captures WHERE memory_id IN ({marks(memory_ids)})"  # noqa: S608
        " AND level <> 'none' AND released_at IS NULL"
        " ORDER BY CASE level WHEN 'low' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, id",
        tuple(memory_ids),
    )
    return [opened(row) for row in rows]


async def of_whole_session(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """Return all captures of a session, with any status."""
    rows = await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE session_id = ? ORDER BY id", (session_id,))
    return [opened(row) for row in rows]


async def of_session(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """What a session has brought that is stored, waits, or was decided by a person."""
    rows = await tx.execute_fetchall(
        "SELECT id, status, confidence, content, origin, level, reservation, memory_id, extractor"
        " FROM implicit_captures WHERE session_id = ?"
        " AND status IN ('captured', 'review', 'approved', 'rejected') ORDER BY id",
        (session_id,),
    )
    return [dict(row) for row in rows]


async def refused(database: Database, project_id: str) -> list[str]:
    """What a person rejected or forgot in a project, and what was set apart, in its words."""
    rows = await database.rows(
        "SELECT content FROM implicit_captures WHERE status = 'rejected' AND project_id = ?1"
        " UNION SELECT content FROM implicit_captures WHERE quarantined AND project_id = ?1"
        " UNION SELECT content FROM memories AS m WHERE project_id = ?1 AND archived_at IS NOT NULL AND EXISTS ("
        "SELECT 1 FROM events WHERE subject = 'memory' AND subject_id = CAST(m.id AS TEXT) AND action = 'archive'"
        " AND actor = 'user')",
        (project_id,),
    )
    return [row[0] for row in rows]


async def waiting(database: Database, project_id: str | None = None, since: float = 0.0) -> int:
    """How many captures wait for a person, in one project or in all, newer than ``since``; without the unconfirmed."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures WHERE status = 'review' AND memory_id IS NULL AND created_at > ?"
        " AND (? IS NULL OR project_id = ?)",
        (since, project_id, project_id),
    )
    return int(rows[0][0])


async def unconfirmed(database: Database, project_id: str | None = None) -> int:
    """How many captures wait of which unconfirmed memories were made, in one project or in all."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures WHERE status = 'review' AND memory_id IS NOT NULL"
        " AND (?1 IS NULL OR project_id = ?1)",
        (project_id,),
    )
    return int(rows[0][0])


async def many(database: Database, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Those of ``ids`` that exist."""
    rows = await database.rows(
        f"SELECT * FROM implicit_captures WHERE id IN ({marks(ids)}) ORDER BY id",  # noqa: S608
        tuple(ids),
    )
    return [opened(row) for row in rows]


async def by_key(database: Database, key: str) -> dict[str, Any]:
    """The capture of what was said where. Raises NotFoundError."""
    rows = await database.rows("SELECT * FROM implicit_captures WHERE capture_key = ?", (key,))
    if not rows:
        raise NotFoundError("there is no such capture", "say it again")
    return opened(rows[0])
