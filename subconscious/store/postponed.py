"""Upkeep that waits because it would archive or expire unusually much at once."""

from __future__ import annotations

import sqlite3
from dataclasses import astuple, dataclass

import aiosqlite

from subconscious.store.connect import Database

_COLUMNS = "name, since, affected, total, waits, allowed"


@dataclass(frozen=True, slots=True)
class Postponed:
    """One piece of upkeep: ``affected`` of ``total`` rows would change; sessions since ``since`` confirm the clock."""

    name: str
    since: float
    affected: int
    total: int
    waits: bool
    allowed: bool = False


async def get(database: Database, name: str) -> Postponed | None:
    """Return the record of one piece of upkeep, if it did unusually much the last time."""
    rows = await database.rows(f"SELECT {_COLUMNS} FROM postponed_upkeep WHERE name = ?", (name,))  # noqa: S608
    return _from(rows[0]) if rows else None


async def put(tx: aiosqlite.Connection, new: Postponed) -> None:
    """Record it, in place of an earlier record."""
    await tx.execute(
        f"INSERT OR REPLACE INTO postponed_upkeep ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - constant
        astuple(new),
    )


async def forget(tx: aiosqlite.Connection, name: str) -> None:
    """Delete the record: there is no more to do than usual."""
    await tx.execute("DELETE FROM postponed_upkeep WHERE name = ?", (name,))


async def allow(tx: aiosqlite.Connection) -> None:
    """A person lets everything that waits run."""
    await tx.execute("UPDATE postponed_upkeep SET allowed = 1 WHERE waits")


def waiting(connection: sqlite3.Connection) -> list[Postponed]:
    """List what waits; nothing in a database of an earlier schema."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'postponed_upkeep'").fetchone():
        return []
    rows = connection.execute(f"SELECT {_COLUMNS} FROM postponed_upkeep WHERE waits ORDER BY name")  # noqa: S608
    return [_from(row) for row in rows]


def _from(row: sqlite3.Row) -> Postponed:
    name, since, affected, total, waits, allowed = row
    return Postponed(name, since, affected, total, bool(waits), bool(allowed))
