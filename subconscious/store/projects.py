"""Finds the project that a folder belongs to, even after the folder was moved."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from time import time
from typing import cast

import aiosqlite

from subconscious.store import events, full_text, memories
from subconscious.store.connect import Database
from subconscious.store.rows import update_row
from subconscious.store.subjects import SUBJECTS
from subconscious.system.projects import Identity, has_commit
from subconscious.wire import daemon as wire

MOST_LOST = 20
"""The maximum number of projects whose folder is checked: if it is missing, it may have been renamed to the new one."""

LOOK_SECONDS = 1.0
"""The maximum number of seconds that checking a project's old folder may take."""


ATTACH = "attach"
"""The action of the events by which a project gets another folder."""


@dataclass(frozen=True, slots=True)
class Project:
    """A repository or a folder; ``id`` is one token, so that a full-text query can filter by it."""

    id: str
    name: str
    root: str
    remote: str = ""
    first_commit: str = ""


def fields(project: Project) -> wire.Project:
    """Return a project as a dictionary, the form in which responses contain it."""
    return cast("wire.Project", asdict(project))


async def project_at(database: Database, path: str) -> Project | None:
    """Return the project that is recorded for ``path``; None if there is none."""
    rows = await database.rows(
        "SELECT id, name, root, remote, first_commit FROM project_paths JOIN projects ON id = project_id"
        " WHERE path = ?",
        (path,),
    )
    return Project(**dict(rows[0])) if rows else None


@dataclass(frozen=True, slots=True)
class Counted:
    """A project and the number of its active memories."""

    project: Project
    memories: int


@dataclass(frozen=True, slots=True)
class Lost:
    """A project with a missing folder, and the number of its memories."""

    project: Project
    memories: int


async def lost(database: Database, beside: Project) -> list[Lost]:
    """Return projects with memories and a missing folder, which may have been renamed to the folder of ``beside``.

    If ``beside`` is a repository, no project is returned: a repository is recognised by its first commit, wherever it
    is. Only a folder without Git can't be recognised after it was renamed.
    """
    if beside.first_commit:
        return []
    rows = await database.rows(
        "SELECT p.id, p.name, p.root, p.remote, p.first_commit, count(m.id) AS known FROM projects p"
        " JOIN memories m ON m.project_id = p.id AND m.archived_at IS NULL"
        " WHERE p.first_commit = '' AND p.id <> ? GROUP BY p.id ORDER BY known DESC LIMIT ?",
        (beside.id, MOST_LOST),
    )
    found = [Lost(Project(*tuple(row)[:-1]), row["known"]) for row in rows]
    there = await asyncio.gather(*(_exists(one.project.root) for one in found))
    return [one for one, is_there in zip(found, there, strict=True) if not is_there]


async def listing(database: Database, limit: int) -> list[Counted]:
    """Return the projects that have active memories, the project with the most memories first."""
    rows = await database.rows(
        # Counting for each project needs only an index; a join would read every memory.
        "SELECT p.id, p.name, p.root, p.remote, p.first_commit,"
        " (SELECT count(*) FROM memories WHERE project_id = p.id AND archived_at IS NULL) AS known"
        " FROM projects p WHERE known > 0 ORDER BY known DESC LIMIT ?",
        (limit,),
    )
    return [Counted(Project(*tuple(row)[:-1]), row["known"]) for row in rows]


async def move(database: Database, project: Project, to: Project) -> None:
    """Move ``project`` to the folder of ``to``. A person requests this, and can undo it.

    Paths, sessions, captures and memories of ``to`` then belong to ``project``. All memories of ``to`` must be archived
    or unconfirmed: no other project can be moved to a folder that has memories in use.
    """
    async with database.write() as tx:
        await _change(tx, "project", project.id, {"root": to.root})
        for subject in ("folder", "session", "capture", "memory"):
            table, key = SUBJECTS[subject].table, SUBJECTS[subject].key
            rows = await tx.execute_fetchall(f'SELECT "{key}" FROM {table} WHERE project_id = ?', (to.id,))  # noqa: S608
            for row in list(rows):
                await _change(tx, subject, row[0], {"project_id": project.id})
                if subject == "memory":
                    await full_text.reindex(tx, await memories.require(tx, row[0]))


async def _change(tx: aiosqlite.Connection, subject: str, key: int | str, values: dict[str, str]) -> None:
    diff = await update_row(tx, SUBJECTS[subject].table, key, values, SUBJECTS[subject].key)
    await events.record(tx, ATTACH, subject, key, actor="user", before=diff[0], after=diff[1])


async def named(database: Database, name: str) -> list[Project]:
    """Return the projects with this id, folder or name; the case of names is ignored."""
    rows = await database.rows(
        "SELECT id, name, root, remote, first_commit FROM projects WHERE id = ?1 OR lower(name) = lower(?1)"
        " OR id IN (SELECT project_id FROM project_paths WHERE path = ?1) ORDER BY created_at",
        (name,),
    )
    return [Project(**dict(row)) for row in rows]


async def similar(database: Database, other: Project) -> list[Project]:
    """Return the projects that have the id, the folder, the first commit or the remote of ``other``, oldest first."""
    rows = await database.rows(
        "SELECT id, name, root, remote, first_commit FROM projects WHERE id = ?1 OR root = ?2"
        " OR (first_commit = ?3 AND ?3 <> '') OR (remote = ?4 AND ?4 <> '') ORDER BY created_at",
        (other.id, other.root, other.first_commit, other.remote),
    )
    return [Project(**dict(row)) for row in rows]


async def root(database: Database, project_id: str) -> str:
    """Return a project's folder, "" if the project is unknown."""
    rows = await database.rows("SELECT root FROM projects WHERE id = ?", (project_id,))
    return str(rows[0]["root"]) if rows else ""


async def find_or_create(database: Database, identity: Identity, alias: str = "") -> Project:
    """Return the project of ``identity``, or create it; ``alias`` and ``identity.root`` are stored as its paths."""
    known = await project_at(database, identity.root)
    async with database.write() as tx:
        project = known or await _same_history(tx, identity) or await _create(tx, identity)
        if not await _exists(project.root):  # the project's folder was moved to ``identity.root``
            await tx.execute("UPDATE projects SET root = ? WHERE id = ?", (identity.root, project.id))
        await _save_paths(tx, project, {identity.root, alias or identity.root})
    return project


async def _exists(path: str) -> bool:
    """Whether a folder exists; also True if its mount does not respond in time, because the folder may exist then.

    This runs within a transaction: without a limit, one dead mount would block all writes.
    """
    try:
        return await asyncio.wait_for(asyncio.to_thread(Path(path).exists), LOOK_SECONDS)
    except TimeoutError:
        return True


async def _save_paths(tx: aiosqlite.Connection, project: Project, paths: set[str]) -> None:
    await tx.executemany(
        "INSERT OR REPLACE INTO project_paths (path, project_id) VALUES (?, ?)", [(path, project.id) for path in paths]
    )


async def _same_history(tx: aiosqlite.Connection, identity: Identity) -> Project | None:
    """Return the stored project whose repository was moved to this folder or cloned again; None if there is none.

    The first commit and the remote must be the same. If neither has a remote, the project's old folder must no longer
    exist.
    """
    if not identity.first_commit:
        return None
    rows = await tx.execute_fetchall(
        "SELECT id, name, root, remote, first_commit FROM projects WHERE first_commit = ? ORDER BY created_at",
        (identity.first_commit,),
    )
    for row in rows:
        same_remote = row["remote"] == identity.remote and identity.remote != ""
        moved = row["remote"] == identity.remote and not await _exists(row["root"])
        if same_remote or moved:
            return Project(**dict(row))
    return None


async def _create(tx: aiosqlite.Connection, identity: Identity) -> Project:
    origin = "\0".join((identity.root, identity.remote, identity.first_commit))
    token = "p" + hashlib.sha256(origin.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    await tx.execute(
        "INSERT OR IGNORE INTO projects (id, name, root, remote, first_commit, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        (token, identity.name, identity.root, identity.remote, identity.first_commit, time()),
    )
    return Project(token, identity.name, identity.root, identity.remote, identity.first_commit)


async def confirm(database: Database, identity: Identity, alias: str) -> Project:
    """Return the project of an ``identity`` that was determined thoroughly, after an earlier quick check.

    The project may differ from that of the quick check. Its first commit and remote are added if they were missing.
    ``alias`` is the session's folder, which is recorded as a path of the project.
    """
    known = await project_at(database, identity.root)
    if known is not None and await asyncio.to_thread(_is_other_repository, known, identity):
        async with database.write() as tx:
            await tx.execute("DELETE FROM project_paths WHERE path = ?", (identity.root,))
    project = await find_or_create(database, identity, alias)
    if identity.first_commit and not project.first_commit:
        async with database.write() as tx:
            await tx.execute(
                "UPDATE projects SET first_commit = ?, remote = ? WHERE id = ?",
                (identity.first_commit, identity.remote, project.id),
            )
    return project


def _is_other_repository(known: Project, identity: Identity) -> bool:
    """Whether the repository that is now at the path of ``known`` differs from the project's repository."""
    if not known.first_commit or identity.first_commit in ("", known.first_commit):
        return False
    return known.remote != identity.remote or not has_commit(identity.root, known.first_commit)
