"""Candidates as they were judged: captured, waiting for review, or discarded with a reason (SPEC A3-A5, D17a)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import NotFoundError
from subconscious.model import (
    Admission,
    Candidate,
    Decision,
    Evidence,
    Origin,
    Scope,
    Strength,
    Verdict,
)
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import Diff, alter, content_hash, insertion, marks, plain, stored

TABLE = "implicit_captures"
DAY = 86_400.0
SAME_NAME = (
    "kind",
    "summary",
    "content",
    "raw_confidence",
    "extractor",
    "rationale",
    "sentiment",
    "branch",
)
STATUS = {
    Decision.AUTO: "captured",
    Decision.REVIEW: "review",
    Decision.QUARANTINE: "quarantined",
    Decision.DISCARD: "discarded",
}
QUARANTINED = "quarantined"
"""A status that the table writes as discarded with a mark: whoever does not know the mark leaves such a row alone."""

OPENED = f"CASE WHEN quarantined THEN '{QUARANTINED}' ELSE status END"
"""SQL: the status as it is told."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a candidate was met: its project and session."""

    project_id: str
    session_id: str | None


def capture_key(candidate: Candidate) -> str:
    """What was said where. A turn read twice, from a resumed file or a retried job, gives the same key."""
    quote = content_hash(candidate.evidence.quote)
    return hashlib.sha256(f"{candidate.evidence.turn_id}\0{quote}\0{candidate.kind}".encode()).hexdigest()[:32]


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
    values = {
        "capture_key": key,
        "project_id": place.project_id,
        "session_id": place.session_id,
        **outcome(admission),
        "content_hash": content_hash(candidate.content),
        "created_at": now,
        "expires_at": now + expiry_days * DAY if admission.decision is Decision.REVIEW else None,
        **_said(candidate),
    }
    cursor = await tx.execute(*insertion("implicit_captures", values, "ON CONFLICT (capture_key) DO NOTHING"))
    if not cursor.rowcount:
        return None
    number = int(cursor.lastrowid or 0)
    if admission.decision is not Decision.DISCARD:
        await _made(tx, number, values, actor)
    return number


async def _made(tx: aiosqlite.Connection, capture_id: int, values: dict[str, Any], actor: str = "daemon") -> None:
    told = {"status": QUARANTINED if values["quarantined"] else values["status"], "quarantined": values["quarantined"]}
    session = values["session_id"]
    await events.record(tx, "create", "capture", capture_id, actor=actor, session_id=session, after=told)


def outcome(admission: Admission) -> dict[str, Any]:
    """What the gate and the poisoning check said, as column values."""
    held = admission.decision is Decision.QUARANTINE
    return {
        "status": "discarded" if held else STATUS[admission.decision],
        "decision": (Decision.DISCARD if held else admission.decision).value,
        "quarantined": int(held),
        "reason": admission.reason,
        "confidence": admission.confidence,
        **judged(admission.verdict or Verdict()),
    }


def judged(verdict: Verdict) -> dict[str, Any]:
    """A verdict as column values."""
    findings = json.dumps([asdict(finding) for finding in verdict.findings], ensure_ascii=False)
    return {"level": verdict.level.value, "verdict": findings, "rules": verdict.rules}


def opened(row: Any) -> dict[str, Any]:
    """A row as it is told: with its own status where it is in quarantine, its findings opened."""
    capture = plain(row) | {"verdict": json.loads(row["verdict"]), "quarantined": bool(row["quarantined"])}
    if capture["quarantined"]:
        capture |= {"status": QUARANTINED, "decision": Decision.QUARANTINE.value}
    return capture


def _said(candidate: Candidate) -> dict[str, Any]:
    values = stored(candidate)
    quoted = values.pop("evidence")
    del values["reason"]
    return values | {
        "said_at": values.pop("time"),
        "evidence": quoted["quote"],
        "turn_id": quoted["turn_id"],
        "transcript": quoted["file"],
        "byte_start": quoted["start"],
        "byte_end": quoted["end"],
    }


def candidate_of(capture: dict[str, Any]) -> Candidate:
    """Make the candidate again from the capture that kept it."""
    return Candidate(
        evidence=Evidence(
            capture["evidence"],
            capture["turn_id"],
            capture["transcript"],
            capture["byte_start"],
            capture["byte_end"],
        ),
        origin=Origin(capture["origin"]),
        strength=Strength(capture["strength"]),
        scope=Scope(capture["scope"]),
        time=capture["said_at"],
        tags=tuple(capture["tags"]),
        files=tuple(capture["files"]),
        **{name: capture[name] for name in SAME_NAME},
    )


async def bind(tx: aiosqlite.Connection, capture_id: int, memory_id: int) -> None:
    """Note which memory a capture became, or repeated."""
    await _tell(tx, "bind", capture_id, await alter(tx, TABLE, capture_id, {"memory_id": memory_id}))


async def _tell(
    tx: aiosqlite.Connection,
    action: str,
    capture_id: int,
    diff: Diff,
    actor: str = "daemon",
    reason: str = "",
    act: str = "",
) -> None:
    if diff[1]:
        await events.record(
            tx, action, "capture", capture_id, actor=actor, reason=reason, before=diff[0], after=diff[1], act=act
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
    """Captures, oldest first, by project, session and status; ``after`` leaves out ids up to it."""
    chosen = {"project_id": project_id, "session_id": session_id}
    named = {name: value for name, value in chosen.items() if value is not None}
    where = "".join(f" AND {name} = :{name}" for name in named)
    if status is not None:
        # The plain column too, for its index.
        where += " AND quarantined = :held AND status = :status"
        held = status == QUARANTINED
        named |= {"status": "discarded" if held else status, "held": int(held)}  # type: ignore[dict-item]
    rows = await database.rows(
        f"SELECT * FROM implicit_captures WHERE id > :after{where} ORDER BY id LIMIT :limit",  # noqa: S608
        named | {"after": after, "limit": limit},  # type: ignore[arg-type]
    )
    return [opened(row) for row in rows]


async def held(tx: aiosqlite.Connection, capture_id: int) -> dict[str, Any]:
    """One capture as the running transaction sees it. Raises NotFoundError."""
    rows = list(await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE id = ?", (capture_id,)))
    return _only(rows, capture_id)


def _only(rows: Sequence[Any], capture_id: int) -> dict[str, Any]:
    if not rows:
        raise NotFoundError(f"there is no capture {capture_id}", "`subconscious review` shows those that wait")
    return opened(rows[0])


async def decide(
    tx: aiosqlite.Connection,
    capture: dict[str, Any],
    status: str,
    actor: str,
    reason: str,
    action: str = "",
    **told: Any,
) -> None:
    """Set what became of a capture; ``told`` joins the event (``action``, or else the status) for who undoes it."""
    before, after = await alter(tx, TABLE, capture["id"], _written(status) | {"decided_at": time()})
    await events.record(
        tx,
        action or status,
        "capture",
        capture["id"],
        actor=actor,
        reason=reason,
        before=before | {"status": capture["status"]},
        after=told | after | {"status": status},
    )


async def reopen(
    tx: aiosqlite.Connection,
    capture: dict[str, Any],
    status: str,
    expiry_days: float,
    action: str,
    reason: str,
    actor: str = "user",
) -> None:
    """A person takes a capture back to ``status``; one that waits again waits as long as a new one."""
    expires = time() + expiry_days * DAY if status == "review" else None
    values = _written(status) | {"decided_at": None, "expires_at": expires}
    if status != QUARANTINED:
        values["memory_id"] = None
    before, after = await alter(tx, TABLE, capture["id"], values)
    await events.record(
        tx,
        action,
        "capture",
        capture["id"],
        actor=actor,
        reason=reason,
        before=before | {"status": capture["status"]},
        after=after | {"status": status},
    )


REWORDED = (
    "kind",
    "summary",
    "content",
    "rationale",
    "sentiment",
    "tags",
    "files",
    "raw_confidence",
    "extractor",
)
"""What a better reading of a capture's evidence may change."""


async def reword(
    tx: aiosqlite.Connection, capture: dict[str, Any], worded: Candidate, admission: Admission, expiry_days: float
) -> None:
    """Give a capture another reader's words and what the gate says of them; those it had stand in its history."""
    values = outcome(admission)
    status = values["status"]
    read = {name: value for name, value in stored(worded).items() if name in REWORDED}
    expires = time() + expiry_days * DAY if status == "review" else None
    values |= read | {
        "content_hash": content_hash(worded.content),
        "expires_at": expires if capture["status"] != status else capture["expires_at"],
    }
    await _tell(tx, "refined", capture["id"], await alter(tx, TABLE, capture["id"], values), reason=admission.reason)


async def release(tx: aiosqlite.Connection, capture_id: int, at: float | None) -> None:
    """Note when a person let a capture go: no later check holds it again. None: they took that back."""
    action = "unreleased" if at is None else "let go"
    await _tell(tx, action, capture_id, await alter(tx, TABLE, capture_id, {"released_at": at}), "user")


async def insert_held(
    tx: aiosqlite.Connection, candidate: Candidate, verdict: Verdict, place: Place, reason: str, memory_id: int
) -> None:
    """Set a memory apart that has no capture: one is made of it, for a person to decide on."""
    admission = Admission(Decision.QUARANTINE, candidate.raw_confidence, reason, verdict)
    values = {
        "capture_key": f"memory-{memory_id}",
        "project_id": place.project_id,
        "session_id": place.session_id,
        **outcome(admission),
        "memory_id": memory_id,
        "content_hash": content_hash(candidate.content),
        "created_at": time(),
        **_said(candidate),
    }
    known = "SELECT id FROM implicit_captures WHERE capture_key = ?"
    for row in await tx.execute_fetchall(known, (values["capture_key"],)):
        diff = await alter(tx, TABLE, row[0], {"status": "discarded", "quarantined": 1})
        await _tell(tx, QUARANTINED, row[0], diff, reason=reason)
        return
    cursor = await tx.execute(*insertion(TABLE, values))
    await _made(tx, int(cursor.lastrowid or 0), values)


async def quarantine(tx: aiosqlite.Connection, capture: dict[str, Any], verdict: Verdict, reason: str) -> None:
    """Set a capture apart that a later look found dangerous; its memory, if it has one, is archived by the caller."""
    await rejudge(tx, capture["id"], verdict)
    await _tell(tx, "reasoned", capture["id"], await alter(tx, TABLE, capture["id"], {"reason": reason}))
    await decide(tx, capture, QUARANTINED, "daemon", reason)


async def rejudge(
    tx: aiosqlite.Connection, capture_id: int, verdict: Verdict, seconded_with: int | None = None
) -> None:
    """Keep what a later look said of a capture; ``seconded_with`` is the prompt of a model's opinion."""
    values = judged(verdict) | ({} if seconded_with is None else {"seconded_with": seconded_with})
    await _tell(tx, "judged", capture_id, await alter(tx, TABLE, capture_id, values))


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


async def of_whole_session(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """All captures that a session brought, in whatever state."""
    rows = await tx.execute_fetchall("SELECT * FROM implicit_captures WHERE session_id = ? ORDER BY id", (session_id,))
    return [opened(row) for row in rows]


def _written(status: str) -> dict[str, Any]:
    """A status as the table has it, and the mark beside it."""
    held = status == QUARANTINED
    return {"status": "discarded" if held else status, "quarantined": int(held)}


async def of_session(tx: aiosqlite.Connection, session_id: str) -> list[dict[str, Any]]:
    """What a session has brought that is stored, waits, or was decided by a person: id, status, confidence, content."""
    rows = await tx.execute_fetchall(
        "SELECT id, status, confidence, content FROM implicit_captures"
        " WHERE session_id = ? AND status IN ('captured', 'review', 'approved', 'rejected') ORDER BY id",
        (session_id,),
    )
    return [dict(row) for row in rows]


async def displace(tx: aiosqlite.Connection, capture_id: int, reason: str, act: str = "") -> None:
    """Take a waiting capture out of the queue; it can be restored like any that was discarded."""
    capture = await held(tx, capture_id)
    if capture["status"] == "review":
        values = {"status": "discarded", "reason": f"{reason}: {capture['reason']}"}
        await _tell(tx, "displace", capture_id, await alter(tx, TABLE, capture_id, values), reason=reason, act=act)


async def expire(tx: aiosqlite.Connection, now: float) -> int:
    """Close what waited too long; it stays in the table and can be looked at. Returns how many."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT id, status FROM implicit_captures WHERE status = 'review' AND expires_at < ?", (now,)
        )
    )
    for row in rows:
        await decide(tx, dict(row), "expired", "daemon", "nobody decided in time")
    return len(rows)


async def waiting(database: Database, project_id: str | None = None, since: float = 0.0) -> int:
    """How many captures wait for a person, in one project or in all, newer than ``since``."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures WHERE status = 'review' AND created_at > ?"
        " AND (? IS NULL OR project_id = ?)",
        (since, project_id, project_id),
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
