"""Memories: stored once, archived and brought back whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from time import time

import aiosqlite

from subconscious.decay import surer
from subconscious.errors import NotFoundError
from subconscious.model import Memory, Origin
from subconscious.store import events, full_text
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE, UNCONFIRMED, Filter, each_scope, where
from subconscious.store.numbers import free_number
from subconscious.store.rows import alter, insertion, marks, memory_from, stored

NEIGHBOURS = 2000
"""Memories that are looked at around one query's hits."""


async def insert(
    tx: aiosqlite.Connection, memory: Memory, actor: str = "daemon", act: str = "", number: int | None = None
) -> Memory:
    """Store a memory, its full text and its event; ``memory.id`` is ignored, the stored one is returned.

    ``number`` is that of the capture that it is made of: the memory has the same.
    """
    kept = replace(memory, id=await free_number(tx, "memories", number))
    await tx.execute(*insertion("memories", stored(kept)))
    await full_text.reindex(tx, kept)
    await events.record(
        tx, "create", "memory", kept.id, actor=actor, session_id=kept.session_id, after=stored(kept), act=act
    )
    return kept


WORDED = (
    *("kind", "category", "summary", "content", "content_hash", "rationale", "confidence", "origin", "verified"),
    *("tags", "files", "project_id", "scope"),
)
"""What a memory that is made anew of the same capture takes from it."""


async def revive(tx: aiosqlite.Connection, memory: Memory, number: int, actor: str, reason: str) -> Memory | None:
    """Bring the archived memory of this number back, worded as ``memory``; None unless both are of one statement.

    An approval that was undone and made again gives the same memory, under the same number.
    """
    known = await found(tx, number)
    place = (memory.turn_id, memory.evidence)
    if known is None or known.archived_at is None or (known.turn_id, known.evidence) != place:
        return None
    worded = {name: value for name, value in stored(memory).items() if name in WORDED}
    values = worded | {"archived_at": None, "unconfirmed": 0, "embedding_status": "pending"}
    before, after = await alter(tx, "memories", number, values)
    await events.record(tx, "unarchive", "memory", number, actor=actor, reason=reason, before=before, after=after)
    kept = await held(tx, number)
    await full_text.reindex(tx, kept)
    return kept


async def get(database: Database, memory_id: int) -> Memory:
    """One memory, archived or not. Raises NotFoundError."""
    rows = await database.rows("SELECT * FROM memories WHERE id = ?", (memory_id,))
    if not rows:
        raise NotFoundError(f"there is no memory {memory_id}", "`subconscious list` shows those that exist")
    return memory_from(rows[0])


async def held(tx: aiosqlite.Connection, memory_id: int) -> Memory:
    """One memory as the running transaction sees it. Raises NotFoundError."""
    memory = await found(tx, memory_id)
    if memory is None:
        raise NotFoundError(f"there is no memory {memory_id}", "`subconscious list` shows those that exist")
    return memory


async def found(tx: aiosqlite.Connection, memory_id: int) -> Memory | None:
    """One memory as the running transaction sees it, unless it was purged."""
    rows = await tx.execute_fetchall("SELECT * FROM memories WHERE id = ?", (memory_id,))
    return next((memory_from(row) for row in rows), None)


async def get_many(database: Database, ids: Sequence[int], which: Filter | None = None) -> dict[int, Memory]:
    """Those of ``ids`` that exist, and that ``which`` means, by id."""
    condition, values = where(which) if which is not None else ("TRUE", ())
    rows = await database.rows(
        # By id, and not by an index that has the whole project.
        f"SELECT * FROM memories NOT INDEXED WHERE id IN ({marks(ids)}) AND {condition}",  # noqa: S608
        (*ids, *values),
        long=which is not None and which.narrow,
    )
    return {row["id"]: memory_from(row) for row in rows}


async def ids_of(database: Database, which: Filter) -> list[int]:
    """The ids of all that are meant."""
    condition, values = where(which)
    rows = await database.rows(f"SELECT id FROM memories WHERE {condition}", values, long=True)  # noqa: S608
    return [row[0] for row in rows]


async def listing(database: Database, which: Filter, limit: int, offset: int = 0) -> tuple[list[Memory], int]:
    """A page of memories, latest first, and how many there are in all."""
    total = 0
    for condition, values in each_scope(which):
        rows = await database.rows(f"SELECT count(*) FROM memories WHERE {condition}", values)  # noqa: S608
        total += rows[0][0]
    return await latest(database, which, limit, offset), total


async def latest(database: Database, which: Filter, limit: int, offset: int = 0) -> list[Memory]:
    """A page of memories, latest first. Each scope comes in the order of an index: nothing is sorted."""
    scopes = each_scope(which)
    one = " UNION ALL ".join(f"SELECT * FROM memories WHERE {condition}" for condition, _ in scopes)  # noqa: S608
    rows = await database.rows(
        f"{one} ORDER BY said_at DESC, id DESC LIMIT ? OFFSET ?",
        (*(value for _, values in scopes for value in values), limit, offset),
        long=which.project_id is None or which.narrow or which.archived,
    )
    return [memory_from(row) for row in rows]


async def containing(database: Database, which: Filter, words: Sequence[str], limit: int) -> list[Memory]:
    """Memories whose text contains every one of ``words``, by plain comparison."""
    condition, values = where(which)
    text = "instr(lower(summary || ' ' || content || ' ' || tags || ' ' || files), lower(?)) > 0"
    all_words = "".join(f" AND {text}" for _ in words)
    rows = await database.rows(
        f"SELECT * FROM memories WHERE {condition}{all_words} ORDER BY said_at DESC LIMIT ?",  # noqa: S608
        (*values, *words, limit),
    )
    return [memory_from(row) for row in rows]


async def same_wording(tx: aiosqlite.Connection, memory: Memory) -> Memory | None:
    """The active memory of the same scope, kind and wording; a note of Claude's is none, for it goes with its file."""
    rows = list(
        await tx.execute_fetchall(
            "SELECT * FROM memories WHERE content_hash = ? AND kind = ? AND project_id IS ?"  # noqa: S608
            " AND archived_at IS NULL"
            f" AND {NO_NOTE}",
            (memory.content_hash, memory.kind, memory.project_id),
        )
    )
    return memory_from(rows[0]) if rows else None


async def recur(
    tx: aiosqlite.Connection, memory: Memory, said_at: float, session_id: str | None, origin: Origin | None = None
) -> bool:
    """The same was said again: it recurs, is a little surer, and as fresh as its latest saying.

    A session counts once, however often it says it. Not if it was said by a less trusted ``origin``: a file that
    repeats a person's words lends them nothing. Returns whether it was counted.
    """
    if origin is not None and origin.distrust > memory.origin.distrust:
        told = f"said again by a less trusted origin ({origin})"
        await events.record(tx, "repeat", "memory", memory.id, session_id=session_id, reason=told)
        return False
    counts = session_id is None or session_id not in await sessions_of(tx, memory.id)
    values: dict[str, float] = {"said_at": max(memory.said_at, said_at)}
    if counts:
        values |= {"recurrence": memory.recurrence + 1, "confidence": surer(memory.confidence)}
    before, after = await alter(tx, "memories", memory.id, values)
    if after:
        await events.record(tx, "recur", "memory", memory.id, session_id=session_id, before=before, after=after)
    return counts


async def sessions_of(tx: aiosqlite.Connection, memory_id: int) -> set[str]:
    """The sessions that said a memory, or what was merged into it."""
    rows = await tx.execute_fetchall(
        "WITH same (id) AS (SELECT ?1 UNION"
        " SELECT memory_id FROM memory_merges WHERE into_id = ?1 AND undone_at IS NULL)"
        " SELECT session_id FROM memories WHERE id IN same UNION"
        " SELECT session_id FROM implicit_captures WHERE memory_id IN same",
        (memory_id,),
    )
    return {row[0] for row in rows if row[0]}


async def violated(tx: aiosqlite.Connection, memory_id: int, session_id: str) -> None:
    """Note that a person had to say again what their session had been given; once a session."""
    known = await tx.execute_fetchall(
        "SELECT 1 FROM events WHERE subject = 'memory' AND subject_id = ? AND action = 'violated' AND session_id = ?",
        (str(memory_id), session_id),
    )
    if not list(known):
        reason = "the session had been given it, and the user said it again"
        await events.record(tx, "violated", "memory", memory_id, session_id=session_id, reason=reason)


async def recur_more(tx: aiosqlite.Connection, memory: Memory, reason: str, times: int) -> None:
    """It was said that often after all."""
    await recur_less(tx, memory, reason, -times)


async def recur_less(
    tx: aiosqlite.Connection, memory: Memory, reason: str = "an approval was undone", times: int = 1
) -> int:
    """It was not said again after all; more often than it was, with less than no ``times``.

    Returns how often it was taken off: what is in use was said once at least.
    """
    fewer = max(1, memory.recurrence - times)
    if fewer == memory.recurrence:
        return 0
    values = {"recurrence": fewer, "confidence": surer(memory.confidence, fewer - memory.recurrence)}
    before, after = await alter(tx, "memories", memory.id, values)
    await events.record(tx, "recur", "memory", memory.id, actor="user", reason=reason, before=before, after=after)
    return memory.recurrence - fewer


async def made_by(tx: aiosqlite.Connection, session_id: str) -> list[int]:
    """The memories that a session was the first to bring, archived or not."""
    rows = await tx.execute_fetchall("SELECT id FROM memories WHERE session_id = ? ORDER BY id", (session_id,))
    return [row[0] for row in rows]


async def archive(tx: aiosqlite.Connection, memory: Memory, actor: str, reason: str, act: str = "") -> bool:
    """Take a memory out of every active index; everything else about it stays. False if it was out."""
    now = time()
    done = await tx.execute(
        "UPDATE memories SET archived_at = ? WHERE id = ? AND archived_at IS NULL", (now, memory.id)
    )
    if not done.rowcount:
        return False
    await full_text.reindex(tx, replace(memory, archived_at=now))
    await events.record(
        tx,
        "archive",
        "memory",
        memory.id,
        actor=actor,
        reason=reason,
        before={"archived_at": None},
        after={"archived_at": now},
        act=act,
    )
    return True


async def unarchive(tx: aiosqlite.Connection, memory: Memory, actor: str, reason: str, act: str = "") -> bool:
    """Bring an archived memory back, whole; one that was unconfirmed is confirmed by that. False if it was active."""
    back = {"archived_at": None, "unconfirmed": 0}
    before, after = await alter(tx, "memories", memory.id, back)
    if "archived_at" not in after:
        return False
    await full_text.reindex(tx, replace(memory, archived_at=None))
    await events.record(
        tx,
        "unarchive",
        "memory",
        memory.id,
        actor=actor,
        reason=reason,
        before=before,
        after=after,
        act=act,
    )
    return True


async def vouch(tx: aiosqlite.Connection, memory_id: int, confidence: float) -> None:
    """A person stands for a memory: it is verified, and as sure as they are."""
    before, after = await alter(tx, "memories", memory_id, {"verified": 1, "confidence": confidence})
    await events.record(tx, "vouched", "memory", memory_id, actor="user", before=before, after=after)


async def touch(tx: aiosqlite.Connection, ids: Sequence[int], at: float) -> None:
    """Count a use: what was recalled is alive."""
    if not ids:
        return
    await tx.execute(
        f"UPDATE memories SET uses = uses + 1, last_used_at = ? WHERE id IN ({marks(ids)})",  # noqa: S608
        (at, *ids),
    )


async def in_sessions(database: Database, ids: Sequence[int], project_id: str | None) -> list[list[int]]:
    """The active memories of the sessions that brought ``ids``, each session's in the order in which they were said.

    Of one project and the user's own, as everything that is recalled; of every project without one.
    """
    rows = await database.rows(
        "SELECT session_id, id FROM memories WHERE archived_at IS NULL AND session_id IN"  # noqa: S608
        f" (SELECT session_id FROM memories WHERE id IN ({marks(ids)}))"
        " AND (? IS NULL OR project_id = ? OR project_id IS NULL) ORDER BY session_id, said_at, id LIMIT ?",
        (*ids, project_id, project_id, NEIGHBOURS),
    )
    return [[row[1] for row in session] for _, session in groupby(rows, key=itemgetter(0))]


async def within(database: Database, ids: Sequence[int], projects: Sequence[str]) -> set[int]:
    """Those of ``ids`` that are active and may be recalled in ``projects`` (empty: all): theirs and the user's own."""
    scope = f" AND (project_id IS NULL OR project_id IN ({marks(projects)}))" if projects else ""
    rows = await database.rows(
        f"SELECT id FROM memories NOT INDEXED WHERE id IN ({marks(ids)}) AND archived_at IS NULL{scope}",  # noqa: S608
        (*ids, *projects),
    )
    return {row["id"] for row in rows}


async def counts(database: Database, project_id: str | None) -> dict[str, int]:
    """How many memories are active, archived, unconfirmed, and active in one project."""
    rows = await database.rows(
        "SELECT count(*) FILTER (WHERE archived_at IS NULL) AS active,"  # noqa: S608
        " count(*) FILTER (WHERE archived_at IS NOT NULL AND NOT unconfirmed) AS archived,"
        f" count(*) FILTER (WHERE {UNCONFIRMED}) AS unconfirmed,"
        " count(*) FILTER (WHERE archived_at IS NULL AND project_id IS ?) AS project FROM memories",
        (project_id,),
    )
    return dict(rows[0])


async def core(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Pinned memories and lessons of a project and of the user: what a session starts with first."""
    one = (
        "SELECT * FROM memories WHERE archived_at IS NULL AND (pinned OR kind = 'lesson') AND project_id IS ?"  # noqa: S608
        f" AND {NO_NOTE}"
    )
    rows = await database.rows(
        f"{one} UNION ALL {one} ORDER BY pinned DESC, said_at DESC, id DESC LIMIT ?", (project_id, None, limit)
    )
    return [memory_from(row) for row in rows]


LEADS = (
    "archived_at IS NULL AND (pinned OR recurrence > 1 OR kind IN ('lesson', 'preference', 'pattern')"
    " OR extractor = 'observed-1')"
)
"""SQL: what may lead a session's start, worded as in the index of it."""


async def leading(database: Database, project_id: str, limit: int) -> list[Memory]:
    """What may lead a session's start: pinned, a rule, a way out, or said more than once."""
    one = f"SELECT * FROM memories WHERE {LEADS} AND {NO_NOTE} AND project_id IS ?"  # noqa: S608
    rows = await database.rows(
        f"{one} UNION ALL {one} ORDER BY pinned DESC, recurrence DESC, said_at DESC, id DESC LIMIT ?",
        (project_id, None, limit),
    )
    return [memory_from(row) for row in rows]


async def bindable(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return what tool calls of a project showed: ways out, habits and repairs, the most often seen first."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE {LEADS} AND project_id = ?"  # noqa: S608
        " AND (extractor IN ('observed-1', 'practised-1') OR content LIKE '% failed%due to formatting%')"
        " ORDER BY recurrence DESC, said_at DESC, id DESC LIMIT ?",
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def recent(database: Database, project_id: str, limit: int) -> list[Memory]:
    """The latest active memories of a project and of the user, without Claude's own notes."""
    return await latest(database, Filter(project_id, notes=False), limit)


async def of_session(database: Database, session_id: str) -> list[Memory]:
    """What a session added or repeated, and is still active."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE archived_at IS NULL AND id IN"
        " (SELECT memory_id FROM implicit_captures WHERE session_id = ? AND memory_id IS NOT NULL) ORDER BY id",
        (session_id,),
    )
    return [memory_from(row) for row in rows]


async def active_ids(database: Database, project_id: str) -> list[int]:
    """A project's active memories."""
    rows = await database.rows(
        "SELECT id FROM memories WHERE archived_at IS NULL AND project_id = ? ORDER BY id", (project_id,)
    )
    return [row[0] for row in rows]
