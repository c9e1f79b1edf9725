"""Which project a folder belongs to, remembered across moves."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from time import time

import aiosqlite

from subconscious.projects import Identity, holds_commit
from subconscious.store.connect import Database

MOST_LOST = 20
"""Projects that are looked for on the disk, where a folder may be one of them under another name."""

LOOK_SECONDS = 1.0
"""Time that a look at a project's old folder may take."""


@dataclass(frozen=True, slots=True)
class Project:
    """A repository or a folder; ``id`` is one token, so that full text can filter on it."""

    id: str
    name: str
    root: str
    remote: str = ""
    first_commit: str = ""


async def project_at(database: Database, path: str) -> Project | None:
    """The project that was met at ``path`` before."""
    rows = await database.rows(
        "SELECT id, name, root, remote, first_commit FROM project_paths JOIN projects ON id = project_id"
        " WHERE path = ?",
        (path,),
    )
    return Project(**dict(rows[0])) if rows else None


@dataclass(frozen=True, slots=True)
class Lost:
    """A project whose folder is gone, and how many memories it has."""

    project: Project
    memories: int


async def lost(database: Database, beside: Project) -> list[Lost]:
    """Projects that ``beside`` may be, renamed: with memories, known by their folder alone, which is gone.

    A repository is known by its first commit, wherever it lies; only a folder without Git is lost when it is renamed.
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


async def move(database: Database, project: Project, to: Project) -> None:
    """Let the folder of ``to`` be that of ``project``, and every path to it lead there."""
    async with database.write() as tx:
        await tx.execute("UPDATE projects SET root = ? WHERE id = ?", (to.root, project.id))
        await tx.execute("UPDATE project_paths SET project_id = ? WHERE project_id = ?", (project.id, to.id))
        await tx.execute("UPDATE sessions SET project_id = ? WHERE project_id = ?", (project.id, to.id))
        await tx.execute("UPDATE implicit_captures SET project_id = ? WHERE project_id = ?", (project.id, to.id))


async def named(database: Database, name: str) -> list[Project]:
    """The projects that a person means by ``name``: an id, a folder, or the name, in any case."""
    rows = await database.rows(
        "SELECT id, name, root, remote, first_commit FROM projects WHERE id = ?1 OR lower(name) = lower(?1)"
        " OR id IN (SELECT project_id FROM project_paths WHERE path = ?1) ORDER BY created_at",
        (name,),
    )
    return [Project(**dict(row)) for row in rows]


async def root(database: Database, project_id: str) -> str:
    """Where a project lies, "" if it is unknown."""
    rows = await database.rows("SELECT root FROM projects WHERE id = ?", (project_id,))
    return str(rows[0]["root"]) if rows else ""


async def settle(database: Database, identity: Identity, alias: str = "") -> Project:
    """Find the project of ``identity`` or make it; remember its path, and ``alias`` as another path to it."""
    known = await project_at(database, identity.root)
    async with database.write() as tx:
        project = known or await _same_history(tx, identity) or await _create(tx, identity)
        if not await _exists(project.root):  # it moved here
            await tx.execute("UPDATE projects SET root = ? WHERE id = ?", (identity.root, project.id))
        await _lead_to(tx, project, {identity.root, alias or identity.root})
    return project


async def _exists(path: str) -> bool:
    """Whether a folder is still there; one on a mount that does not answer counts as there, for nobody can say.

    It is asked within a transaction: without a limit, one dead mount would keep everybody from writing.
    """
    try:
        return await asyncio.wait_for(asyncio.to_thread(Path(path).exists), LOOK_SECONDS)
    except TimeoutError:
        return True


async def _lead_to(tx: aiosqlite.Connection, project: Project, paths: set[str]) -> None:
    await tx.executemany(
        "INSERT OR REPLACE INTO project_paths (path, project_id) VALUES (?, ?)", [(path, project.id) for path in paths]
    )


async def _same_history(tx: aiosqlite.Connection, identity: Identity) -> Project | None:
    """A checkout that was moved or cloned again: the same first commit, and the same remote or an old root gone."""
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
    """Look again without hurry: add what a quick look missed, and tell another repository from the one before it.

    ``alias`` is the folder that the session is in; whatever it led to before, it leads to this project now.
    """
    known = await project_at(database, identity.root)
    if known is not None and await asyncio.to_thread(_is_another, known, identity):
        async with database.write() as tx:
            await tx.execute("DELETE FROM project_paths WHERE path = ?", (identity.root,))
    project = await settle(database, identity, alias)
    if identity.first_commit and not project.first_commit:
        async with database.write() as tx:
            await tx.execute(
                "UPDATE projects SET first_commit = ?, remote = ? WHERE id = ?",
                (identity.first_commit, identity.remote, project.id),
            )
    return project


def _is_another(known: Project, identity: Identity) -> bool:
    """Whether this is not the repository that was here: a rewritten history still holds its old first commit."""
    if not known.first_commit or identity.first_commit in ("", known.first_commit):
        return False
    return known.remote != identity.remote or not holds_commit(identity.root, known.first_commit)
