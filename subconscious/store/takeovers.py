"""Questions to the user about whether a new statement replaces an older one (supersession/succession.py).

Each question belongs to a proposed SUPERSEDES link between two statements that the user typed. A question is open while
the link is proposed, both statements are active, and fewer than two session starts have shown the question.
"""

from __future__ import annotations

from dataclasses import dataclass

import aiosqlite

from subconscious.domain.model import Link, Memory, Origin
from subconscious.store import poison
from subconscious.store.connect import Database

MOST_SHOWN = 2
"""The number of session starts that show a question. Then the question expires, and the link stays proposed."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question: does the memory ``new`` replace the memory ``old``? Each has its id and summary."""

    link_id: int
    new_id: int
    new: str
    old_id: int
    old: str
    times_shown: int


async def record(tx: aiosqlite.Connection, link: Link, new: Memory, old: Memory, at: float) -> None:
    """Store the question about a link that was just proposed, if the user typed both statements."""
    typed = new.origin is Origin.USER and old.origin is Origin.USER
    if not typed or (link.type, link.status) != ("SUPERSEDES", "proposed"):
        return
    await tx.execute(
        "INSERT OR IGNORE INTO takeover_questions (link_id, project_id, recorded_at) VALUES (?, ?, ?)",
        (link.id, new.project_id or old.project_id or "", at),
    )


async def next_question(database: Database, project_id: str) -> Question | None:
    """Return the question to ask in a project: one that was shown before, or else the newest one.

    Questions about statements that the poisoning check flagged are left out.
    """
    for question in await _open(database, "q.project_id IN (?, '')", project_id):
        if not await poison.levels(database, [question.new_id, question.old_id]):
            return question
    return None


async def by_link(database: Database, link_id: int) -> Question | None:
    """Return the question about a link, even if no session start will show it again; None if it no longer applies."""
    found = await _open(database, "q.link_id = ?", link_id, MOST_SHOWN + 1)
    return found[0] if found else None


async def of_memory(database: Database, memory_id: int) -> Question | None:
    """Return the open question about whether a memory replaces an older one; None if there is none."""
    found = await _open(database, "link.source_id = ?", memory_id)
    return found[0] if found else None


async def _open(database: Database, where: str, value: str | int, shown_below: int = MOST_SHOWN) -> list[Question]:
    rows = await database.rows(
        "SELECT q.link_id, new.id AS new_id, new.summary AS new, old.id AS old_id, old.summary AS old, q.times_shown"  # noqa: S608
        " FROM takeover_questions AS q JOIN memory_links AS link ON link.id = q.link_id"
        " JOIN memories AS new ON new.id = link.source_id JOIN memories AS old ON old.id = link.target_id"
        f" WHERE {where} AND q.times_shown < ? AND link.status = 'proposed' AND link.type = 'SUPERSEDES'"
        " AND new.archived_at IS NULL AND old.archived_at IS NULL AND NOT EXISTS ("
        "  SELECT 1 FROM memory_links AS later JOIN memories AS its ON its.id = later.source_id"
        "  WHERE later.target_id IN (new.id, old.id) AND later.type = 'SUPERSEDES' AND later.status = 'active'"
        "  AND its.archived_at IS NULL)"
        " ORDER BY q.times_shown DESC, q.link_id DESC",
        (value, shown_below),
    )
    return [Question(**dict(row)) for row in rows]


async def note_shown(tx: aiosqlite.Connection, link_id: int, times: int = 1) -> None:
    """Count that a session start has shown a question; ``times`` is -1 to undo this for an undelivered start."""
    await tx.execute(
        "UPDATE takeover_questions SET times_shown = max(0, times_shown + ?) WHERE link_id = ?", (times, link_id)
    )


async def close(tx: aiosqlite.Connection, link_id: int) -> None:
    """Close a question that was answered; it stays closed when the answer is undone."""
    await tx.execute("UPDATE takeover_questions SET times_shown = ? WHERE link_id = ?", (MOST_SHOWN, link_id))
