"""Findings of the redaction (without the redacted text), a person's exceptions, and the progress of the scan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import time
from typing import Any, cast

import aiosqlite

from subconscious.domain.errors import NotFoundError
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import column_values, insertion
from subconscious.wire.privacy import Redaction


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret or personal detail that was redacted in a text, or only warned about."""

    at: float
    place: str
    rule: str
    sort: str
    strategy: str
    hash: str
    length: int


async def record(tx: aiosqlite.Connection, findings: Sequence[Finding], most: int) -> None:
    """Store findings, and keep the latest ``most``. If a finding is stored already, only its count and time change."""
    again = "ON CONFLICT (place, rule, hash) DO UPDATE SET times = times + 1, at = excluded.at"
    for finding in findings:
        await tx.execute(*insertion("redactions", column_values(finding), again))
    await tx.execute(
        "DELETE FROM redactions WHERE id IN (SELECT id FROM redactions ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)",
        (most,),
    )


async def listing(database: Database, limit: int) -> list[Redaction]:
    """Return the latest findings; ``allowed`` says whether a person exempted the finding from redaction."""
    rows = await database.rows(
        "SELECT redactions.*, allowed.hash IS NOT NULL AS allowed FROM redactions"
        " LEFT JOIN redactions_allowed AS allowed USING (hash) ORDER BY redactions.at DESC, id DESC LIMIT ?",
        (limit,),
    )
    return [cast("Redaction", dict(row) | {"allowed": bool(row["allowed"])}) for row in rows]


async def hashes(database: Database) -> list[tuple[int, str]]:
    """Return the length (in characters) and the hash of each secret that was found."""
    rows = await database.rows("SELECT DISTINCT length, hash FROM redactions WHERE sort = 'secrets'")
    return [(row[0], row[1]) for row in rows]


async def allowed(database: Database) -> frozenset[str]:
    """Return the hashes of findings that a person exempted from redaction."""
    return frozenset(row[0] for row in await database.rows("SELECT hash FROM redactions_allowed"))


async def allow(tx: aiosqlite.Connection, digest: str, reason: str) -> None:
    """Stop redacting texts with this hash. Raises NotFoundError if no finding has it."""
    if not list(await tx.execute_fetchall("SELECT 1 FROM redactions WHERE hash = ? LIMIT 1", (digest,))):
        raise NotFoundError(
            f"there is no finding with the hash {digest}", "`subconscious redactions` lists the findings"
        )
    row = {"hash": digest, "at": time(), "reason": reason}
    done = await tx.execute(*insertion("redactions_allowed", row, "ON CONFLICT DO NOTHING"))
    if done.rowcount:
        await events.record(tx, "allow", "redaction", digest, actor="user", reason=reason, after=row)


async def disallow(tx: aiosqlite.Connection, digest: str) -> None:
    """Redact texts with this hash again. Raises NotFoundError if they were not exempted from redaction."""
    rows = list(await tx.execute_fetchall("SELECT * FROM redactions_allowed WHERE hash = ?", (digest,)))
    if not rows:
        raise NotFoundError(
            f"no finding with the hash {digest} has been allowed, so there is nothing to disallow",
            "`subconscious redactions` lists the allowed findings",
        )
    await tx.execute("DELETE FROM redactions_allowed WHERE hash = ?", (digest,))
    await events.record(tx, "disallow", "redaction", digest, actor="user", before=dict(rows[0]))


async def state(database: Database) -> dict[str, Any]:
    """Return the version of the rules of the last scan, and the progress of a new scan; {} before the first scan."""
    rows = await database.rows("SELECT value FROM redaction_state WHERE name = 'scan'")
    return dict(json.loads(rows[0][0])) if rows else {}


async def save_state(tx: aiosqlite.Connection, value: dict[str, Any]) -> None:
    """Store the progress of the scan."""
    await tx.execute("INSERT OR REPLACE INTO redaction_state VALUES ('scan', ?)", (json.dumps(value),))
