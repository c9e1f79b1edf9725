"""Captures: assessed candidates that were stored, wait for review, or were discarded with a reason.

Later changes to captures are in the module ``decisions``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import time
from typing import Any, TypedDict, cast

import aiosqlite

from subconscious.domain.errors import NotFoundError
from subconscious.domain.model import Admission, Candidate, Decision, Memory, Verdict
from subconscious.store import events
from subconscious.store.capture_rows import (
    DAY,
    QUARANTINED,
    TABLE,
    UNCONFIRMED,
    SessionRef,
    admission_columns,
    candidate_columns,
    capture_from,
    capture_key,
    status_columns,
)
from subconscious.store.connect import Database
from subconscious.store.rows import content_hash, insertion, memory_from, qmarks, update_row
from subconscious.store.shared_ids import free_id, next_id
from subconscious.wire.captures import Capture


async def is_known(tx: aiosqlite.Connection, candidate: Candidate) -> bool:
    """Whether the same statement (the same `capture_key`) was captured or purged before, and so must be skipped."""
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
    place: SessionRef,
    expiry_days: float,
    actor: str = "daemon",
) -> int | None:
    """Store an assessed candidate as a capture; return the capture's id.

    Return None if the same statement was captured or purged before. No event is recorded for a discarded candidate:
    there is nothing to undo.
    """
    now, key = time(), capture_key(candidate)
    if list(await tx.execute_fetchall("SELECT 1 FROM purged_captures WHERE capture_key = ?", (key,))):
        return None
    number = await next_id(tx)
    values = {
        "id": number,
        "capture_key": key,
        "project_id": place.project_id,
        "session_id": place.session_id,
        **admission_columns(admission),
        "content_hash": content_hash(candidate.content),
        "created_at": now,
        "expires_at": now + expiry_days * DAY if admission.decision is Decision.REVIEW else None,
        **candidate_columns(candidate),
    }
    cursor = await tx.execute(*insertion("implicit_captures", values, "ON CONFLICT (capture_key) DO NOTHING"))
    if not cursor.rowcount:
        return None
    if admission.decision is not Decision.DISCARD:
        await _record_creation(tx, number, values, actor)
    return number


async def _record_creation(
    tx: aiosqlite.Connection, capture_id: int, values: dict[str, Any], actor: str = "daemon"
) -> None:
    status = QUARANTINED if values["quarantined"] else values["status"]
    created = {"status": status, "quarantined": values["quarantined"]}
    session = values["session_id"]
    await events.record(tx, "create", "capture", capture_id, actor=actor, session_id=session, after=created)


async def bind(tx: aiosqlite.Connection, capture_id: int, memory_id: int) -> None:
    """Record which memory a capture became, or which memory it repeated."""
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
    """Update columns of a capture, and record an event if any value changed."""
    before, after = await update_row(tx, TABLE, capture_id, values)
    if after:
        await events.record(
            tx, action, "capture", capture_id, actor=actor, reason=reason, before=before, after=after, act=act
        )


async def get(database: Database, capture_id: int) -> Capture:
    """Return one capture. Raises NotFoundError if there is none with this id."""
    rows = await database.rows("SELECT * FROM implicit_captures WHERE id = ?", (capture_id,))
    return _only(rows, capture_id)


async def listing(
    database: Database,
    *,
    project_id: str | None = None,
    session_id: str | None = None,
    status: str | None = None,
    limit: int = 100,
) -> list[Capture]:
    """Return up to ``limit`` captures of a project, session and status (None: any), oldest first.

    The status `review` includes unconfirmed captures, which come first.
    """
    chosen = {"project_id": project_id, "session_id": session_id}
    named = {name: value for name, value in chosen.items() if value is not None}
    where = "".join(f" AND {name} = :{name}" for name in named)
    if status is not None:
        # The plain status is in the condition too, so that its index is used.
        where += " AND quarantined = :held AND status = :status"
        where += " AND memory_id IS NOT NULL" if status == UNCONFIRMED else ""
        named |= {"status": status_columns(status)["status"], "held": status_columns(status)["quarantined"]}
    # Unconfirmed captures come first because sessions already receive them.
    first = "memory_id IS NULL, " if status == "review" else ""
    rows = await database.rows(
        f"SELECT * FROM implicit_captures WHERE TRUE{where} ORDER BY {first}id LIMIT :limit",  # noqa: S608
        named | {"limit": limit},  # type: ignore[arg-type]
    )
    return [capture_from(row) for row in rows]


async def require(tx: aiosqlite.Connection, capture_id: int) -> Capture:
    """Return one capture as the running transaction sees it. Raises NotFoundError if there is none with this id."""
    rows = list(await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE id = ?", (capture_id,)))
    return _only(rows, capture_id)


async def find(tx: aiosqlite.Connection, capture_id: int) -> Capture | None:
    """Return one capture as the running transaction sees it; None if it was purged."""
    rows = await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE id = ?", (capture_id,))
    return next((capture_from(row) for row in rows), None)


def _only(rows: Sequence[Any], capture_id: int) -> Capture:
    if not rows:
        raise NotFoundError(f"there is no capture {capture_id}", "run `subconscious review` to list waiting captures")
    return capture_from(rows[0])


async def insert_quarantined(
    tx: aiosqlite.Connection, candidate: Candidate, verdict: Verdict, place: SessionRef, reason: str, memory_id: int
) -> None:
    """Create a quarantined capture for a memory without a capture, so that a person can decide on the memory.

    If the memory already has such a capture, that capture is quarantined again.
    """
    admission = Admission(Decision.QUARANTINE, candidate.raw_confidence, reason, verdict)
    number = await free_id(tx, TABLE, memory_id)
    values = {
        "id": number,
        "capture_key": f"memory-{memory_id}",
        "project_id": place.project_id,
        "session_id": place.session_id,
        **admission_columns(admission),
        "memory_id": memory_id,
        "content_hash": content_hash(candidate.content),
        "created_at": time(),
        **candidate_columns(candidate),
    }
    known = "SELECT id FROM implicit_captures WHERE capture_key = ?"
    for row in await tx.execute_fetchall(known, (values["capture_key"],)):
        await change(tx, QUARANTINED, row[0], status_columns(QUARANTINED), reason=reason)
        return
    await tx.execute(*insertion(TABLE, values))
    await _record_creation(tx, number, values)


async def of_memory(tx: aiosqlite.Connection, memory_id: int) -> list[Capture]:
    """Return the captures that became a memory or repeated it, oldest first."""
    rows = await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE memory_id = ? ORDER BY id", (memory_id,))
    return [capture_from(row) for row in rows]


async def in_quarantine(tx: aiosqlite.Connection, memory_ids: Sequence[int]) -> set[int]:
    """Return which of ``memory_ids`` belong to memories in quarantine."""
    rows = await tx.execute_fetchall(
        f"SELECT memory_id FROM implicit_captures WHERE quarantined AND memory_id IN ({qmarks(memory_ids)})",  # noqa: S608
        tuple(memory_ids),
    )
    return {row[0] for row in rows}


async def flagged(database: Database, prompt: int, limit: int) -> list[Capture]:
    """Return undecided captures, flagged as `medium` or worse, that no model has assessed with this prompt version."""
    rows = await database.rows(
        "SELECT * FROM implicit_captures WHERE (status = 'review' OR quarantined) AND seconded_with <> ?"
        " AND released_at IS NULL AND level IN ('medium', 'high', 'critical') ORDER BY id LIMIT ?",
        (prompt, limit),
    )
    return [capture_from(row) for row in rows]


async def quarantined(database: Database, project_id: str | None = None, since: float = 0.0) -> int:
    """Return how many captures newer than ``since`` are in quarantine, in one project or in all."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures"
        " WHERE quarantined AND (?1 IS NULL OR project_id = ?1) AND created_at > ?2",
        (project_id, since),
    )
    return int(rows[0][0])


async def suspected(database: Database, project_id: str | None) -> list[Capture]:
    """Return captures that wait for review and that the poisoning check flagged, the most suspicious first."""
    rows = await database.rows(
        "SELECT * FROM implicit_captures WHERE status = 'review' AND NOT quarantined AND level <> 'none'"
        " AND (?1 IS NULL OR project_id = ?1)"
        " ORDER BY CASE level WHEN 'low' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END, id",
        (project_id,),
    )
    return [capture_from(row) for row in rows]


async def suspected_of(database: Database, memory_ids: Sequence[int]) -> list[Capture]:
    """Return the suspicious captures of memories, the most suspicious last.

    Captures that a person released from quarantine are left out.
    """
    rows = await database.rows(
        f"SELECT * FROM implicit_captures WHERE memory_id IN ({qmarks(memory_ids)})"  # noqa: S608
        " AND level <> 'none' AND released_at IS NULL"
        " ORDER BY CASE level WHEN 'low' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, id",
        tuple(memory_ids),
    )
    return [capture_from(row) for row in rows]


async def all_of_session(tx: aiosqlite.Connection, session_id: str) -> list[Capture]:
    """Return all captures of a session, with any status."""
    rows = await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE session_id = ? ORDER BY id", (session_id,))
    return [capture_from(row) for row in rows]


class SessionCapture(TypedDict):
    """The columns of a capture that are needed to apply the limits on captures per session."""

    id: int
    status: str
    confidence: float
    content: str
    origin: str
    level: str
    reservation: str | None
    memory_id: int | None
    extractor: str
    turn_id: str
    evidence: str


async def of_session(tx: aiosqlite.Connection, session_id: str) -> list[SessionCapture]:
    """Return the captures of a session that are stored, waiting, or decided by a person."""
    rows = await tx.execute_fetchall(
        f"SELECT {', '.join(SessionCapture.__annotations__)} FROM implicit_captures WHERE session_id = ?"  # noqa: S608
        " AND status IN ('captured', 'review', 'approved', 'rejected') ORDER BY id",
        (session_id,),
    )
    return [cast("SessionCapture", dict(row)) for row in rows]


async def rejected_texts(database: Database, project_id: str) -> list[str]:
    """Return the texts of a project's rejected or quarantined captures, and of memories that a person archived."""
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
    """Return how many captures newer than ``since`` wait for a person, not counting unconfirmed captures."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures WHERE status = 'review' AND memory_id IS NULL AND created_at > ?"
        " AND (? IS NULL OR project_id = ?)",
        (since, project_id, project_id),
    )
    return int(rows[0][0])


async def unconfirmed(database: Database, project_id: str | None = None) -> int:
    """Return how many waiting captures have an unconfirmed memory, in one project or in all."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures WHERE status = 'review' AND memory_id IS NOT NULL"
        " AND (?1 IS NULL OR project_id = ?1)",
        (project_id,),
    )
    return int(rows[0][0])


async def get_many(database: Database, ids: Sequence[int]) -> list[Capture]:
    """Return the captures with these ids; ids without a capture are skipped."""
    rows = await database.rows(
        f"SELECT * FROM implicit_captures WHERE id IN ({qmarks(ids)}) ORDER BY id",  # noqa: S608
        tuple(ids),
    )
    return [capture_from(row) for row in rows]


async def by_key(database: Database, key: str) -> Capture:
    """Return the capture with a key (see ``capture_key``). Raises NotFoundError if there is none."""
    rows = await database.rows("SELECT * FROM implicit_captures WHERE capture_key = ?", (key,))
    if not rows:
        raise NotFoundError("there is no capture of this statement; it may have been purged", "state it in other words")
    return capture_from(rows[0])


async def habit_memories(tx: aiosqlite.Connection, project_id: str, extractor: str, habit: str) -> list[Memory]:
    """Return the memories about a habit (such as how the project is tested), active memories first."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM memories WHERE project_id = ? AND extractor = ? AND tags = ?"
        " ORDER BY archived_at IS NOT NULL, id",
        (project_id, extractor, json.dumps([habit])),
    )
    return [memory_from(row) for row in rows]


async def habit_seen_elsewhere(
    tx: aiosqlite.Connection, place: SessionRef, extractor: str, content: str, reservation: str
) -> bool:
    """Whether another session showed the same habit, and no capture of the habit was rejected or quarantined.

    Rolled-back captures don't count. A capture that no person rejected counts only if its reservation (the reason why
    it is not shown to sessions) is ``reservation``.
    """
    rows = await tx.execute_fetchall(
        "SELECT status = 'rejected' OR quarantined, session_id FROM implicit_captures WHERE project_id = ?"
        " AND extractor = ? AND content_hash = ? AND NOT (status = 'discarded' AND decided_at IS NOT NULL)"
        " AND (status = 'rejected' OR reservation = ?)",
        (place.project_id, extractor, content_hash(content), reservation),
    )
    found = list(rows)
    return not any(row[0] for row in found) and any(row[1] != place.session_id for row in found)


async def waiting_habit_captures(tx: aiosqlite.Connection, project_id: str, extractor: str, habit: str) -> list[int]:
    """Return the ids of the captures of a habit that wait for a person, without unconfirmed captures."""
    rows = await tx.execute_fetchall(
        "SELECT id FROM implicit_captures WHERE project_id = ? AND extractor = ? AND tags = ? AND status = 'review'"
        " AND memory_id IS NULL AND NOT quarantined ORDER BY id",
        (project_id, extractor, json.dumps([habit])),
    )
    return [row[0] for row in rows]
