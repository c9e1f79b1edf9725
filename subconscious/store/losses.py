"""Problems that are reported to the user once: dropped spool entries, and a full disk."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database

DROPPED = "drop"
FULL = "full"
_REPORTED = "told-loss"

# Every session's start runs this query. It is fast: an index finds the events with these subjects, which are few.
_UNREPORTED = f"""
SELECT id, action, reason FROM events
 WHERE subject IN ('spool', 'store') AND (subject, action) IN (VALUES ('spool', '{DROPPED}'), ('store', '{FULL}'))
   AND id > coalesce((SELECT max(id) FROM events WHERE subject = 'store' AND action = '{_REPORTED}'), 0)
 ORDER BY id
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Loss:
    """A problem to report: the action and the reason of its event."""

    id: int
    action: str
    reason: str

    @property
    def message(self) -> str:
        """The message for the user, in one line."""
        if self.action == FULL:
            return f"the disk was full for a while ({self.reason}); the events of that time were kept"
        return f"events of sessions were lost before they were processed: {self.reason}"


async def unreported(database: Database) -> list[Loss]:
    """Return the problems that no session has shown to the user yet, oldest first."""
    return [Loss(*row) for row in await database.rows(_UNREPORTED)]


def unreported_in(connection: sqlite3.Connection) -> list[Loss]:
    """Return what `unreported` returns, for `doctor`, which reads the database without the daemon."""
    return [Loss(*row) for row in connection.execute(_UNREPORTED)]


async def record_full_disk(tx: aiosqlite.Connection, reason: str) -> None:
    """Record that the disk was full for a time, and is writable again."""
    await events.record(tx, FULL, "store", "disk", reason=reason)


async def record_dropped(tx: aiosqlite.Connection, subject_id: str, reason: str) -> None:
    """Record that spool entries were dropped unread."""
    await events.record(tx, DROPPED, "spool", subject_id, reason=reason)


async def record_reported(tx: aiosqlite.Connection, count: int) -> None:
    """Record that all problems so far have been reported to the user."""
    await events.record(tx, _REPORTED, "store", "loss", reason=f"{count} reported")
