"""Links between memories (SPEC A9): stored once, read from both ends; every change is an event."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields

import aiosqlite

from subconscious.errors import NotFoundError
from subconscious.model import Link
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import insertion, marks

ACTIVE = ("active",)
SHOWN = ("active", "proposed")
PORTION = 500


def link_from(row: sqlite3.Row) -> Link:
    """Read a row of ``memory_links``."""
    return Link(**{field.name: row[field.name] for field in fields(Link)})


async def add(tx: aiosqlite.Connection, link: Link, actor: str, act: str = "") -> Link | None:
    """Store a new link and return it with its id; None where the same is stored already, whatever its status."""
    values = asdict(link)
    del values["id"]
    done = await tx.execute(*insertion("memory_links", values, "ON CONFLICT DO NOTHING"))
    if not done.rowcount:
        return None
    number = int(done.lastrowid or 0)
    await events.record(tx, "link", "link", number, actor=actor, reason=link.evidence, after=values, act=act)
    return await held(tx, number)


async def held(tx: aiosqlite.Connection, link_id: int) -> Link:
    """One link, as the running transaction sees it. Raises NotFoundError."""
    rows = list(await tx.execute_fetchall("SELECT * FROM memory_links WHERE id = ?", (link_id,)))
    if not rows:
        raise NotFoundError(f"there is no link {link_id}", "`subconscious links ID` lists those of a memory")
    return link_from(rows[0])


async def between(tx: aiosqlite.Connection, one: int, other: int) -> list[Link]:
    """All links between two memories, in either direction and of any status."""
    rows = await tx.execute_fetchall(
        "SELECT * FROM memory_links WHERE (source_id, target_id) IN (VALUES (?, ?), (?, ?)) ORDER BY id",
        (one, other, other, one),
    )
    return [link_from(row) for row in rows]


async def change(
    tx: aiosqlite.Connection, link: Link, actor: str, reason: str = "", act: str = "", **values: str | float
) -> Link:
    """Give a link another status, type, confidence or evidence."""
    before = {name: getattr(link, name) for name in values}
    if before == values:
        return link
    sets = ", ".join(f"{name} = :{name}" for name in values)
    await tx.execute(f"UPDATE memory_links SET {sets} WHERE id = :id", values | {"id": link.id})  # noqa: S608
    await events.record(
        tx, "relink", "link", link.id, actor=actor, reason=reason, before=before, after=dict(values), act=act
    )
    return await held(tx, link.id)


async def of(database: Database, ids: Sequence[int], statuses: Sequence[str] = ACTIVE) -> list[Link]:
    """The links of these memories to and from whatever is active, from either end, the surest first."""
    found: dict[int, Link] = {}
    for portion in (ids[start : start + PORTION] for start in range(0, len(ids), PORTION)):
        for end, other in (("source_id", "target_id"), ("target_id", "source_id")):
            rows = await database.rows(
                f"SELECT link.* FROM memory_links AS link JOIN memories ON memories.id = link.{other}"  # noqa: S608
                f" WHERE link.{end} IN ({marks(portion)}) AND link.status IN ({marks(statuses)})"
                " AND memories.archived_at IS NULL",
                (*portion, *statuses),
            )
            found.update((row["id"], link_from(row)) for row in rows)
    return sorted(found.values(), key=lambda link: (-link.confidence, link.id))
