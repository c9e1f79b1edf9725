"""What the user is told once: entries that were dropped unread, and a disk that was full."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database

DROPPED = "drop"
FULL = "full"
_TOLD = "told-loss"

# Each start asks this: the subjects alone, which an index finds, are few among the events of all memories.
_UNTOLD = f"""
SELECT id, action, reason FROM events
 WHERE subject IN ('spool', 'store') AND (subject, action) IN (VALUES ('spool', '{DROPPED}'), ('store', '{FULL}'))
   AND id > coalesce((SELECT max(id) FROM events WHERE subject = 'store' AND action = '{_TOLD}'), 0)
 ORDER BY id
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Loss:
    """One of them: the event's action, and its reason."""

    id: int
    action: str
    reason: str

    @property
    def told(self) -> str:
        """One line for the user."""
        if self.action == FULL:
            return f"nothing could be written for a while ({self.reason}); what was handed over meanwhile was kept"
        return f"the spool reached its cap, and unread entries were dropped: {self.reason}"


async def untold(database: Database) -> list[Loss]:
    """What no session was told yet, oldest first."""
    return [Loss(*row) for row in await database.rows(_UNTOLD)]


def untold_in(connection: sqlite3.Connection) -> list[Loss]:
    """The same, for `doctor`."""
    return [Loss(*row) for row in connection.execute(_UNTOLD)]


async def was_full(tx: aiosqlite.Connection, reason: str) -> None:
    """Record that the disk could not be written, and can be again."""
    await events.record(tx, FULL, "store", "disk", reason=reason)


async def dropped(tx: aiosqlite.Connection, subject_id: str, reason: str) -> None:
    """Record that entries were dropped unread."""
    await events.record(tx, DROPPED, "spool", subject_id, reason=reason)


async def tell(tx: aiosqlite.Connection, count: int) -> None:
    """Record that the user was told everything up to now."""
    await events.record(tx, _TOLD, "store", "loss", reason=f"{count} told")
