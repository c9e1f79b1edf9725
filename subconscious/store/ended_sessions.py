"""Reads ended sessions in batches: how far their transcripts were read, and whether the sessions need a summary."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass

from subconscious.domain.model import Session
from subconscious.store.connect import Database
from subconscious.store.rows import qmarks, session_from

# A session from before the latest purge gets no summary: reading it again would restore purged data. The subquery runs
# once for all sessions, and reads only events about the store itself, which are few.
_NEEDS_STORY = """
s.sketch = '' AND s.first_prompt <> '' AND s.transcript <> ''
 AND s.started_at > coalesce((SELECT max(at) FROM events WHERE subject = 'store' AND action = 'purge'), 0)
"""

_ROLLED_BACK = """
'rollback' IS (SELECT action FROM events WHERE subject = 'session' AND subject_id = s.id
 AND action IN ('rollback', 'rollback undone') ORDER BY id DESC LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class EndedSession:
    """An ended session, the reading position (in bytes) of each transcript file, and whether it needs a summary.

    ``begun`` is true if a part of the session was read or summarised while it ran, when the author of each line could
    be verified.
    """

    session: Session
    read: dict[str, int]
    needs_story: bool
    begun: bool


async def after(database: Database, session_id: str, limit: int) -> list[EndedSession]:
    """Return the next ended sessions with an id above ``session_id`` that have a transcript file, ordered by id.

    Rolled-back sessions are left out until the rollback is undone.
    """
    rows = await database.rows(
        f"SELECT s.*, ({_NEEDS_STORY}) AS needs_story FROM sessions AS s"  # noqa: S608
        " WHERE s.status <> 'open' AND s.id > ?"
        " AND (s.transcript <> '' OR EXISTS (SELECT 1 FROM transcripts WHERE session_id = s.id))"
        f" AND NOT ({_ROLLED_BACK}) ORDER BY s.id LIMIT ?",
        (session_id, limit),
    )
    found = [session_from(row) for row in rows]
    read = await _positions(database, [session.id for session in found])
    return [_ended_session(row, session, read[session.id]) for row, session in zip(rows, found, strict=True)]


def _ended_session(row: sqlite3.Row, session: Session, read: dict[str, int]) -> EndedSession:
    begun = row["sketch"] != "" or any(read.values())
    unread = {session.transcript: 0} if session.transcript else {}
    return EndedSession(session, unread | read, needs_story=bool(row["needs_story"]), begun=begun)


async def _positions(database: Database, session_ids: list[str]) -> dict[str, dict[str, int]]:
    """Return how far the transcript files of sessions were read, in bytes, by session and path."""
    rows = await database.rows(
        f"SELECT session_id, path, position FROM transcripts WHERE session_id IN ({qmarks(session_ids)})",  # noqa: S608
        session_ids,
    )
    read: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        read[row["session_id"]][row["path"]] = row["position"]
    return read
