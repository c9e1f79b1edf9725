"""What waits for a person, as it is compared with what is said after it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from time import time
from typing import Any

import aiosqlite

from subconscious.decay import surer
from subconscious.store import capture_rows, events
from subconscious.store.connect import Database
from subconscious.store.rows import alter

# What is flagged is not compared: a person is to see it, and it as it is.
_PLAIN = "status = 'review' AND level = 'none'"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What of a capture is compared."""

    id: int
    kind: str
    scope: str
    content: str
    rationale: str
    tags: tuple[str, ...]


async def latest(database: Database, project_id: str, limit: int) -> list[Waiting]:
    """The captures of a project that wait, the latest first."""
    rows = await database.rows(
        "SELECT id, kind, scope, content, rationale, tags FROM implicit_captures"  # noqa: S608
        f" WHERE project_id = ? AND {_PLAIN} ORDER BY id DESC LIMIT ?",
        (project_id, limit),
    )
    return [Waiting(**dict(row) | {"tags": tuple(json.loads(row["tags"]))}) for row in rows]


async def held(tx: aiosqlite.Connection, capture_id: int) -> dict[str, Any] | None:
    """One capture as the running transaction sees it, if it still waits."""
    rows = await tx.execute_fetchall(f"SELECT * FROM implicit_captures WHERE id = ? AND {_PLAIN}", (capture_id,))  # noqa: S608
    return next((capture_rows.opened(row) for row in rows), None)


async def hear_again(tx: aiosqlite.Connection, capture: dict[str, Any], expiry_days: float) -> None:
    """The same was said again: it is a little surer, and waits as long as a new one. Still a person decides."""
    values = {"confidence": surer(capture["confidence"]), "expires_at": time() + expiry_days * capture_rows.DAY}
    before, after = await alter(tx, capture_rows.TABLE, capture["id"], values)
    await events.record(tx, "recur", "capture", capture["id"], before=before, after=after)
