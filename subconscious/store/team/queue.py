"""The local side of a team's store: joined projects, and the outbox. It holds names of memories and no text."""

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
"""Rows of the outbox that are read at once."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A project that is joined to one of a team's store."""

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
    """One row of the outbox."""

    id: int
    act: str
    uid: str
    digest: str
    day: int
    trouble: str


@dataclass(frozen=True, slots=True)
class Counts:
    """What a project has sent and received: rows that wait, rows that the server refused, memories from others."""

    waiting: int
    refused: int
    received: int


async def joined(database: Database, place: str) -> list[Joined]:
    """Return the projects that are joined on a server, those that were synced longest ago first."""
    rows = await database.rows(
        "SELECT * FROM team_projects WHERE place = ? ORDER BY coalesce(synced_at, 0), project_id", (place,)
    )
    return [Joined(**dict(row)) for row in rows]


async def joined_as(database: Database, project_id: str) -> Joined | None:
    """Return how a project is joined; None if it is not."""
    rows = await database.rows("SELECT * FROM team_projects WHERE project_id = ?", (project_id,))
    return Joined(**dict(rows[0])) if rows else None


async def project_of(database: Database, project_id: str) -> Project | None:
    """Return a project by its id."""
    rows = await database.rows("SELECT id, name, root, remote, first_commit FROM projects WHERE id = ?", (project_id,))
    return Project(**dict(rows[0])) if rows else None


async def join(tx: aiosqlite.Connection, project_id: str, made: Joined) -> None:
    """Join a project, and queue what it shares already."""
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
    """End the exchange of a project; what was shared and received stays where it is."""
    await tx.execute("DELETE FROM team_projects WHERE project_id = ?", (project_id,))
    await tx.execute("DELETE FROM team_outbox WHERE project_id = ?", (project_id,))
    await events.record(tx, "leave", "team", project_id, actor="user")


async def read_to(tx: aiosqlite.Connection, project_id: str, seen: int, key: str) -> None:
    """Note the newest change that was read."""
    await tx.execute("UPDATE team_projects SET seen = ?, seen_key = ? WHERE project_id = ?", (seen, key, project_id))


async def synced(tx: aiosqlite.Connection, project_id: str, member: str, checked: int | None) -> None:
    """Note a completed exchange; ``checked`` is the event up to which the shared memories were compared."""
    await tx.execute(
        "UPDATE team_projects SET synced_at = ?, member = ?, checked = coalesce(?, checked) WHERE project_id = ?",
        (time(), member, checked, project_id),
    )


async def queue(tx: aiosqlite.Connection, project_id: str, act: str, uid: str, digest: str = "") -> None:
    """Put something into the outbox; what waits there already stays once."""
    await tx.execute(
        "INSERT INTO team_outbox (project_id, act, uid, digest, created_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET trouble = ''",
        (project_id, act, uid, digest, time()),
    )


async def waiting(database: Database, project_id: str, act: str) -> list[Waiting]:
    """Return what waits to be sent, oldest first, without what the server has refused."""
    rows = await database.rows(
        "SELECT id, act, uid, digest, day, trouble FROM team_outbox"
        " WHERE project_id = ? AND act = ? AND trouble = '' ORDER BY id LIMIT ?",
        (project_id, act, MOST_SENT),
    )
    return [Waiting(**dict(row)) for row in rows]


async def sent(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """Remove rows that the server has."""
    await tx.execute(f"DELETE FROM team_outbox WHERE id IN ({qmarks(ids)})", tuple(ids))  # noqa: S608


async def refused(tx: aiosqlite.Connection, project_id: str, act: str, uid: str, trouble: str) -> None:
    """Keep a row that the server refuses, with the reason, and send it no more until a person says so."""
    await tx.execute(
        "UPDATE team_outbox SET trouble = ? WHERE project_id = ? AND act = ? AND uid = ?",
        (trouble or "refused", project_id, act, uid),
    )


async def retry(tx: aiosqlite.Connection, project_id: str) -> None:
    """Send again what the server has refused."""
    await tx.execute("UPDATE team_outbox SET trouble = '' WHERE project_id = ?", (project_id,))


async def troubles(database: Database, project_id: str, limit: int) -> list[Waiting]:
    """Return what the server has refused."""
    rows = await database.rows(
        "SELECT id, act, uid, digest, day, trouble FROM team_outbox"
        " WHERE project_id = ? AND trouble <> '' ORDER BY id LIMIT ?",
        (project_id, limit),
    )
    return [Waiting(**dict(row)) for row in rows]


async def counts(database: Database, project_id: str) -> Counts:
    """Return how much of a project waits, was refused, and came from others."""
    rows = await database.rows(
        "SELECT coalesce(sum(trouble = ''), 0), coalesce(sum(trouble <> ''), 0) FROM team_outbox WHERE project_id = ?",
        (project_id,),
    )
    received = await number_received(database, project_id)
    return Counts(rows[0][0], rows[0][1], received)


async def number_received(database: Database, project_id: str) -> int:
    """Return how many versions of others the local store holds for a project."""
    rows = await database.rows(
        "SELECT count(*) FROM implicit_captures WHERE project_id = ? AND extractor = 'shared-1'"
        " AND status IN ('review', 'captured', 'approved')",
        (project_id,),
    )
    return int(rows[0][0])


async def number_on_server(database: Database, ids: Sequence[int]) -> int:
    """Return how many of these memories are shared in a project that is joined to a team's store."""
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
    """Return the uid and the digest ("" for one's own) by which the team knows a memory; None if it does not."""
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
    """Return those of these memories that the local store has: shared from here, or received.

    ``settled``: without those that are unconfirmed, which a local search rarely finds.
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
