"""What becomes of captures: decided by a person or by time, reworded, judged again, set apart."""

from __future__ import annotations

from time import time
from typing import Any

import aiosqlite

from subconscious.model import Admission, Candidate, Verdict
from subconscious.store import captures, events
from subconscious.store.capture_rows import DAY, QUARANTINED, TABLE, UNCONFIRMED, judged, outcome, written
from subconscious.store.connect import Database
from subconscious.store.queue import MAY_EXPIRE
from subconscious.store.rows import alter, content_hash, stored

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
    before, after = await alter(tx, TABLE, capture["id"], written(status) | {"decided_at": time()})
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
    expires = time() + expiry_days * DAY if status in ("review", UNCONFIRMED) else None
    values = written(status) | {"decided_at": None, "expires_at": expires}
    if status not in (QUARANTINED, UNCONFIRMED):
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
    await captures.change(tx, "refined", capture["id"], values, reason=admission.reason)


async def release(tx: aiosqlite.Connection, capture_id: int, at: float | None) -> None:
    """Note when a person let a capture go: no later check holds it again. None: they took that back."""
    action = "unreleased" if at is None else "let go"
    await captures.change(tx, action, capture_id, {"released_at": at}, "user")


async def quarantine(tx: aiosqlite.Connection, capture: dict[str, Any], verdict: Verdict, reason: str) -> None:
    """Set a capture apart that a later look found dangerous; its memory, if it has one, is archived by the caller."""
    await rejudge(tx, capture["id"], verdict)
    await captures.change(tx, "reasoned", capture["id"], {"reason": reason})
    await decide(tx, capture, QUARANTINED, "daemon", reason)


async def rejudge(
    tx: aiosqlite.Connection, capture_id: int, verdict: Verdict, seconded_with: int | None = None
) -> None:
    """Keep what a later look said of a capture; ``seconded_with`` is the prompt of a model's opinion."""
    values = judged(verdict) | ({} if seconded_with is None else {"seconded_with": seconded_with})
    await captures.change(tx, "judged", capture_id, values)


async def displace(tx: aiosqlite.Connection, capture_id: int, reason: str, act: str = "") -> None:
    """Take a waiting capture out of the queue; it can be restored like any that was discarded."""
    capture = await captures.held(tx, capture_id)
    if capture["status"] in ("review", UNCONFIRMED):
        values = {"status": "discarded", "reason": f"{reason}: {capture['reason']}"}
        await captures.change(tx, "displace", capture_id, values, reason=reason, act=act)


async def overdue(database: Database, now: float) -> tuple[int, int]:
    """How many captures have waited too long, and how many wait in all."""
    rows = await database.rows(
        f"SELECT count(*) FILTER (WHERE expires_at < ? AND {MAY_EXPIRE}), count(*)"  # noqa: S608
        " FROM implicit_captures WHERE status = 'review'",
        (now,),
    )
    return int(rows[0][0]), int(rows[0][1])


async def expire(tx: aiosqlite.Connection, now: float) -> int:
    """Close what waited too long; it stays in the table and can be looked at. Returns how many.

    The user's own words wait until they were shown once.
    """
    rows = list(
        await tx.execute_fetchall(
            "SELECT id, status FROM implicit_captures WHERE status = 'review' AND expires_at < ?"  # noqa: S608
            f" AND {MAY_EXPIRE}",
            (now,),
        )
    )
    for row in rows:
        await decide(tx, dict(row), "expired", "daemon", "nobody decided in time")
    return len(rows)
