"""The review queue: captures that wait for a person's decision.

A few captures are shown at a time, the most useful first. A capture in the user's own words expires only after it was
shown; a statement of the assistant or a tool may expire unseen. Later statements are compared with waiting captures, so
that a repetition is counted and not captured again.
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
    """The columns of a waiting capture that are compared with later statements."""

    id: int
    kind: str
    scope: str
    content: str
    rationale: str
    tags: tuple[str, ...]
    origin: str = ""
    said_at: float = 0.0


async def latest_waiting(database: Database, project_id: str, limit: int) -> list[Waiting]:
    """Return the waiting captures of a project, latest first, without flagged captures."""
    rows = await database.rows(
        "SELECT id, kind, scope, content, rationale, tags, origin, said_at FROM implicit_captures"  # noqa: S608
        f" WHERE project_id = ? AND {_UNFLAGGED} ORDER BY id DESC LIMIT ?",
        (project_id, limit),
    )
    return [Waiting(**dict(row) | {"tags": tuple(json.loads(row["tags"]))}) for row in rows]


async def find_waiting(tx: aiosqlite.Connection, capture_id: int) -> Capture | None:
    """Return one capture as the running transaction sees it; None if it no longer waits, or is flagged."""
    rows = await tx.execute_fetchall(f"SELECT * FROM implicit_captures WHERE id = ? AND {_UNFLAGGED}", (capture_id,))  # noqa: S608
    return next((capture_rows.capture_from(row) for row in rows), None)


async def restate(tx: aiosqlite.Connection, capture: Capture, expiry_days: float) -> None:
    """Record that a waiting capture was stated again: its confidence rises and its expiry time is renewed.

    The capture still waits for a person's decision.
    """
    values = {
        "confidence": adjusted_confidence(capture["confidence"]),
        "expires_at": time() + expiry_days * capture_rows.DAY,
    }
    before, after = await update_row(tx, capture_rows.TABLE, capture["id"], values)
    await events.record(tx, "recur", "capture", capture["id"], before=before, after=after)


OFFERED = 3
"""The number of captures that are shown at a time."""

LEFT_SECONDS = DAY
"""Seconds after which an undecided capture that was shown ranks after captures that were shown later or never."""

MAY_EXPIRE = f"(origin <> '{Origin.USER.value}' OR kind = 'meta' OR shown_at IS NOT NULL)"
"""SQL condition: a waiting capture may expire. Summaries (`meta`) don't count as the user's own words."""


async def offered(database: Database, project_id: str | None, now: float, limit: int = OFFERED) -> list[Capture]:
    """Return the most useful waiting captures: first the user's own words, then those with an unconfirmed memory.

    Captures with an unconfirmed memory are urgent because sessions may receive that memory, even if it is wrong.
    Captures of the same rank are ordered by confidence. Captures that were first shown more than ``LEFT_SECONDS`` ago
    come last.
    """
    rows = await database.rows(
        "SELECT * FROM implicit_captures WHERE status = 'review' AND (?1 IS NULL OR project_id = ?1)"
        " ORDER BY shown_at IS NOT NULL AND shown_at < ?2, origin <> 'user' OR kind = 'meta',"
        " CASE WHEN origin = 'user' THEN 0 ELSE memory_id IS NULL END, CASE origin WHEN 'tool' THEN 1 ELSE 0 END,"
        " confidence DESC, id LIMIT ?3",
        (project_id, now - LEFT_SECONDS, limit),
    )
    return [capture_from(row) for row in rows]


async def record_shown(tx: aiosqlite.Connection, ids: Sequence[int], now: float, expiry_days: float) -> None:
    """Record that captures were shown in the review for the first time, and renew their expiry time.

    No event is recorded, because nothing was decided.
    """
    await tx.execute(
        "UPDATE implicit_captures SET shown_at = ?, expires_at = max(coalesce(expires_at, 0), ?)"  # noqa: S608
        f" WHERE status = 'review' AND shown_at IS NULL AND id IN ({qmarks(ids)})",
        (now, now + expiry_days * DAY, *ids),
    )
