"""Export and import of memories, with stable keys instead of row ids."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiosqlite

from subconscious.domain.model import Link, Memory
from subconscious.store import events, links
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE, UNCONFIRMED, UNQUARANTINED
from subconscious.store.rows import insertion, memory_from, qmarks

ACTIVE, WAITING, ARCHIVED = "active", "unconfirmed", "archived"
STATUSES = (ACTIVE, WAITING, ARCHIVED)

_STATUS = {
    ACTIVE: "archived_at IS NULL",
    WAITING: f"({UNCONFIRMED})",
    ARCHIVED: f"(archived_at IS NOT NULL AND NOT ({UNCONFIRMED}))",
}
_IDENTITY = "SELECT id, created_at, turn_id, coalesce(session_id, ''), byte_start, extractor FROM memories"


@dataclass(frozen=True, slots=True)
class Selection:
    """The memories to export: those of one project and user-wide ones, or all if the project is None."""

    project_id: str | None
    statuses: tuple[str, ...] = STATUSES

    def where(self) -> tuple[str, tuple[Any, ...]]:
        """Return the SQL condition that selects the memories, and its parameters.

        Copies of Claude's own notes are left out, because the notes are files; so are quarantined memories.
        """
        status = " OR ".join(_STATUS[one] for one in self.statuses)
        project = "" if self.project_id is None else " AND (project_id = ? OR project_id IS NULL)"
        return f"({status}) AND {NO_NOTE} AND {UNQUARANTINED}{project}", () if self.project_id is None else (
            self.project_id,
        )


async def keys(database: Database) -> dict[int, str]:
    """Return the stable key of every memory, by id."""
    return _keys(await database.rows(f"{_IDENTITY} ORDER BY id", long=True))


async def keys_within(tx: aiosqlite.Connection) -> dict[int, str]:
    """Return the stable key of every memory, by id, as the running transaction sees them."""
    return _keys(await tx.execute_fetchall(f"{_IDENTITY} ORDER BY id"))


def _keys(rows: Iterable[Any]) -> dict[int, str]:
    """Return keys derived from columns that an import preserves; equal rows are numbered in the order of their ids."""
    seen: Counter[tuple[Any, ...]] = Counter()
    found = {}
    for number, *parts in map(tuple, rows):
        place = tuple(parts)
        text = "\0".join((*map(repr, place), str(seen[place])))
        found[number] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[place] += 1
    return found


async def page(database: Database, which: Selection, after: int, limit: int) -> list[Memory]:
    """Return up to ``limit`` selected memories with an id above ``after``, ordered by id."""
    condition, values = which.where()
    rows = await database.rows(
        f"SELECT * FROM memories WHERE id > ? AND {condition} ORDER BY id LIMIT ?",  # noqa: S608
        (after, *values, limit),
        long=True,
    )
    return [memory_from(row) for row in rows]


async def in_quarantine(database: Database, project_id: str | None) -> int:
    """Return how many memories an export leaves out because they are in quarantine."""
    rows = await database.rows(
        f"SELECT count(*) FROM memories WHERE NOT ({UNQUARANTINED})"  # noqa: S608
        " AND (?1 IS NULL OR project_id = ?1 OR project_id IS NULL)",
        (project_id,),
        long=True,
    )
    return int(rows[0][0])


async def waiting(database: Database, ids: Sequence[int]) -> set[int]:
    """Return which of ``ids`` belong to unconfirmed memories that may still be confirmed."""
    rows = await database.rows(
        f"SELECT id FROM memories WHERE id IN ({qmarks(ids)}) AND {UNCONFIRMED}",  # noqa: S608
        tuple(ids),
    )
    return {row[0] for row in rows}


Rows = Mapping[int, Sequence[Mapping[str, Any]]]


async def decay_rows(database: Database, ids: Sequence[int]) -> Rows:
    """Return the decay row of each memory, by the memory's id."""
    return await _of(database, "memory_decay", "memory_id", ids)


async def links_from(database: Database, ids: Sequence[int]) -> Rows:
    """Return the links that start at memories, by the id of the memory."""
    return await _of(database, "memory_links", "source_id", ids)


async def corrections(database: Database, ids: Sequence[int]) -> Rows:
    """Return the corrections of memories, by the id of the memory."""
    return await _of(database, "memory_corrections", "memory_id", ids)


async def merges(database: Database, ids: Sequence[int]) -> Rows:
    """Return the merges of memories into others, by the id of the merged memory."""
    return await _of(database, "memory_merges", "memory_id", ids)


async def _of(database: Database, table: str, column: str, ids: Sequence[int]) -> Rows:
    found: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    rows = await database.rows(
        f"SELECT * FROM {table} WHERE {column} IN ({qmarks(ids)}) ORDER BY rowid",  # noqa: S608 - our own names
        tuple(ids),
    )
    for row in rows:
        found[row[column]].append(dict(row))
    return found


async def restore_decay(tx: aiosqlite.Connection, memory_id: int, values: Mapping[str, Any]) -> None:
    """Restore a memory's decay row."""
    row = {"memory_id": memory_id, **values}
    done = await tx.execute(*insertion("memory_decay", row, "ON CONFLICT DO NOTHING"))
    if done.rowcount:
        await events.record(tx, "restore", "decay", memory_id, actor="user", after=row)


async def restore_link(tx: aiosqlite.Connection, link: Link) -> bool:
    """Restore a link; return False if it exists already, or would link a memory to itself."""
    return link.source_id != link.target_id and await links.add(tx, link, "user") is not None


async def restore_correction(tx: aiosqlite.Connection, values: Mapping[str, Any]) -> bool:
    """Restore a correction; return False if it exists already."""
    return await _restore(tx, "memory_corrections", "correction", values, ("memory_id", "way", "replacement_id"))


async def restore_merge(tx: aiosqlite.Connection, values: Mapping[str, Any]) -> bool:
    """Restore a merge; return False if it exists already."""
    return await _restore(tx, "memory_merges", "merge", values, ("memory_id", "into_id"))


async def _restore(
    tx: aiosqlite.Connection, table: str, subject: str, values: Mapping[str, Any], same: Sequence[str]
) -> bool:
    condition = " AND ".join(f"{name} IS ?" for name in same)
    known = await tx.execute_fetchall(
        f"SELECT 1 FROM {table} WHERE {condition}",  # noqa: S608 - our own names
        tuple(values[name] for name in same),
    )
    if list(known):
        return False
    done = await tx.execute(*insertion(table, values))
    await events.record(tx, "restore", subject, int(done.lastrowid or 0), actor="user", after=dict(values))
    return True
