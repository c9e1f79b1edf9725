"""Sessions that are over, one after the other: what was read of each, and whether it was ever told (SPEC D19)."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.model import Session
from subconscious.store.connect import Database
from subconscious.store.rows import session_from

# After a purge nothing that was said before it is read again: it would bring back what is purged.
_NEVER_TOLD = """
s.sketch = '' AND s.first_prompt <> '' AND s.transcript <> ''
 AND s.started_at > coalesce((SELECT max(at) FROM events WHERE action = 'purge'), 0)
"""


@dataclass(frozen=True, slots=True)
class Over:
    """A session that is over: how far each of its files was read, by path, and whether it is still to be told."""

    session: Session
    read: dict[str, int]
    untold: bool


async def following(database: Database, session_id: str) -> Over | None:
    """The session that comes behind this one, in the order of their ids; None at the end.

    One that was rolled back is left alone, until that is undone.
    """
    rows = await database.rows(
        f"SELECT s.*, ({_NEVER_TOLD}) AS untold FROM sessions AS s"  # noqa: S608
        " WHERE s.status <> 'open' AND s.id > ? AND coalesce((SELECT action FROM events"
        " WHERE subject = 'session' AND subject_id = s.id AND action IN ('rollback', 'rollback undone')"
        " ORDER BY id DESC LIMIT 1), '') <> 'rollback' ORDER BY s.id LIMIT 1",
        (session_id,),
    )
    if not rows:
        return None
    session = session_from(rows[0])
    files = await database.rows("SELECT path, position FROM transcripts WHERE session_id = ?", (session.id,))
    unread = {session.transcript: 0} if session.transcript else {}
    return Over(session, unread | {row["path"]: row["position"] for row in files}, bool(rows[0]["untold"]))
