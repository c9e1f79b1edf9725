"""Sessions that are over, in batches: their reading positions, and whether they have a story."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass

from subconscious.model import Session
from subconscious.store.connect import Database
from subconscious.store.rows import marks, session_from

# After a purge nothing that was said before it is read again: it would bring back what is purged. When that was is
# asked once for all of the sessions, and of the store's own events, which are few.
_NEVER_TOLD = """
s.sketch = '' AND s.first_prompt <> '' AND s.transcript <> ''
 AND s.started_at > coalesce((SELECT max(at) FROM events WHERE subject = 'store' AND action = 'purge'), 0)
"""

_LEFT_ALONE = """
'rollback' IS (SELECT action FROM events WHERE subject = 'session' AND subject_id = s.id
 AND action IN ('rollback', 'rollback undone') ORDER BY id DESC LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class Over:
    """A session that is over: how far each of its files was read, by path, and whether it is still to be told.

    ``begun``: something of it was read or told while it could be seen who spoke.
    """

    session: Session
    read: dict[str, int]
    untold: bool
    begun: bool


async def after(database: Database, session_id: str, limit: int) -> list[Over]:
    """The next sessions behind this one that have a file, in the order of their ids.

    One that was rolled back is left alone, until that is undone.
    """
    rows = await database.rows(
        f"SELECT s.*, ({_NEVER_TOLD}) AS untold FROM sessions AS s"  # noqa: S608
        " WHERE s.status <> 'open' AND s.id > ?"
        " AND (s.transcript <> '' OR EXISTS (SELECT 1 FROM transcripts WHERE session_id = s.id))"
        f" AND NOT ({_LEFT_ALONE}) ORDER BY s.id LIMIT ?",
        (session_id, limit),
    )
    found = [session_from(row) for row in rows]
    read = await _read(database, [session.id for session in found])
    return [_over(row, session, read[session.id]) for row, session in zip(rows, found, strict=True)]


def _over(row: sqlite3.Row, session: Session, read: dict[str, int]) -> Over:
    begun = row["sketch"] != "" or any(read.values())
    unread = {session.transcript: 0} if session.transcript else {}
    return Over(session, unread | read, untold=bool(row["untold"]), begun=begun)


async def _read(database: Database, session_ids: list[str]) -> dict[str, dict[str, int]]:
    """How far the files of these sessions were read, by session and path."""
    rows = await database.rows(
        f"SELECT session_id, path, position FROM transcripts WHERE session_id IN ({marks(session_ids)})",  # noqa: S608
        session_ids,
    )
    read: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        read[row["session_id"]][row["path"]] = row["position"]
    return read
