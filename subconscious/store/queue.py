"""The review queue as a person is offered it: a few items at a time, the most useful first.

The user's own words never expire unseen; what the assistant or a tool said may.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aiosqlite

from subconscious.model import Origin
from subconscious.store.capture_rows import DAY, opened
from subconscious.store.connect import Database
from subconscious.store.rows import marks

OFFERED = 3
"""Items that are offered at a time."""

LEFT_SECONDS = DAY
"""Seconds after which an item that was shown and left undecided steps behind those that were not."""

MAY_EXPIRE = f"(origin <> '{Origin.USER.value}' OR kind = 'meta' OR shown_at IS NOT NULL)"
"""SQL: whether an item that waits may expire. What sums up memories is nobody's own words."""


async def offered(database: Database, project_id: str | None, now: float, limit: int = OFFERED) -> list[dict[str, Any]]:
    """Return the most useful items that wait: the user's own words first, then those that are surest."""
    rows = await database.rows(
        "SELECT * FROM implicit_captures WHERE status = 'review' AND (?1 IS NULL OR project_id = ?1)"
        " ORDER BY shown_at IS NOT NULL AND shown_at < ?2,"
        " CASE origin WHEN 'user' THEN 0 WHEN 'assistant' THEN 1 ELSE 2 END, confidence DESC, id LIMIT ?3",
        (project_id, now - LEFT_SECONDS, limit),
    )
    return [opened(row) for row in rows]


async def note_shown(tx: aiosqlite.Connection, ids: Sequence[int], now: float, expiry_days: float) -> None:
    """Note that a person has seen these items. From the first time on they wait as long as new ones.

    No event is written: nothing was decided.
    """
    await tx.execute(
        "UPDATE implicit_captures SET shown_at = ?, expires_at = max(coalesce(expires_at, 0), ?)"  # noqa: S608
        f" WHERE status = 'review' AND shown_at IS NULL AND id IN ({marks(ids)})",
        (now, now + expiry_days * DAY, *ids),
    )
