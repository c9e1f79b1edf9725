"""Links between memories, and a record of the searches for links.

A link is stored once and read from both ends; every change is an event.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import aiosqlite

from subconscious.domain.errors import NotFoundError
from subconscious.domain.link_types import LINK_TYPES
from subconscious.domain.model import Link, Memory
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import insertion, memory_from, qmarks
from subconscious.wire.history import Succession

ACTIVE = ("active",)
SHOWN = ("active", "proposed")
AFFECTS_VALIDITY = ("CONTRADICTS", "SUPERSEDES")
"""Link types that affect whether a memory still applies. Such links are shown wherever the memory is shown."""
ENDS = (("source_id", "target_id"), ("target_id", "source_id"))
PORTION = 10
"""The number of memories per query. With more, SQLite scans whole tables (100 ms for 100 memories)."""


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """A filter of links; empty fields match everything.

    Links from or to an archived memory are left out, unless ``archived`` is set or that memory is ``memory_id``.
    """

    memory_id: int | None = None
    project_id: str | None = None
    statuses: tuple[str, ...] = SHOWN
    types: tuple[str, ...] = ()
    archived: bool = False


def link_from(row: sqlite3.Row) -> Link:
    """Return the link in a row of ``memory_links``."""
    return Link(**{field.name: row[field.name] for field in fields(Link)})


def canonical(link: Link) -> Link:
    """Return a link in its stored form: a link of a symmetric type starts at the memory with the smaller id."""
    known = LINK_TYPES.get(link.type)
    if known is None or not known.symmetric or link.source_id < link.target_id:
        return link
    return replace(link, source_id=link.target_id, target_id=link.source_id)


async def add(
    tx: aiosqlite.Connection, link: Link, actor: str, act: str = "", session_id: str | None = None
) -> Link | None:
    """Store a new link and return it with its id; None if the same link exists already, with any status."""
    values = asdict(canonical(link))
    del values["id"]
    done = await tx.execute(*insertion("memory_links", values, "ON CONFLICT DO NOTHING"))
    if not done.rowcount:
        return None
    number = int(done.lastrowid or 0)
    await events.record(
        tx, "link", "link", number, actor=actor, session_id=session_id, reason=link.evidence, after=values, act=act
    )
    return await require(tx, number)


async def require(tx: aiosqlite.Connection, link_id: int) -> Link:
    """Return one link as the running transaction sees it. Raises NotFoundError if there is none with this id."""
    link = await find(tx, link_id)
    if link is None:
        raise NotFoundError(f"there is no link {link_id}", "`subconscious links ID` lists the links of one memory")
    return link


async def find(tx: aiosqlite.Connection, link_id: int) -> Link | None:
    """Return one link as the running transaction sees it; None if there is none."""
    rows = await tx.execute_fetchall("SELECT * FROM memory_links WHERE id = ?", (link_id,))
    return next((link_from(row) for row in rows), None)


async def session_of(tx: aiosqlite.Connection, link_id: int) -> str | None:
    """Return the id of the session in which a link was created; None if it was created outside of a session."""
    rows = await tx.execute_fetchall(
        "SELECT session_id FROM events WHERE subject = 'link' AND subject_id = ? AND action = 'link' LIMIT 1",
        (str(link_id),),
    )
    return next((row[0] for row in rows), None)


async def between(tx: aiosqlite.Connection, one: int, other: int) -> list[Link]:
    """Return all links between two memories, in either direction and with any status."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM memory_links WHERE (source_id, target_id) IN (VALUES (?, ?), (?, ?)) ORDER BY id",
        (one, other, other, one),
    )
    return [link_from(row) for row in rows]


async def stored_link(tx: aiosqlite.Connection, link: Link) -> Link | None:
    """Return the stored link with the same ends and type as ``link``, with any status; None if there is none."""
    wanted = canonical(link)
    rows = await tx.execute_fetchall(
        "SELECT * FROM memory_links WHERE source_id = ? AND target_id = ? AND type = ?",
        (wanted.source_id, wanted.target_id, wanted.type),
    )
    return next((link_from(row) for row in rows), None)


async def change(
    tx: aiosqlite.Connection, link: Link, actor: str, reason: str = "", act: str = "", **values: str | float
) -> Link:
    """Change a link's status, type, confidence or evidence, and record the event; return the changed link."""
    new = {name: value for name, value in values.items() if getattr(link, name) != value}
    if not new:
        return link
    before = {name: getattr(link, name) for name in new}
    sets = ", ".join(f"{name} = :{name}" for name in new)
    await tx.execute(f"UPDATE memory_links SET {sets} WHERE id = :id", new | {"id": link.id})  # noqa: S608
    await events.record(tx, "relink", "link", link.id, actor=actor, reason=reason, before=before, after=new, act=act)
    return await require(tx, link.id)


async def of(
    database: Database,
    ids: Sequence[int],
    statuses: Sequence[str] = ACTIVE,
    types: Sequence[str] = (),
    *,
    replaced: bool = False,
) -> list[Link]:
    """Return the links between memories in ``ids`` and active memories, in both directions, highest confidence first.

    With ``replaced``, links of the type SUPERSEDES are returned even if the other memory is archived.
    """
    other_end = (
        "(memories.archived_at IS NULL OR +link.type = 'SUPERSEDES')" if replaced else "memories.archived_at IS NULL"
    )
    found: dict[int, Link] = {}
    typed = f"AND +link.type IN ({qmarks(types)})" if types else ""
    for portion, end, other in _portions(ids):
        rows = await database.rows(
            f"SELECT link.* FROM memory_links AS link JOIN memories ON memories.id = link.{other}"  # noqa: S608
            f" WHERE link.{end} IN ({qmarks(portion)}) AND +link.status IN ({qmarks(statuses)}) {typed}"
            f" AND {other_end}",
            (*portion, *statuses, *types),
        )
        found.update((row["id"], link_from(row)) for row in rows)
    return sorted(found.values(), key=lambda link: (-link.confidence, link.id))


def _portions(ids: Sequence[int]) -> Iterator[tuple[Sequence[int], str, str]]:
    """Yield groups of ids for one query, once per direction: (ids, column with these ids, column with linked ids)."""
    for start in range(0, len(ids), PORTION):
        yield from ((ids[start : start + PORTION], end, other) for end, other in ENDS)


async def superseded_by(tx: aiosqlite.Connection, memory_id: int) -> list[int]:
    """Return the ids of the memories that ``memory_id`` superseded, directly or through other memories."""
    rows = await tx.execute_fetchall(
        "WITH RECURSIVE earlier (id) AS (SELECT ?1 UNION SELECT link.target_id FROM memory_links AS link"
        " JOIN earlier ON link.source_id = earlier.id WHERE link.type = 'SUPERSEDES' AND link.status = 'active')"
        " SELECT id FROM earlier WHERE id <> ?1 ORDER BY id",
        (memory_id,),
    )
    return [row[0] for row in rows]


async def replaced(database: Database, ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the memories that each memory superseded directly, archived ones included."""
    found: dict[int, list[int]] = {}
    rows = await database.rows(
        f"SELECT source_id, target_id FROM memory_links WHERE source_id IN ({qmarks(ids)})"  # noqa: S608
        " AND +type = 'SUPERSEDES' AND +status = 'active' ORDER BY id",
        ids,
    )
    for source, target in rows:
        found.setdefault(source, []).append(target)
    return found


async def conflicts_and_successions(
    database: Database, ids: Sequence[int], project_id: str | None = None
) -> list[Link]:
    """Return the active links that say that another memory contradicts or supersedes a memory in ``ids``.

    Links by which a memory in ``ids`` supersedes another are left out, and so are links to archived memories. Memories
    of other projects than ``project_id`` can't contradict or supersede a user-wide memory.
    """
    found: dict[int, Link] = {}
    for portion, end, other in _portions(ids):
        types = AFFECTS_VALIDITY if end == "target_id" else ("CONTRADICTS",)
        found.update((link.id, link) for link in await _bearing(database, portion, (end, other), types, project_id))
    return sorted(found.values(), key=lambda link: link.id)


async def replaced_by(database: Database, ids: Sequence[int]) -> dict[int, list[Memory]]:
    """Return the memories that were in use until a memory in ``ids`` superseded them, by its id."""
    found: dict[int, list[Memory]] = {}
    for start in range(0, len(ids), PORTION):
        portion = ids[start : start + PORTION]
        rows = await database.rows(
            "SELECT link.source_id AS successor, old.* FROM memory_links AS link"  # noqa: S608
            " JOIN memories AS old ON old.id = link.target_id"
            f" WHERE link.source_id IN ({qmarks(portion)}) AND +link.type = 'SUPERSEDES' AND +link.status = 'active'"
            " AND old.archived_at IS NULL AND NOT EXISTS (SELECT 1 FROM memory_links AS earlier"
            " JOIN memories AS other ON other.id = earlier.source_id WHERE earlier.target_id = link.target_id"
            " AND earlier.id < link.id AND +earlier.type = 'SUPERSEDES' AND +earlier.status = 'active'"
            " AND other.archived_at IS NULL) ORDER BY link.id",
            portion,
        )
        for row in rows:
            found.setdefault(row["successor"], []).append(memory_from(row))
    return found


async def successions(database: Database, memory_id: int) -> list[Succession]:
    """Return when other memories superseded a memory, and when such a link ended, oldest first."""
    rows = await database.rows(
        "SELECT event.at, event.actor, link.source_id AS by, json_extract(event.before, '$.status') AS before,"
        " json_extract(event.after, '$.status') AS after FROM memory_links AS link"
        " JOIN events AS event ON event.subject = 'link' AND event.subject_id = CAST(link.id AS TEXT)"
        " WHERE link.target_id = ? AND +link.type = 'SUPERSEDES' ORDER BY event.id",
        (memory_id,),
    )
    changed = [row for row in rows if "active" in (row["before"], row["after"]) and row["before"] != row["after"]]
    return [
        {"at": row["at"], "actor": row["actor"], "by": row["by"], "holds": row["after"] == "active"} for row in changed
    ]


async def superseded(database: Database, ids: Sequence[int], project_id: str | None = None) -> set[int]:
    """Return which of ``ids`` another memory supersedes, by the rules of ``conflicts_and_successions``."""
    found: set[int] = set()
    for portion, end, other in _portions(ids):
        if end == "target_id":
            links = await _bearing(database, portion, (end, other), ("SUPERSEDES",), project_id)
            found.update(link.target_id for link in links)
    return found


async def _bearing(
    database: Database, ids: Sequence[int], ends: tuple[str, str], types: Sequence[str], project_id: str | None
) -> list[Link]:
    end, other = ends
    rows = await database.rows(
        f"SELECT link.* FROM memory_links AS link JOIN memories AS mine ON mine.id = link.{end}"  # noqa: S608
        f" JOIN memories AS other ON other.id = link.{other}"
        # The plus keeps SQLite from using the index of all active links of a type, which it estimates to be cheaper.
        f" WHERE link.{end} IN ({qmarks(ids)}) AND +link.status = 'active' AND +link.type IN ({qmarks(types)})"
        " AND other.archived_at IS NULL"
        " AND (other.project_id IS NULL OR other.project_id IS mine.project_id OR other.project_id IS ?)",
        (*ids, *types, project_id),
    )
    return [link_from(row) for row in rows]


async def listing(database: Database, which: LinkFilter, limit: int) -> list[Link]:
    """Return the links that match ``which``, ordered by status, then by confidence (highest first)."""
    where, values = _where(which)
    rows = await database.rows(
        "SELECT link.* FROM memory_links AS link JOIN memories AS source ON source.id = link.source_id"  # noqa: S608
        f" JOIN memories AS target ON target.id = link.target_id WHERE {where}"
        " ORDER BY link.status, link.confidence DESC, link.id LIMIT :limit",
        values | {"limit": limit},  # type: ignore[arg-type]
    )
    return [link_from(row) for row in rows]


def _where(which: LinkFilter) -> tuple[str, dict[str, Any]]:
    values: dict[str, Any] = {"memory": which.memory_id, "project": which.project_id}
    parts = []
    for name, chosen in (("status", which.statuses), ("type", which.types)):
        if chosen:
            parts.append(f"link.{name} IN ({', '.join(f':{name}{place}' for place in range(len(chosen)))})")
            values |= {f"{name}{place}": value for place, value in enumerate(chosen)}
    if which.memory_id is not None:
        parts.append(":memory IN (link.source_id, link.target_id)")
    if which.project_id is not None:
        parts += [f"({end}.project_id IS NULL OR {end}.project_id = :project)" for end in ("source", "target")]
    if not which.archived:
        parts += [f"({end}.archived_at IS NULL OR {end}.id IS :memory)" for end in ("source", "target")]
    return " AND ".join(parts) or "true", values


async def open_links(tx: aiosqlite.Connection, ids: Sequence[int]) -> list[Link]:
    """Return all active and proposed links of memories, including links of archived memories."""
    found: dict[int, Link] = {}
    for portion, end, _ in _portions(ids):
        rows = await tx.execute_fetchall(
            f"SELECT * FROM memory_links WHERE {end} IN ({qmarks(portion)}) AND status IN ({qmarks(SHOWN)})",  # noqa: S608
            (*portion, *SHOWN),
        )
        found.update((row["id"], link_from(row)) for row in rows)
    return [found[number] for number in sorted(found)]


async def made_in_session(tx: aiosqlite.Connection, session_id: str) -> list[Link]:
    """Return the active and proposed links that a session created."""
    rows = await tx.execute_fetchall(
        "SELECT link.* FROM memory_links AS link JOIN events ON events.subject_id = CAST(link.id AS TEXT)"  # noqa: S608
        " WHERE events.subject = 'link' AND events.action = 'link' AND events.session_id = ?"
        f" AND link.status IN ({qmarks(SHOWN)}) ORDER BY link.id",
        (session_id, *SHOWN),
    )
    return [link_from(row) for row in rows]


async def unsearched(database: Database, version: str, limit: int, *, embedded: bool) -> list[Memory]:
    """Return active memories to search for links: first those never searched, then those searched by older rules.

    With ``embedded``, memories with a pending embedding are left out.
    """
    rows = await database.rows(
        "SELECT memories.* FROM memories LEFT JOIN link_searches AS search ON search.memory_id = memories.id"
        " WHERE archived_at IS NULL AND (search.version IS NULL OR search.version <> ?)"
        " AND (NOT ? OR embedding_status <> 'pending')"
        " ORDER BY search.version IS NOT NULL, memories.id DESC LIMIT ?",
        (version, embedded, limit),
    )
    return [memory_from(row) for row in rows]


async def searched_version(tx: aiosqlite.Connection, memory_id: int) -> str | None:
    """Return the version of the rules by which a memory was last searched for links; None if it never was."""
    rows = list(await tx.execute_fetchall("SELECT version FROM link_searches WHERE memory_id = ?", (memory_id,)))
    return str(rows[0][0]) if rows else None


async def record_search(tx: aiosqlite.Connection, memory_id: int, version: str, at: float) -> None:
    """Record that a memory was searched for links."""
    await tx.execute(
        "INSERT INTO link_searches (memory_id, version, searched_at) VALUES (?, ?, ?) ON CONFLICT (memory_id)"
        " DO UPDATE SET version = excluded.version, searched_at = excluded.searched_at",
        (memory_id, version, at),
    )


async def count_found(tx: aiosqlite.Connection, ids: Sequence[int], by_hand: Sequence[str]) -> dict[int, int]:
    """Count the active and proposed links of each memory, without links whose creator is in ``by_hand``."""
    counts = dict.fromkeys(ids, 0)
    for end in ("source_id", "target_id"):
        rows = await tx.execute_fetchall(
            f"SELECT {end}, count(*) FROM memory_links WHERE {end} IN ({qmarks(ids)})"  # noqa: S608
            f" AND status IN ('active', 'proposed') AND created_by NOT IN ({qmarks(by_hand)}) GROUP BY 1",
            (*ids, *by_hand),
        )
        for row in rows:
            counts[row[0]] += row[1]
    return counts
