"""Which project a folder belongs to, remembered across moves (SPEC N12)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from time import time

import aiosqlite

from subconscious.projects import Identity
from subconscious.store.connect import Database


@dataclass(frozen=True, slots=True)
class Project:
    """A repository or a folder; ``id`` is one token, so that full text can filter on it."""

    id: str
    name: str
    root: str
    first_commit: str = ""


async def project_at(database: Database, path: str) -> Project | None:
    """The project that was met at ``path`` before."""
    rows = await database.rows(
        "SELECT id, name, root, first_commit FROM project_paths JOIN projects ON id = project_id WHERE path = ?",
        (path,),
    )
    return Project(**dict(rows[0])) if rows else None


async def root(database: Database, project_id: str) -> str:
    """Where a project lies, "" if it is unknown."""
    rows = await database.rows("SELECT root FROM projects WHERE id = ?", (project_id,))
    return str(rows[0]["root"]) if rows else ""


async def settle(database: Database, identity: Identity) -> Project:
    """Find the project of ``identity`` or make it, and remember the path."""
    known = await project_at(database, identity.root)
    if known is not None:
        return known
    async with database.write() as tx:
        project = await _same_history(tx, identity) or await _create(tx, identity)
        if not Path(project.root).exists():  # it moved here
            await tx.execute("UPDATE projects SET root = ? WHERE id = ?", (identity.root, project.id))
        await tx.execute(
            "INSERT OR IGNORE INTO project_paths (path, project_id) VALUES (?, ?)",
            (identity.root, project.id),
        )
    return project


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
        moved = row["remote"] == identity.remote and not Path(row["root"]).exists()
        if same_remote or moved:
            return Project(row["id"], row["name"], row["root"], row["first_commit"])
    return None


async def _create(tx: aiosqlite.Connection, identity: Identity) -> Project:
    origin = "\0".join((identity.root, identity.remote, identity.first_commit))
    token = "p" + hashlib.sha256(origin.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    await tx.execute(
        "INSERT OR IGNORE INTO projects (id, name, root, remote, first_commit, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        (token, identity.name, identity.root, identity.remote, identity.first_commit, time()),
    )
    return Project(token, identity.name, identity.root, identity.first_commit)


async def confirm(database: Database, identity: Identity) -> Project:
    """Look again without hurry: add what a quick look missed, and tell a new repository from one that moved away."""
    known = await project_at(database, identity.root)
    if known is None:
        return await settle(database, identity)
    if (
        known.first_commit
        and identity.first_commit not in ("", known.first_commit)
        and _lives_elsewhere(known, identity)
    ):
        async with database.write() as tx:
            await tx.execute("DELETE FROM project_paths WHERE path = ?", (identity.root,))
        return await settle(database, identity)
    if identity.first_commit and not known.first_commit:
        async with database.write() as tx:
            await tx.execute(
                "UPDATE projects SET first_commit = ?, remote = ? WHERE id = ?",
                (identity.first_commit, identity.remote, known.id),
            )
    return known


def _lives_elsewhere(known: Project, identity: Identity) -> bool:
    return known.root != identity.root and Path(known.root).exists()
