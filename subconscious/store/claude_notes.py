"""Claude Code's own notes: the files that were read, and the memory that makes each note searchable."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.domain.model import CLAUDE_NOTE, Link
from subconscious.store import events, links, memories
from subconscious.store.connect import Database
from subconscious.store.rows import column_values, insertion, update_row

REFERS_TO = "REFERS_TO"
"""The link type for a note that names another note."""


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """The result of reading one note's file. If ``memory_id`` is None, the note is not searchable; see ``problem``."""

    project_id: str
    path: str
    name: str
    stamp: str
    digest: str = ""
    memory_id: int | None = None
    links: tuple[str, ...] = ()
    problem: str = ""
    read_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of notes: when it was last read, the number of searchable notes, and the unusable files with reasons."""

    path: str
    looked_at: float
    notes: int
    unusable: tuple[tuple[str, str], ...]


async def notes(database: Database, project_id: str) -> dict[str, NoteRecord]:
    """Return the notes of a project by their path."""
    found = await database.rows("SELECT * FROM claude_notes WHERE project_id = ?", (project_id,))
    return {row["path"]: _row_from(row) for row in found}


def _row_from(row: sqlite3.Row) -> NoteRecord:
    return NoteRecord(**dict(row) | {"links": tuple(json.loads(row["links"]))})


async def folders(database: Database, project_id: str) -> dict[str, float]:
    """Return the folders of notes that were read for a project, each with the time when it was last read."""
    found = await database.rows("SELECT path, looked_at FROM claude_note_folders WHERE project_id = ?", (project_id,))
    return {row["path"]: row["looked_at"] for row in found}


async def record_read(tx: aiosqlite.Connection, project_id: str, folder: str) -> None:
    """Record that a folder of notes has just been read for a project."""
    await tx.execute(
        "INSERT INTO claude_note_folders VALUES (?, ?, ?)"
        " ON CONFLICT (project_id, path) DO UPDATE SET looked_at = excluded.looked_at",
        (project_id, folder, time()),
    )


async def save(tx: aiosqlite.Connection, row: NoteRecord) -> None:
    """Insert or replace the record of a file."""
    conflict = "ON CONFLICT (project_id, path) DO UPDATE SET " + ", ".join(
        f"{name} = excluded.{name}" for name in ("name", "stamp", "digest", "memory_id", "links", "problem", "read_at")
    )
    await tx.execute(*insertion("claude_notes", column_values(row), conflict))


async def remove(tx: aiosqlite.Connection, row: NoteRecord) -> None:
    """Delete the record of a file that was deleted or renamed."""
    await tx.execute("DELETE FROM claude_notes WHERE project_id = ? AND path = ?", (row.project_id, row.path))


async def move(tx: aiosqlite.Connection, memory_id: int, path: str) -> None:
    """Set the path of a note's memory after the note was renamed."""
    before, after = await update_row(tx, "memories", memory_id, {"transcript": path})
    if after:
        await events.record(tx, "move", "memory", memory_id, reason="its file was renamed", before=before, after=after)


async def without_file(database: Database, project_id: str) -> list[int]:
    """Return the ids of active copies of notes that no longer have a file; an undo may have restored such a copy."""
    found = await database.rows(
        # By default, the planner chooses the index of all memories of a project, which is slower. The extractor is a
        # literal, because SQLite can't use a partial index for a value that is bound later.
        "SELECT id FROM memories INDEXED BY memories_notes WHERE project_id = ? AND archived_at IS NULL"  # noqa: S608
        f" AND extractor = '{CLAUDE_NOTE}'"
        " AND id NOT IN (SELECT memory_id FROM claude_notes WHERE memory_id IS NOT NULL)",
        (project_id,),
    )
    return [row["id"] for row in found]


async def archive(tx: aiosqlite.Connection, memory_id: int, reason: str) -> bool:
    """Archive the memory of a note; return whether it was active. The memory's history keeps the text."""
    memory = await memories.find(tx, memory_id)
    return memory is not None and await memories.archive(tx, memory, "daemon", reason)


async def link(tx: aiosqlite.Connection, project_id: str) -> None:
    """Link each note of a project with the notes that it names; existing and rejected links are not changed."""
    found = await tx.execute_fetchall(
        "SELECT * FROM claude_notes WHERE project_id = ? AND memory_id IS NOT NULL", (project_id,)
    )
    notes = [_row_from(row) for row in found]
    ids = {note.name: note.memory_id for note in notes}
    for note in notes:
        for target in dict.fromkeys(ids[name] for name in note.links if name in ids):
            if note.memory_id and target and target != note.memory_id:
                await links.add(tx, _reference(note.memory_id, target), "daemon")


def _reference(source: int, target: int) -> Link:
    return Link(0, source, target, REFERS_TO, "active", 1.0, CLAUDE_NOTE, "one note names the other", time())


def report(connection: sqlite3.Connection) -> list[Folder]:
    """Return all folders of notes, the most recently read first. For `doctor`, which works without the daemon."""
    looked = connection.execute(
        "SELECT project_id, path, looked_at FROM claude_note_folders ORDER BY looked_at DESC, path"
    )
    return [_folder(connection, *row) for row in looked.fetchall()]


def _folder(connection: sqlite3.Connection, project_id: str, path: str, looked_at: float) -> Folder:
    found = connection.execute(
        "SELECT path, memory_id IS NOT NULL, problem FROM claude_notes"
        " WHERE project_id = ?1 AND substr(path, 1, length(?2)) = ?2 ORDER BY path",
        (project_id, f"{path}/"),
    ).fetchall()
    unusable = tuple((file, problem) for file, _, problem in found if problem)
    return Folder(path, looked_at, sum(is_used for _, is_used, _ in found), unusable)
