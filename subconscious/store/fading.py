"""Reads and changes the input of the decay formulas; part of this input is stored in the table ``memory_decay``."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath
from typing import Any, cast

import aiosqlite

from subconscious import decay
from subconscious.decay import Cohort, Facts
from subconscious.store import events, memories
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE
from subconscious.store.full_text import USER_WIDE
from subconscious.store.rows import qmarks
from subconscious.wire.decay import FadedMemory

SUMMARISED_FACTOR = 0.5
"""The factor for the stability of a memory that a summary covers: such a memory fades faster."""

MOST_TOUCHED = 2000
"""The maximum number of memories that one batch of turns can mark as worked on."""
ROWS_READ = 2000
"""The number of memories that one query of ``cohorts`` reads. Larger queries would make other queries wait."""
MOST_NAMES = 100
"""The maximum number of files, and of topics, of one batch of turns for which memories are searched."""

_RELATIVE = re.compile(r"^(?:\.{0,2}/)+")
"""Matches what precedes the name in "/src", "./src" and "../src". The dot of ".env" is part of the name."""

# A link to a memory counts if it starts at an active memory that is user-wide or in the same project. The time when a
# memory was restored is read from the history, because any undo can restore it.
_FACTS = """
SELECT m.id,
       max(m.said_at, m.created_at, coalesce(m.last_used_at, 0.0), coalesce(d.reset_at, 0.0),
           coalesce((SELECT max(e.at) FROM events AS e
                      WHERE e.subject = 'memory' AND e.subject_id = CAST(m.id AS TEXT)
                        AND e.before IS NOT NULL AND e.after LIKE '%"archived_at": null%'), 0.0)) AS alive_at,
       m.kind, coalesce(d.touched_at, 0.0) AS touched_at, m.uses, m.recurrence, m.pinned,
       coalesce(d.importance, 'normal') AS importance,
       (SELECT count(*) FROM memory_corrections WHERE memory_id = m.id) AS corrected,
       (SELECT count(*) FROM memory_corrections WHERE replacement_id = m.id) AS replaced,
       (SELECT count(*) FROM surface_outcomes WHERE memory_id = m.id AND used) AS drawn_on,
       (SELECT group_concat(l.type) FROM memory_links AS l JOIN memories AS s ON s.id = l.source_id
         WHERE l.target_id = m.id AND l.status = 'active' AND s.archived_at IS NULL
           AND (s.project_id IS NULL OR s.project_id IS m.project_id)) AS links
  FROM memories AS m LEFT JOIN memory_decay AS d ON d.memory_id = m.id
"""

NO_CITATIONS = frozenset({"SUPERSEDES", "CONTRADICTS", "CONSOLIDATES"})
"""Link types that don't count as a citation of the linked memory."""


def _facts_from(
    alive_at: float,
    kind: str,
    touched_at: float,
    uses: int,
    recurrence: int,
    pinned: int,
    importance: str,
    corrected: int,
    replaced: int,
    drawn_on: int,
    linked: str | None,
) -> Facts:
    """Return the decay input of a memory from the columns of its row, except the id."""
    links = linked.split(",") if linked else []
    gathered = SUMMARISED_FACTOR if "CONSOLIDATES" in links else 1.0
    return Facts(
        kind=kind,
        alive_at=alive_at,
        touched_at=touched_at,
        uses=uses,
        recurrence=recurrence,
        citations=sum(link not in NO_CITATIONS for link in links),
        superseded="SUPERSEDES" in links,
        pinned=bool(pinned),
        importance=importance,
        stability=gathered * decay.stability(corrected, replaced, drawn_on + recurrence - 1),
    )


async def facts(database: Database, ids: Sequence[int]) -> dict[int, Facts]:
    """Return the decay input of memories, by id; ids without a memory are skipped."""
    rows = await database.rows(f"{_FACTS} WHERE m.id IN ({qmarks(ids)})", ids)
    return {row["id"]: _facts_from(*row[1:]) for row in rows}


# The plus prevents the use of an index on archived_at: SQLite would then sort all memories, with their facts, per page.
_PAGE = (
    f"{_FACTS} WHERE +m.archived_at IS NULL AND m.{NO_NOTE} AND m.id > ? AND (? IS NULL OR m.project_id = ?)"
    " ORDER BY m.id LIMIT ?"
)


async def page(database: Database, after: int, limit: int, project_id: str | None = None) -> dict[int, Facts]:
    """Return the decay input of active memories with an id above ``after``, ordered by id; in one project or in all.

    Copies of Claude's own notes are left out.
    """
    rows = await database.rows(_PAGE, (after, project_id, project_id, limit))
    return {row["id"]: _facts_from(*row[1:]) for row in rows}


async def cohorts(database: Database, project_id: str | None = None) -> list[Cohort]:
    """Return all memories that ``page`` would return, in one project or in all, as groups with the same decay input.

    Only the times ``alive_at`` differ within a group.
    """
    members: dict[tuple[Any, ...], list[tuple[float, int]]] = defaultdict(list)
    after = 0
    while rows := await database.rows(_PAGE, (after, project_id, project_id, ROWS_READ)):
        for row in rows:
            members[row[2:]].append((row[1], row[0]))
        after = rows[-1][0]
    return [Cohort(_facts_from(0.0, *shared), sorted(found)) for shared, found in members.items()]


async def touch(tx: aiosqlite.Connection, ids: Collection[int], at: float) -> None:
    """Record that a session worked on the files or topics of memories at the time ``at``.

    This is an observation, like a use, so no event is recorded.
    """
    await tx.executemany(
        "INSERT INTO memory_decay (memory_id, touched_at) VALUES (?, ?)"
        " ON CONFLICT (memory_id) DO UPDATE SET touched_at = max(touched_at, excluded.touched_at)",
        [(memory_id, at) for memory_id in ids],
    )


async def about(database: Database, project_id: str, files: Collection[str], topics: Collection[str]) -> list[int]:
    """Return ids of active memories, of a project or user-wide, that name one of ``files`` or have a tag in ``topics``.

    The full-text index finds the candidates. A file matches if its path ends with a path that the memory names.
    """
    names = [PurePath(file).name for file in files]
    match = _either(("tags", topics), ("files", names))
    if not match:
        return []
    rows = await database.rows(
        "SELECT memories.id, tags, files FROM memories WHERE id IN (SELECT rowid FROM memories_fts"
        " WHERE memories_fts MATCH ? LIMIT ?)",
        (f'project : ("{project_id}" OR "{USER_WIDE}") AND ({match})', MOST_TOUCHED),
    )
    known, paths = {topic.casefold() for topic in topics}, [f"/{file}" for file in files]
    return [row["id"] for row in rows if _is_about(row, known, paths)]


def _either(*columns: tuple[str, Iterable[str]]) -> str:
    """Return a full-text expression for rows that have, in any column, one of that column's texts; "" without texts."""
    found = []
    for column, texts in columns:
        phrases = [_phrase(text) for text in texts if any(sign.isalnum() for sign in text)]
        if phrases:
            found.append(f"{column} : ({' OR '.join(phrases[:MOST_NAMES])})")
    return " OR ".join(found)


def _phrase(text: str) -> str:
    """Return a text quoted for a full-text expression. A lone surrogate, which transcripts may contain, is replaced."""
    return '"' + text.replace('"', " ").replace("\0", " ").encode("utf-8", "replace").decode() + '"'


def _is_about(row: sqlite3.Row, topics: Collection[str], paths: Sequence[str]) -> bool:
    if any(tag.casefold() in topics for tag in json.loads(row["tags"])):
        return True
    named = ["/" + _RELATIVE.sub("", str(file)) for file in json.loads(row["files"])]
    return any(path.endswith(file) for path in paths for file in named)


async def set_importance(tx: aiosqlite.Connection, memory_id: int, importance: str, actor: str, act: str = "") -> None:
    """Set the importance of a memory."""
    await _change(tx, memory_id, "importance", importance, actor, act)


async def clear_deprecated(tx: aiosqlite.Connection, ids: Sequence[int], actor: str, act: str = "") -> None:
    """Set the importance of restored memories from "deprecated" to "normal", or they would soon be archived again."""
    rows = await tx.execute_fetchall(
        "SELECT memory_id FROM memory_decay WHERE importance = 'deprecated'"  # noqa: S608
        f" AND memory_id IN ({qmarks(ids)})",
        ids,
    )
    for row in list(rows):
        await set_importance(tx, row[0], "normal", actor, act)


async def reset(tx: aiosqlite.Connection, memory_id: int, at: float, actor: str, act: str = "") -> None:
    """Restart a memory's decay from ``at``."""
    await _change(tx, memory_id, "reset_at", at, actor, act)


async def _change(tx: aiosqlite.Connection, memory_id: int, column: str, value: Any, actor: str, act: str) -> None:
    """Update one column and record the event, unless the value is the same."""
    await tx.execute("INSERT OR IGNORE INTO memory_decay (memory_id) VALUES (?)", (memory_id,))
    rows = list(await tx.execute_fetchall(f"SELECT {column} FROM memory_decay WHERE memory_id = ?", (memory_id,)))  # noqa: S608
    before = rows[0][0]
    if before == value:
        return
    await tx.execute(f"UPDATE memory_decay SET {column} = ? WHERE memory_id = ?", (value, memory_id))  # noqa: S608
    await events.record(
        tx, column, "decay", memory_id, actor=actor, before={column: before}, after={column: value}, act=act
    )


async def set_pinned(tx: aiosqlite.Connection, memory_id: int, pinned: bool, actor: str, act: str = "") -> bool:
    """Pin or unpin a memory; return False if nothing had to change."""
    known = await memories.require(tx, memory_id)
    if known.pinned == pinned:
        return False
    await tx.execute("UPDATE memories SET pinned = ? WHERE id = ?", (int(pinned), memory_id))
    await events.record(
        tx,
        "pin" if pinned else "unpin",
        "memory",
        memory_id,
        actor=actor,
        before={"pinned": int(not pinned)},
        after={"pinned": int(pinned)},
        act=act,
    )
    return True


FADED = "faded"
"""How the reason of an archive event begins if the memory was archived because it had faded."""

# Finds recently archived memories by their index, then those among them that faded. Memories in quarantine are left
# out: only the review shows them.
_FADED = """
FROM memories AS m WHERE m.archived_at >= ?1 AND (?2 IS NULL OR m.project_id = ?2 OR m.project_id IS NULL)
 AND NOT m.unconfirmed
 AND NOT EXISTS (SELECT 1 FROM implicit_captures WHERE quarantined AND memory_id = m.id)
 AND EXISTS (SELECT 1 FROM events AS e WHERE e.subject = 'memory' AND e.subject_id = CAST(m.id AS TEXT)
  AND e.action = 'archive' AND e.reason LIKE 'faded%' AND e.at >= m.archived_at - 60)
"""


async def had_faded(tx: aiosqlite.Connection, memory_id: int) -> bool:
    """Whether a memory was last archived because it had faded, and not by a person."""
    rows = await tx.execute_fetchall(
        "SELECT reason LIKE ? FROM events WHERE subject = 'memory' AND subject_id = ? AND action = 'archive'"
        " ORDER BY id DESC LIMIT 1",
        (f"{FADED}%", str(memory_id)),
    )
    return any(row[0] for row in rows)


async def count_faded(database: Database, project_id: str, since: float) -> int:
    """Return how many memories of a project, and user-wide ones, faded since a time and are still archived."""
    rows = await database.rows(f"SELECT count(*) {_FADED}", (since, project_id), long=True)
    return int(rows[0][0])


async def faded(database: Database, project_id: str | None, since: float, limit: int) -> list[FadedMemory]:
    """Return the memories that faded since a time, latest first: id, kind, summary, time and reason."""
    rows = await database.rows(
        "SELECT m.id, m.kind, m.summary, m.archived_at, (SELECT e.reason FROM events AS e"  # noqa: S608
        " WHERE e.subject = 'memory' AND e.subject_id = CAST(m.id AS TEXT) AND e.action = 'archive'"
        f" ORDER BY e.id DESC LIMIT 1) AS reason {_FADED} ORDER BY m.archived_at DESC, m.id DESC LIMIT ?3",
        (since, project_id, limit),
    )
    return [cast("FadedMemory", dict(row)) for row in rows]
