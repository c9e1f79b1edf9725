"""Which memories a person shares through Git, which authors they trust, and what teammates shared."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE, UNQUARANTINED
from subconscious.store.merges import MERGED
from subconscious.store.rows import qmarks

EXTRACTOR = "shared-1"
"""The extractor name of captures of memories that a teammate shared."""


@dataclass(frozen=True, slots=True)
class Share:
    """A memory that a person shares. ``uid`` is its id in Git, ``base`` the versions that its text is based on."""

    memory_id: int
    uid: str
    withdrawn_at: float | None
    statement: str
    base: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """The capture of one version of a memory that a teammate shared."""

    id: int
    uid: str
    digest: str
    status: str
    memory_id: int | None
    decided_at: float | None


def source_of(uid: str, digest: str) -> str:
    """Return the turn id that is stored for the capture of a shared version; it identifies the version."""
    return f"shared {uid} {digest}"


async def of_project(database: Database, project_id: str) -> list[Share]:
    """Return the memories of a project that were ever shared, withdrawn ones included."""
    rows = await database.rows(
        "SELECT memory_id, uid, withdrawn_at, statement, base FROM shares WHERE project_id = ? ORDER BY memory_id",
        (project_id,),
    )
    return [Share(**dict(row) | {"base": tuple(json.loads(row["base"]))}) for row in rows]


async def choose(tx: aiosqlite.Connection, memory_id: int, uid: str, project_id: str, rule: str = "") -> None:
    """Mark a memory as shared. A withdrawn memory is shared again only if a person chose it (``rule`` is "")."""
    named = "DO UPDATE SET withdrawn_at = NULL, rule = '' WHERE excluded.rule = ''"
    await tx.execute(
        "INSERT INTO shares (memory_id, uid, project_id, rule, chosen_at) VALUES (?, ?, ?, ?, ?)"  # noqa: S608
        f" ON CONFLICT (memory_id) {named} ON CONFLICT (uid) {named}",
        (memory_id, uid, project_id, rule, time()),
    )


async def withdraw(tx: aiosqlite.Connection, memory_ids: Iterable[int]) -> None:
    """Stop sharing memories, including those that a sharing rule selected."""
    ids = list(memory_ids)
    await tx.execute(
        f"UPDATE shares SET withdrawn_at = ?, rule = '' WHERE withdrawn_at IS NULL AND memory_id IN ({qmarks(ids)})",  # noqa: S608
        (time(), *ids),
    )


async def written(tx: aiosqlite.Connection, share: Share, statement: str, base: Iterable[str]) -> None:
    """Record which version of a memory is in Git."""
    await tx.execute(
        "UPDATE shares SET statement = ?, base = ? WHERE memory_id = ?",
        (statement, json.dumps(sorted(base)), share.memory_id),
    )


async def rules(database: Database, project_id: str) -> list[str]:
    """Return the rules that choose which memories of a project are shared."""
    rows = await database.rows("SELECT rule FROM share_rules WHERE project_id = ? ORDER BY rule", (project_id,))
    return [row["rule"] for row in rows]


async def set_rule(tx: aiosqlite.Connection, project_id: str, rule: str, *, on: bool) -> None:
    """Switch a sharing rule on or off: off withdraws the memories that the rule chose, on shares them again."""
    if on:
        await tx.execute("INSERT OR IGNORE INTO share_rules VALUES (?, ?, ?)", (project_id, rule, time()))
        await tx.execute("UPDATE shares SET withdrawn_at = NULL WHERE project_id = ? AND rule = ?", (project_id, rule))
        return
    await tx.execute("DELETE FROM share_rules WHERE project_id = ? AND rule = ?", (project_id, rule))
    await tx.execute(
        "UPDATE shares SET withdrawn_at = ? WHERE project_id = ? AND rule = ? AND withdrawn_at IS NULL",
        (time(), project_id, rule),
    )


async def by_kind(database: Database, project_id: str, kind: str) -> list[int]:
    """Return the ids of memories of a kind that the user stated or approved and that were never shared."""
    rows = await database.rows(
        "SELECT id FROM memories WHERE project_id = ? AND kind = ? AND archived_at IS NULL"  # noqa: S608 - constants
        f" AND {NO_NOTE} AND {UNQUARANTINED}"
        " AND (verified OR origin = 'user') AND id NOT IN (SELECT memory_id FROM shares) ORDER BY id",
        (project_id, kind),
        long=True,
    )
    return [row["id"] for row in rows]


async def replacements(database: Database, ids: Sequence[int]) -> dict[int, int]:
    """Return the id of the memory that finally replaced each memory by corrections or merges; its own id if none."""
    found: dict[int, int] = {}
    todo = set(ids)
    while todo:
        rows = await database.rows(
            "SELECT memory_id, replacement_id FROM memory_corrections WHERE replacement_id IS NOT NULL"  # noqa: S608
            f" AND memory_id IN ({qmarks(todo)}) UNION ALL SELECT memory_id, into_id FROM {MERGED}"
            f" WHERE memory_id IN ({qmarks(todo)})",
            (*todo, *todo),
        )
        step = {row[0]: row[1] for row in rows if row[0] != row[1]}
        todo = set(step.values()) - found.keys() - set(ids)
        found |= step
    return {one: _last(one, found) for one in ids}


def _last(one: int, found: dict[int, int]) -> int:
    seen = {one}
    while (after := found.get(one)) is not None and after not in seen:
        seen.add(after)
        one = after
    return one


async def received(tx: aiosqlite.Connection, project_id: str) -> dict[str, list[Received]]:
    """Return the versions that teammates shared with a project, by the memory's uid."""
    rows = await tx.execute_fetchall(
        "SELECT id, turn_id, status, memory_id, decided_at FROM implicit_captures"
        " WHERE project_id = ? AND extractor = ? ORDER BY id",
        (project_id, EXTRACTOR),
    )
    found: defaultdict[str, list[Received]] = defaultdict(list)
    for number, source, status, memory_id, decided_at in map(tuple, rows):
        _, uid, digest = source.split(" ")
        found[uid].append(Received(number, uid, digest, status, memory_id, decided_at))
    return found


async def trusted(database: Database) -> list[str]:
    """Return the authors that the user trusts."""
    return [row["author"] for row in await database.rows("SELECT author FROM trusted_authors ORDER BY author")]


async def trust(tx: aiosqlite.Connection, author: str, *, on: bool) -> None:
    """Record that the user trusts an author, or no longer does."""
    if on:
        await tx.execute("INSERT OR IGNORE INTO trusted_authors VALUES (?, ?)", (author, time()))
    else:
        await tx.execute("DELETE FROM trusted_authors WHERE author = ?", (author,))
