"""The local side of a team's store: joined projects, and the outbox.

The outbox contains identifiers of memories (uid and digest), and no texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.store.purge_selection import portions
from subconscious.store.rows import qmarks

MOST_SENT = 500
"""The maximum number of rows of the outbox that are read at once."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A local project that is joined to a project in a team's store."""

    project_id: str
    place: str
    remote_id: int
    name: str
    person: str
    member: str
    seen: int
    seen_key: str
    checked: int
    joined_at: float
    synced_at: float | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row of the outbox: an action on a memory, to be sent to the server."""

    id: int
    act: str
    uid: str
    digest: str
    day: int
    trouble: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts for one project: rows that wait to be sent, rows that the server refused, and memories from others."""

    waiting: int
    refused: int
    received: int


async def joined(database: Database, place: str) -> list[Joined]:
    """Return the projects that are joined to a project on the server ``place``, the least recently synced first."""
    rows = await database.rows(
        "SELECT * FROM team_projects WHERE place = ? ORDER BY coalesce(synced_at, 0), project_id", (place,)
    )
    return [Joined(**dict(row)) for row in rows]


async def joined_as(database: Database, project_id: str) -> Joined | None:
    """Return the record of a joined project; None if it is not joined."""
    rows = await database.rows("SELECT * FROM team_projects WHERE project_id = ?", (project_id,))
    return Joined(**dict(rows[0])) if rows else None


async def project_of(database: Database, project_id: str) -> Project | None:
    """Return the project with an id; None if it is unknown."""
    rows = await database.rows("SELECT id, name, root, remote, first_commit FROM projects WHERE id = ?", (project_id,))
    return Project(**dict(rows[0])) if rows else None


async def join(tx: aiosqlite.Connection, project_id: str, made: Joined) -> None:
    """Record that a project is joined, and queue the memories that it shares already."""
    await tx.execute(
        "INSERT INTO team_projects (project_id, place, remote_id, name, person, member, joined_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id) DO UPDATE SET place = excluded.place,"
        " remote_id = excluded.remote_id, name = excluded.name, person = excluded.person, member = excluded.member,"
        " joined_at = excluded.joined_at, seen = 0, seen_key = '', checked = 0, synced_at = NULL",
        (project_id, made.place, made.remote_id, made.name, made.person, made.member, time()),
    )
    await tx.execute(
        "INSERT OR IGNORE INTO team_outbox (project_id, act, uid, created_at)"
        " SELECT project_id, 'publish', uid, ? FROM shares WHERE project_id = ?",
        (time(), project_id),
    )
    await events.record(tx, "join", "team", project_id, actor="user", reason=made.name)


async def leave(tx: aiosqlite.Connection, project_id: str) -> None:
    """Disconnect a project from the team's store; memories that were shared or received stay."""
    await tx.execute("DELETE FROM team_projects WHERE project_id = ?", (project_id,))
    await tx.execute("DELETE FROM team_outbox WHERE project_id = ?", (project_id,))
    await events.record(tx, "leave", "team", project_id, actor="user")


async def read_to(tx: aiosqlite.Connection, project_id: str, seen: int, key: str) -> None:
    """Record the newest change on the server that was read: its number (``seen``) and its version ("UID DIGEST")."""
    await tx.execute("UPDATE team_projects SET seen = ?, seen_key = ? WHERE project_id = ?", (seen, key, project_id))


async def synced(tx: aiosqlite.Connection, project_id: str, member: str, checked: int | None) -> None:
    """Record a completed exchange of a project with the server.

    ``checked`` is the id of the event up to which the shared memories were compared with the store.
    """
    await tx.execute(
        "UPDATE team_projects SET synced_at = ?, member = ?, checked = coalesce(?, checked) WHERE project_id = ?",
        (time(), member, checked, project_id),
    )


async def queue(tx: aiosqlite.Connection, project_id: str, act: str, uid: str, digest: str = "") -> None:
    """Put an action on a memory into the outbox, once; if the server refused the same action, it is sent again."""
    await tx.execute(
        "INSERT INTO team_outbox (project_id, act, uid, digest, created_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET trouble = ''",
        (project_id, act, uid, digest, time()),
    )


async def waiting(database: Database, project_id: str, act: str) -> list[Waiting]:
    """Return the rows of the outbox that wait to be sent, oldest first, without rows that the server refused."""
    rows = await database.rows(
        "SELECT id, act, uid, digest, day, trouble FROM team_outbox"
        " WHERE project_id = ? AND act = ? AND trouble = '' ORDER BY id LIMIT ?",
        (project_id, act, MOST_SENT),
    )
    return [Waiting(**dict(row)) for row in rows]


async def sent(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """Delete rows of the outbox that the server has accepted."""
    await tx.execute(f"DELETE FROM team_outbox WHERE id IN ({qmarks(ids)})", tuple(ids))  # noqa: S608


async def refused(tx: aiosqlite.Connection, project_id: str, act: str, uid: str, trouble: str) -> None:
    """Record why the server refused a row; the row is not sent again until a person asks for it."""
    await tx.execute(
        "UPDATE team_outbox SET trouble = ? WHERE project_id = ? AND act = ? AND uid = ?",
        (trouble or "refused", project_id, act, uid),
    )


async def retry(tx: aiosqlite.Connection, project_id: str) -> None:
    """Allow another attempt to send the rows that the server refused."""
    await tx.execute("UPDATE team_outbox SET trouble = '' WHERE project_id = ?", (project_id,))


async def troubles(database: Database, project_id: str, limit: int) -> list[Waiting]:
    """Return the rows of the outbox that the server refused, with the reasons."""
    rows = await database.rows(
        "SELECT id, act, uid, digest, day, trouble FROM team_outbox"
        " WHERE project_id = ? AND trouble <> '' ORDER BY id LIMIT ?",
        (project_id, limit),
    )
    return [Waiting(**dict(row)) for row in rows]


async def counts(database: Database, project_id: str) -> Counts:
    """Return how many outbox rows of a project wait or were refused, and how many memories came from others."""
    rows = await database.rows(
        "SELECT coalesce(sum(trouble = ''), 0), coalesce(sum(trouble <> ''), 0) FROM team_outbox WHERE project_id = ?",
        (project_id,),
    )
    received = await number_received(database, project_id)
    return Counts(rows[0][0], rows[0][1], received)


async def number_received(database: Database, project_id: str) -> int:
    """Return how many versions of memories by other people the local store contains for a project."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures WHERE project_id = ? AND extractor = 'shared-1'"
        " AND status IN ('review', 'captured', 'approved')",
        (project_id,),
    )
    return int(rows[0][0])


async def number_on_server(database: Database, ids: Sequence[int]) -> int:
    """Return how many memories in ``ids`` are or were shared in a project that is joined to a team's store."""
    count = 0
    for portion in portions(ids):
        rows = await database.rows(
            "SELECT count(*) FROM shares WHERE project_id IN (SELECT project_id FROM team_projects)"  # noqa: S608
            f" AND memory_id IN ({qmarks(portion)})",
            portion,
        )
        count += rows[0][0]
    return count


async def version_of(tx: aiosqlite.Connection, memory_id: int) -> tuple[str, str] | None:
    """Return the uid and the digest of a memory in the team's store; None if it is not there.

    The digest is "" for the user's own memory.
    """
    rows = list(
        await tx.execute_fetchall(
            "SELECT s.uid, '' FROM shares AS s WHERE s.memory_id = ?1 AND s.withdrawn_at IS NULL UNION ALL"
            " SELECT substr(turn_id, 8, 32), substr(turn_id, 41, 32) FROM implicit_captures"
            " WHERE extractor = 'shared-1' AND (memory_id = ?1 OR id = ?1) LIMIT 1",
            (memory_id,),
        )
    )
    return (rows[0][0], rows[0][1]) if rows else None


async def known_uids(database: Database, project_id: str, uids: Iterable[str], *, settled: bool = False) -> set[str]:
    """Return which of ``uids`` belong to memories in the local store, whether the user shared or received them.

    With ``settled``, unconfirmed memories are left out: a local search rarely finds them.
    """
    wanted = list(uids)
    which = " AND NOT (status = 'review' AND memory_id IS NOT NULL)" if settled else ""
    rows = await database.rows(
        f"SELECT uid FROM shares WHERE project_id = ? AND uid IN ({qmarks(wanted)})"  # noqa: S608
        " UNION SELECT substr(turn_id, 8, 32) FROM implicit_captures WHERE project_id = ? AND extractor = 'shared-1'"
        f" AND substr(turn_id, 8, 32) IN ({qmarks(wanted)}){which}",
        (project_id, *wanted, project_id, *wanted),
    )
    return {row[0] for row in rows}
