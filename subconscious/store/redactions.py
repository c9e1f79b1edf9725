"""What was taken out of texts (without itself), what a person lets pass, and which rules stored texts went through."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import NotFoundError
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import insertion, stored


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was taken out of a text, or warned of."""

    at: float
    place: str
    rule: str
    sort: str
    strategy: str
    hash: str
    length: int


async def record(tx: aiosqlite.Connection, findings: Sequence[Finding], most: int) -> None:
    """Write findings down; the same one in the same place is counted. Of more than ``most`` the oldest go."""
    again = "ON CONFLICT (place, rule, hash) DO UPDATE SET times = times + 1, at = excluded.at"
    for finding in findings:
        await tx.execute(*insertion("redactions", stored(finding), again))
    await tx.execute(
        "DELETE FROM redactions WHERE id IN (SELECT id FROM redactions ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)",
        (most,),
    )


async def listing(database: Database, limit: int) -> list[dict[str, Any]]:
    """The latest findings, and whether each is let pass now."""
    rows = await database.rows(
        "SELECT redactions.*, allowed.hash IS NOT NULL AS allowed FROM redactions"
        " LEFT JOIN redactions_allowed AS allowed USING (hash) ORDER BY redactions.at DESC, id DESC LIMIT ?",
        (limit,),
    )
    return [dict(row) | {"allowed": bool(row["allowed"])} for row in rows]


async def hashes(database: Database) -> list[tuple[int, str]]:
    """The length and hash of each secret that was found."""
    rows = await database.rows("SELECT DISTINCT length, hash FROM redactions WHERE sort = 'secrets'")
    return [(row[0], row[1]) for row in rows]


async def allowed(database: Database) -> frozenset[str]:
    """The hashes of what a person lets pass."""
    return frozenset(row[0] for row in await database.rows("SELECT hash FROM redactions_allowed"))


async def allow(tx: aiosqlite.Connection, digest: str, reason: str) -> None:
    """Let a finding pass from now on. Raises NotFoundError where nothing of that hash was ever found."""
    if not list(await tx.execute_fetchall("SELECT 1 FROM redactions WHERE hash = ? LIMIT 1", (digest,))):
        raise NotFoundError(f"nothing of hash {digest} was found", "`subconscious redactions` lists what was")
    row = {"hash": digest, "at": time(), "reason": reason}
    done = await tx.execute(*insertion("redactions_allowed", row, "ON CONFLICT DO NOTHING"))
    if done.rowcount:
        await events.record(tx, "allow", "redaction", digest, actor="user", reason=reason, after=row)


async def disallow(tx: aiosqlite.Connection, digest: str) -> None:
    """Take out again what was let pass. Raises NotFoundError where it was not."""
    rows = list(await tx.execute_fetchall("SELECT * FROM redactions_allowed WHERE hash = ?", (digest,)))
    if not rows:
        raise NotFoundError(f"{digest} is not let pass", "`subconscious redactions` lists what is")
    await tx.execute("DELETE FROM redactions_allowed WHERE hash = ?", (digest,))
    await events.record(tx, "disallow", "redaction", digest, actor="user", before=dict(rows[0]))


async def state(database: Database) -> dict[str, Any]:
    """Under which rules what is stored was looked through, and how far a new look has come; {} at first."""
    rows = await database.rows("SELECT value FROM redaction_state WHERE name = 'scan'")
    return dict(json.loads(rows[0][0])) if rows else {}


async def save_state(tx: aiosqlite.Connection, value: dict[str, Any]) -> None:
    """Keep how far the look has come."""
    await tx.execute("INSERT OR REPLACE INTO redaction_state VALUES ('scan', ?)", (json.dumps(value),))
