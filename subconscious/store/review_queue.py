"""The review queue: waiting captures as they are offered to a person, and compared with later statements.

A few items are offered at a time, the most useful first. The user's own words don't expire before they were shown;
statements of the assistant or a tool may.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.decay import adjusted_confidence
from subconscious.domain.model import Origin
from subconscious.store import capture_rows, events
from subconscious.store.capture_rows import DAY, capture_from
from subconscious.store.connect import Database
from subconscious.store.rows import qmarks, update_row
from subconscious.wire.captures import Capture

# Flagged captures are not compared: a person must see them unchanged.
_UNFLAGGED = "status = 'review' AND level = 'none'"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The columns of a capture that are compared."""

    id: int
    kind: str
    scope: str
    content: str
    rationale: str
    tags: tuple[str, ...]
    origin: str = ""


async def latest_waiting(database: Database, project_id: str, limit: int) -> list[Waiting]:
    """Return the waiting captures of a project, latest first."""
    rows = await database.rows(
        "SELECT id, kind, scope, content, rationale, tags, origin FROM implicit_captures"  # noqa: S608
        f" WHERE project_id = ? AND {_UNFLAGGED} ORDER BY id DESC LIMIT ?",
        (project_id, limit),
    )
    return [Waiting(**dict(row) | {"tags": tuple(json.loads(row["tags"]))}) for row in rows]


async def find_waiting(tx: aiosqlite.Connection, capture_id: int) -> Capture | None:
    """Return one capture as the running transaction sees it; None if it no longer waits."""
    rows = await tx.execute_fetchall(f"SELECT * FROM implicit_captures WHERE id = ? AND {_UNFLAGGED}", (capture_id,))  # noqa: S608
    return next((capture_rows.capture_from(row) for row in rows), None)


async def restate(tx: aiosqlite.Connection, capture: Capture, expiry_days: float) -> None:
    """Record that a waiting capture was stated again: it becomes surer and gets a new expiry.

    A person still decides.
    """
    values = {
        "confidence": adjusted_confidence(capture["confidence"]),
        "expires_at": time() + expiry_days * capture_rows.DAY,
    }
    before, after = await update_row(tx, capture_rows.TABLE, capture["id"], values)
    await events.record(tx, "recur", "capture", capture["id"], before=before, after=after)


OFFERED = 3
"""The number of items offered at a time."""

LEFT_SECONDS = DAY
"""Seconds after which an item that was shown but not decided ranks behind those not shown yet."""

MAY_EXPIRE = f"(origin <> '{Origin.USER.value}' OR kind = 'meta' OR shown_at IS NOT NULL)"
"""SQL: whether a waiting item may expire. Summaries (`meta`) are not in the user's own words."""


async def offered(database: Database, project_id: str | None, now: float, limit: int = OFFERED) -> list[Capture]:
    """Return the most useful waiting items: unconfirmed ones first, then the user's own words, then by confidence.

    Sessions may be given what is unconfirmed, so a mistake in it costs most.
    """
    rows = await database.rows(
        "SELECT * FROM implicit_captures WHERE status = 'review' AND (?1 IS NULL OR project_id = ?1)"
        " ORDER BY shown_at IS NOT NULL AND shown_at < ?2, memory_id IS NULL,"
        " CASE origin WHEN 'user' THEN 0 WHEN 'assistant' THEN 1 ELSE 2 END, confidence DESC, id LIMIT ?3",
        (project_id, now - LEFT_SECONDS, limit),
    )
    return [capture_from(row) for row in rows]


async def record_shown(tx: aiosqlite.Connection, ids: Sequence[int], now: float, expiry_days: float) -> None:
    """Record that items were shown; the first time, their expiry is restarted.

    No event: nothing was decided.
    """
    await tx.execute(
        "UPDATE implicit_captures SET shown_at = ?, expires_at = max(coalesce(expires_at, 0), ?)"  # noqa: S608
        f" WHERE status = 'review' AND shown_at IS NULL AND id IN ({qmarks(ids)})",
        (now, now + expiry_days * DAY, *ids),
    )
