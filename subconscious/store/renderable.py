"""Reads the data from which a project's readable files are rendered, and finds projects with outdated files."""

from __future__ import annotations

from subconscious.domain.model import Memory, Session
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE
from subconscious.store.projects import Project
from subconscious.store.rows import memory_from, session_from


async def changed_projects(database: Database, after: int) -> set[str | None]:
    """Return the ids of the projects that events after the id ``after`` concern; None in the set means all projects."""
    rows = await database.rows(
        "SELECT DISTINCT m.project_id FROM events AS e JOIN memories AS m ON m.id = CAST(e.subject_id AS INTEGER)"
        " WHERE e.id > ?1 AND e.subject IN ('memory', 'decay')"
        " UNION SELECT c.project_id FROM events AS e JOIN implicit_captures AS c"
        " ON c.id = CAST(e.subject_id AS INTEGER) WHERE e.id > ?1 AND e.subject = 'capture'"
        " UNION SELECT NULL FROM events WHERE id > ?1"
        " AND subject NOT IN ('memory', 'decay', 'capture', 'project', 'prompt', 'typed', 'surface_outcome', 'store',"
        " 'spool', 'reading', 'question', 'settings')",
        (after,),
    )
    return {row[0] for row in rows}


async def active_projects(database: Database, since: float) -> set[str | None]:
    """Return the ids of projects in which a session began or ended since a time: the event log does not show this."""
    rows = await database.rows(
        "SELECT DISTINCT project_id FROM sessions WHERE started_at >= ?1 OR ended_at >= ?1", (since,)
    )
    return {row[0] for row in rows}


async def projects(database: Database) -> list[Project]:
    """Return the projects that have memories or sessions."""
    rows = await database.rows(
        "SELECT id, name, root, remote, first_commit FROM projects AS p WHERE EXISTS"
        " (SELECT 1 FROM memories WHERE project_id = p.id) OR EXISTS (SELECT 1 FROM sessions WHERE project_id = p.id)"
    )
    return [Project(**dict(row)) for row in rows]


async def paths(database: Database, project_id: str) -> list[str]:
    """Return the folders of a project."""
    rows = await database.rows("SELECT path FROM project_paths WHERE project_id = ?", (project_id,))
    return [row["path"] for row in rows]


async def memories(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return a project's own active memories, without Claude's notes: pinned first, then most repeated, then latest."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE project_id = ? AND archived_at IS NULL AND {NO_NOTE}"  # noqa: S608
        " ORDER BY pinned DESC, recurrence DESC, said_at DESC, id DESC LIMIT ?",
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def sessions_since(database: Database, project_id: str, since: float) -> list[Session]:
    """Return up to 500 sessions of a project with activity since a time, latest first."""
    rows = await database.rows(
        "SELECT * FROM sessions WHERE project_id = ? AND last_event_at >= ? ORDER BY last_event_at DESC LIMIT 500",
        (project_id, since),
    )
    return [session_from(row) for row in rows]
