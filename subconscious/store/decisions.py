"""Changes to captures: decisions by a person, expiry, rewording, new verdicts, quarantine."""

from __future__ import annotations

from time import time
from typing import Any, cast

import aiosqlite

from subconscious.domain.model import Admission, Candidate, Verdict
from subconscious.store import captures, events
from subconscious.store.capture_rows import (
    DAY,
    QUARANTINED,
    TABLE,
    UNCONFIRMED,
    admission_columns,
    status_columns,
    verdict_columns,
)
from subconscious.store.connect import Database
from subconscious.store.review_queue import MAY_EXPIRE
from subconscious.store.rows import column_values, content_hash, update_row
from subconscious.wire.captures import Capture

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
"""The columns of a capture that a better extraction from the same quote may change."""


async def decide(
    tx: aiosqlite.Connection,
    capture: Capture,
    status: str,
    actor: str,
    reason: str,
    action: str = "",
    **extra: Any,
) -> None:
    """Set the status of a capture; record an event with this ``action`` (default: the status) and ``extra`` values."""
    before, after = await update_row(tx, TABLE, capture["id"], status_columns(status) | {"decided_at": time()})
    await events.record(
        tx,
        action or status,
        "capture",
        capture["id"],
        actor=actor,
        reason=reason,
        before=before | {"status": capture["status"]},
        after=extra | after | {"status": status},
    )


async def reopen(
    tx: aiosqlite.Connection,
    capture: Capture,
    status: str,
    expiry_days: float,
    action: str,
    reason: str,
    actor: str = "user",
) -> None:
    """Set a decided capture back to ``status`` because a person asked for it.

    A capture that waits again gets a new expiry time.
    """
    expires = time() + expiry_days * DAY if status in ("review", UNCONFIRMED) else None
    values = status_columns(status) | {"decided_at": None, "expires_at": expires}
    if status not in (QUARANTINED, UNCONFIRMED):
        values["memory_id"] = None
    before, after = await update_row(tx, TABLE, capture["id"], values)
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
    tx: aiosqlite.Connection, capture: Capture, worded: Candidate, admission: Admission, expiry_days: float
) -> None:
    """Replace a capture's wording and the result of the admission gate; its history keeps the old wording."""
    values = admission_columns(admission)
    status = values["status"]
    read = {name: value for name, value in column_values(worded).items() if name in REWORDED}
    expires = time() + expiry_days * DAY if status == "review" else None
    values |= read | {
        "content_hash": content_hash(worded.content),
        "expires_at": expires if capture["status"] != status else capture["expires_at"],
    }
    await captures.change(tx, "refined", capture["id"], values, reason=admission.reason)


async def release(tx: aiosqlite.Connection, capture_id: int, at: float | None) -> None:
    """Record when a person released a capture from quarantine, so that later checks don't quarantine it again.

    ``at`` is in seconds since the epoch; None deletes the record.
    """
    action = "unreleased" if at is None else "let go"
    await captures.change(tx, action, capture_id, {"released_at": at}, "user")


async def quarantine(tx: aiosqlite.Connection, capture: Capture, verdict: Verdict, reason: str) -> None:
    """Quarantine a capture that a later check found dangerous; the caller archives the capture's memory, if any."""
    await rejudge(tx, capture["id"], verdict)
    await captures.change(tx, "reasoned", capture["id"], {"reason": reason})
    await decide(tx, capture, QUARANTINED, "daemon", reason)


async def rejudge(
    tx: aiosqlite.Connection, capture_id: int, verdict: Verdict, seconded_with: int | None = None
) -> None:
    """Store the verdict of a later check.

    ``seconded_with`` is the version of the prompt with which a model assessed the capture; None if no model did.
    """
    values = verdict_columns(verdict) | ({} if seconded_with is None else {"seconded_with": seconded_with})
    await captures.change(tx, "judged", capture_id, values)


async def displace(tx: aiosqlite.Connection, capture_id: int, reason: str, act: str = "") -> None:
    """Discard a waiting capture that is no longer needed; it can be restored like any discarded capture."""
    capture = await captures.require(tx, capture_id)
    if capture["status"] in ("review", UNCONFIRMED):
        values = {"status": "discarded", "reason": f"{reason}: {capture['reason']}"}
        await captures.change(tx, "displace", capture_id, values, reason=reason, act=act)


async def overdue(database: Database, now: float) -> tuple[int, int]:
    """Return how many waiting captures are past their expiry time and may expire, and how many wait in total."""
    rows = await database.rows(
        f"SELECT count(*) FILTER (WHERE expires_at < ? AND {MAY_EXPIRE}), count(*)"  # noqa: S608
        " FROM implicit_captures WHERE status = 'review'",
        (now,),
    )
    return int(rows[0][0]), int(rows[0][1])


async def expire(tx: aiosqlite.Connection, now: float) -> int:
    """Mark captures past their expiry time as expired; return how many. They stay in the table.

    Captures in the user's own words don't expire before the review has shown them once.
    """
    rows = list(
        await tx.execute_fetchall(
            "SELECT id, status FROM implicit_captures WHERE status = 'review' AND expires_at < ?"  # noqa: S608
            f" AND {MAY_EXPIRE}",
            (now,),
        )
    )
    for row in rows:
        await decide(tx, cast("Capture", dict(row)), "expired", "daemon", "it expired without a decision")
    return len(rows)
