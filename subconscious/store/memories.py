"""Memories: insert, read, archive, restore."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from time import time
from typing import Any, cast

import aiosqlite

from subconscious.clients import CLAUDE_CODE, VARIABLE
from subconscious.decay import adjusted_confidence
from subconscious.domain.errors import NotFoundError, OnlyCaptureError
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import OBSERVED_OFTEN, OBSERVED_ONCE, Memory, Origin
from subconscious.store import events, full_text
from subconscious.store.capture_rows import SHOWN_STATUS
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE, UNCONFIRMED, Filter, each_scope, where
from subconscious.store.rows import column_values, insertion, memory_from, qmarks, update_row
from subconscious.store.shared_ids import free_id
from subconscious.wire.daemon import MemoryCounts

NEIGHBOURS = 2000
"""The maximum number of memories that ``by_session`` reads."""

CAPTURE_STATE = f"SELECT {SHOWN_STATUS} AS status, memory_id FROM implicit_captures WHERE id = ?"  # noqa: S608


async def insert(
    tx: aiosqlite.Connection,
    memory: Memory,
    actor: str = "daemon",
    act: str = "",
    number: int | None = None,
    reason: str = "",
) -> Memory:
    """Store a memory, its full text and its event; return it with its id (``memory.id`` is ignored).

    ``number`` is the id of the memory's capture, if there is one; the memory gets the same id.
    """
    agent = await _agent_of(tx, memory)
    kept = replace(memory, id=await free_id(tx, "memories", number), agent=agent)
    await tx.execute(*insertion("memories", column_values(kept)))
    await full_text.reindex(tx, kept)
    await events.record(
        tx,
        "create",
        "memory",
        kept.id,
        actor=actor,
        session_id=kept.session_id,
        reason=reason,
        after=column_values(kept),
        act=act,
    )
    return kept


async def _agent_of(tx: aiosqlite.Connection, memory: Memory) -> str:
    """Return the agent in which a memory was stated: its ``agent``, or its session's if that is Claude Code."""
    if memory.agent != CLAUDE_CODE or not memory.session_id:
        return memory.agent
    sql = "SELECT json_extract(options, ?) FROM sessions WHERE id = ?"
    async with tx.execute(sql, (f"$.{VARIABLE}", memory.session_id)) as rows:
        row = await rows.fetchone()
    return str(row[0]) if row and row[0] else CLAUDE_CODE


REVIVED_COLUMNS = (
    *("kind", "category", "summary", "content", "content_hash", "rationale", "confidence", "origin", "verified"),
    *("tags", "files", "project_id", "scope"),
)
"""Columns that ``revive`` sets to the values of the new version."""


async def revive(tx: aiosqlite.Connection, memory: Memory, number: int, actor: str, reason: str) -> Memory | None:
    """Restore the archived memory with the id ``number``, with the wording of ``memory``; return the restored memory.

    Return None if that memory is missing or not archived, or if the two memories come from different statements. So an
    approval that is undone and then repeated restores the same memory, with the same id.
    """
    known = await find(tx, number)
    place = (memory.turn_id, memory.evidence)
    if known is None or known.archived_at is None or (known.turn_id, known.evidence) != place:
        return None
    worded = {name: value for name, value in column_values(memory).items() if name in REVIVED_COLUMNS}
    values = worded | {"archived_at": None, "unconfirmed": 0, "embedding_status": "pending"}
    before, after = await update_row(tx, "memories", number, values)
    await events.record(tx, "unarchive", "memory", number, actor=actor, reason=reason, before=before, after=after)
    kept = await require(tx, number)
    await full_text.reindex(tx, kept)
    return kept


async def get(database: Database, memory_id: int) -> Memory:
    """Return one memory, archived or not. Raises NotFoundError if there is none with this id."""
    rows = await database.rows("SELECT * FROM memories WHERE id = ?", (memory_id,))
    if not rows:
        raise _not_found(memory_id, await database.rows(CAPTURE_STATE, (memory_id,)))
    return memory_from(rows[0])


async def require(tx: aiosqlite.Connection, memory_id: int) -> Memory:
    """Return one memory as the running transaction sees it. Raises NotFoundError if there is none with this id."""
    memory = await find(tx, memory_id)
    if memory is None:
        raise _not_found(memory_id, await tx.execute_fetchall(CAPTURE_STATE, (memory_id,)))
    return memory


def _not_found(memory_id: int, captures: Iterable[Any]) -> NotFoundError:
    """Return the error for an id that no memory has. A capture may have this id: both use one sequence of ids."""
    for row in captures:
        return OnlyCaptureError(memory_id, row["status"], row["memory_id"])
    return NotFoundError(f"there is no memory {memory_id}", "`subconscious list` shows those that exist")


async def find(tx: aiosqlite.Connection, memory_id: int) -> Memory | None:
    """Return one memory as the running transaction sees it; None if it was purged."""
    rows = await tx.execute_fetchall("SELECT * FROM memories WHERE id = ?", (memory_id,))
    return next((memory_from(row) for row in rows), None)


async def get_many(database: Database, ids: Sequence[int], which: Filter | None = None) -> dict[int, Memory]:
    """Return the memories with these ids that match ``which``, by id; other ids are left out."""
    condition, values = where(which) if which is not None else ("TRUE", ())
    rows = await database.rows(
        # Look up by id: the planner would prefer the index of the whole project.
        f"SELECT * FROM memories NOT INDEXED WHERE id IN ({qmarks(ids)}) AND {condition}",  # noqa: S608
        (*ids, *values),
        long=which is not None and which.narrow,
    )
    return {row["id"]: memory_from(row) for row in rows}


async def ids_of(database: Database, which: Filter) -> list[int]:
    """Return the ids of all memories that match ``which``."""
    condition, values = where(which)
    rows = await database.rows(f"SELECT id FROM memories WHERE {condition}", values, long=True)  # noqa: S608
    return [row[0] for row in rows]


async def listing(database: Database, which: Filter, limit: int, offset: int = 0) -> tuple[list[Memory], int]:
    """Return a page of the memories that match ``which``, latest first, and the total number of matches."""
    return await latest(database, which, limit, offset), await count(database, which)


async def count(database: Database, which: Filter) -> int:
    """Return how many memories match ``which``."""
    total = 0
    for condition, values in each_scope(which):
        rows = await database.rows(f"SELECT count(*) FROM memories WHERE {condition}", values)  # noqa: S608
        total += rows[0][0]
    return total


async def latest(database: Database, which: Filter, limit: int, offset: int = 0) -> list[Memory]:
    """Return a page of memories, latest first.

    Project memories and user-wide ones are each read in the order of an index, so nothing is sorted.
    """
    scopes = each_scope(which)
    one = " UNION ALL ".join(f"SELECT * FROM memories WHERE {condition}" for condition, _ in scopes)  # noqa: S608
    rows = await database.rows(
        f"{one} ORDER BY said_at DESC, id DESC LIMIT ? OFFSET ?",
        (*(value for _, values in scopes for value in values), limit, offset),
        long=which.project_id is None or which.narrow or which.archived,
    )
    return [memory_from(row) for row in rows]


async def containing(database: Database, which: Filter, words: Sequence[str], limit: int) -> list[Memory]:
    """Return memories whose text contains all of ``words``, found without the full-text index."""
    condition, values = where(which)
    text = "instr(lower(summary || ' ' || content || ' ' || tags || ' ' || files), lower(?)) > 0"
    all_words = "".join(f" AND {text}" for _ in words)
    rows = await database.rows(
        f"SELECT * FROM memories WHERE {condition}{all_words} ORDER BY said_at DESC LIMIT ?",  # noqa: S608
        (*values, *words, limit),
    )
    return [memory_from(row) for row in rows]


async def same_wording(tx: aiosqlite.Connection, memory: Memory) -> Memory | None:
    """Return the active memory with the same project, kind and content hash as ``memory``; None if there is none.

    Copies of Claude's notes don't count, because they are deleted with their files.
    """
    rows = list(
        await tx.execute_fetchall(
            "SELECT * FROM memories WHERE content_hash = ? AND kind = ? AND project_id IS ?"  # noqa: S608
            " AND archived_at IS NULL"
            f" AND {NO_NOTE}",
            (memory.content_hash, memory.kind, memory.project_id),
        )
    )
    return memory_from(rows[0]) if rows else None


async def restate(
    tx: aiosqlite.Connection, memory: Memory, said_at: float, session_id: str | None, origin: Origin | None = None
) -> bool:
    """Record that a memory was stated again: its confidence rises, and its date becomes the date of the repetition.

    Return whether the repetition was counted. Each session counts once. A repetition by a less trusted ``origin``
    doesn't count: a file that repeats a person's words doesn't confirm them.
    """
    if origin is not None and origin.distrust > memory.origin.distrust:
        reason = f"said again by a less trusted origin ({origin})"
        await events.record(tx, "repeat", "memory", memory.id, session_id=session_id, reason=reason)
        return False
    counts = session_id is None or session_id not in await sessions_of(tx, memory.id)
    values: dict[str, float] = {"said_at": max(memory.said_at, said_at)}
    if counts:
        values |= {"recurrence": memory.recurrence + 1, "confidence": adjusted_confidence(memory.confidence)}
    before, after = await update_row(tx, "memories", memory.id, values)
    if after:
        await events.record(tx, "recur", "memory", memory.id, session_id=session_id, before=before, after=after)
    return counts


async def relabel(
    tx: aiosqlite.Connection, memory: Memory, kind: str, tags: Sequence[str], actor: str, reason: str, act: str = ""
) -> bool:
    """Change the kind and the tags of a memory; return whether anything changed."""
    new = replace(memory, kind=kind, category=KINDS[kind].category, tags=tuple(tags))
    values = {name: value for name, value in column_values(new).items() if name in ("kind", "category", "tags")}
    before, after = await update_row(tx, "memories", memory.id, values)
    if after:
        await full_text.reindex(tx, new)
        await events.record(
            tx, "relabel", "memory", memory.id, actor=actor, reason=reason, before=before, after=after, act=act
        )
    return bool(after)


async def sessions_of(tx: aiosqlite.Connection, memory_id: int) -> set[str]:
    """Return the ids of the sessions that stated a memory, or stated another memory that was merged into it."""
    rows = await tx.execute_fetchall(
        "WITH same (id) AS (SELECT ?1 UNION"
        " SELECT memory_id FROM memory_merges WHERE into_id = ?1 AND undone_at IS NULL)"
        " SELECT session_id FROM memories WHERE id IN same UNION"
        " SELECT session_id FROM implicit_captures WHERE memory_id IN same",
        (memory_id,),
    )
    return {row[0] for row in rows if row[0]}


async def record_violation(tx: aiosqlite.Connection, memory_id: int, session_id: str) -> None:
    """Record that the user had to repeat a memory that the session had received; a session counts once."""
    known = await tx.execute_fetchall(
        "SELECT 1 FROM events WHERE subject = 'memory' AND subject_id = ? AND action = 'violated' AND session_id = ?",
        (str(memory_id), session_id),
    )
    if not list(known):
        reason = "it was shown to the session, and the user had to say it again"
        await events.record(tx, "violated", "memory", memory_id, session_id=session_id, reason=reason)


async def add_repetitions(tx: aiosqlite.Connection, memory: Memory, reason: str, times: int) -> None:
    """Add ``times`` to a memory's number of statements (``recurrence``)."""
    await remove_repetitions(tx, memory, reason, -times)


async def remove_repetitions(
    tx: aiosqlite.Connection, memory: Memory, reason: str = "an approval was undone", times: int = 1
) -> int:
    """Subtract ``times`` from a memory's number of statements (``recurrence``), which stays at least 1.

    Return the number that was subtracted. Negative ``times`` add to the number.
    """
    fewer = max(1, memory.recurrence - times)
    if fewer == memory.recurrence:
        return 0
    values = {"recurrence": fewer, "confidence": adjusted_confidence(memory.confidence, fewer - memory.recurrence)}
    before, after = await update_row(tx, "memories", memory.id, values)
    await events.record(tx, "recur", "memory", memory.id, actor="user", reason=reason, before=before, after=after)
    return memory.recurrence - fewer


async def of_first_session(tx: aiosqlite.Connection, session_id: str) -> list[int]:
    """Return the ids of the memories that a session was the first to state, archived or not."""
    rows = await tx.execute_fetchall("SELECT id FROM memories WHERE session_id = ? ORDER BY id", (session_id,))
    return [row[0] for row in rows]


async def archive(tx: aiosqlite.Connection, memory: Memory, actor: str, reason: str, act: str = "") -> bool:
    """Archive a memory and remove it from the active indexes; return False if it was archived already."""
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
    """Restore an archived memory, and confirm it if it was unconfirmed; return False if it was active.

    If the memory is about a failure that only one session observed, it is marked as observed in several sessions: only
    memories with this mark can be listed first at a session's start, or shown with tool calls.
    """
    often = {"extractor": OBSERVED_OFTEN} if memory.extractor == OBSERVED_ONCE else {}
    back = {"archived_at": None, "unconfirmed": 0} | often
    before, after = await update_row(tx, "memories", memory.id, back)
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
    """Record that a person confirmed a memory: it becomes verified, with ``confidence``."""
    before, after = await update_row(tx, "memories", memory_id, {"verified": 1, "confidence": confidence})
    await events.record(tx, "vouched", "memory", memory_id, actor="user", before=before, after=after)


async def touch(tx: aiosqlite.Connection, ids: Sequence[int], at: float) -> None:
    """Count one use of each memory."""
    if not ids:
        return
    await tx.execute(
        f"UPDATE memories SET uses = uses + 1, last_used_at = ? WHERE id IN ({qmarks(ids)})",  # noqa: S608
        (at, *ids),
    )


async def by_session(database: Database, ids: Sequence[int], project_id: str | None) -> list[list[int]]:
    """Return, for each session that stated one of ``ids``, the ids of its active memories ordered by time.

    Only memories of the project ``project_id`` (None: of every project) and user-wide memories are returned.
    """
    rows = await database.rows(
        "SELECT session_id, id FROM memories WHERE archived_at IS NULL AND session_id IN"  # noqa: S608
        f" (SELECT session_id FROM memories WHERE id IN ({qmarks(ids)}))"
        " AND (? IS NULL OR project_id = ? OR project_id IS NULL) ORDER BY session_id, said_at, id LIMIT ?",
        (*ids, project_id, project_id, NEIGHBOURS),
    )
    return [[row[1] for row in session] for _, session in groupby(rows, key=itemgetter(0))]


async def active_within(database: Database, ids: Sequence[int], projects: Sequence[str]) -> set[int]:
    """Return which of ``ids`` belong to active memories that are user-wide or in ``projects`` (empty: all)."""
    scope = f" AND (project_id IS NULL OR project_id IN ({qmarks(projects)}))" if projects else ""
    rows = await database.rows(
        f"SELECT id FROM memories NOT INDEXED WHERE id IN ({qmarks(ids)}) AND archived_at IS NULL{scope}",  # noqa: S608
        (*ids, *projects),
    )
    return {row["id"] for row in rows}


async def counts(database: Database, project_id: str | None) -> MemoryCounts:
    """Return how many memories are active, archived and unconfirmed, and how many are active in one project."""
    rows = await database.rows(
        "SELECT count(*) FILTER (WHERE archived_at IS NULL) AS active,"  # noqa: S608
        " count(*) FILTER (WHERE archived_at IS NOT NULL AND NOT unconfirmed) AS archived,"
        f" count(*) FILTER (WHERE {UNCONFIRMED}) AS unconfirmed,"
        " count(*) FILTER (WHERE archived_at IS NULL AND project_id IS ?) AS project FROM memories",
        (project_id,),
    )
    return cast("MemoryCounts", dict(rows[0]))


async def pinned_and_lessons(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return pinned memories and lessons, of a project or user-wide: pinned memories first, then latest first."""
    one = (
        "SELECT * FROM memories WHERE archived_at IS NULL AND (pinned OR kind = 'lesson') AND project_id IS ?"  # noqa: S608
        f" AND {NO_NOTE}"
    )
    rows = await database.rows(
        f"{one} UNION ALL {one} ORDER BY pinned DESC, said_at DESC, id DESC LIMIT ?", (project_id, None, limit)
    )
    return [memory_from(row) for row in rows]


START_CANDIDATES = (
    "archived_at IS NULL AND (pinned OR recurrence > 1 OR kind IN ('lesson', 'preference', 'pattern')"
    " OR extractor = 'observed-1')"
)
"""SQL condition: the memory may come first at a session's start. A partial index has the same condition."""


async def start_candidates(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return memories that may come first at a session's start (`START_CANDIDATES`), except copies of notes."""
    one = f"SELECT * FROM memories WHERE {START_CANDIDATES} AND {NO_NOTE} AND project_id IS ?"  # noqa: S608
    rows = await database.rows(
        f"{one} UNION ALL {one} ORDER BY pinned DESC, recurrence DESC, said_at DESC, id DESC LIMIT ?",
        (project_id, None, limit),
    )
    return [memory_from(row) for row in rows]


async def from_tool_calls(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return a project's memories from tool calls (solved failures, habits, format fixes), most frequent first."""
    rows = await database.rows(
        f"SELECT * FROM memories WHERE {START_CANDIDATES} AND project_id = ?"  # noqa: S608
        " AND (extractor IN ('observed-1', 'practised-1') OR content LIKE '% failed%due to formatting%')"
        " ORDER BY recurrence DESC, said_at DESC, id DESC LIMIT ?",
        (project_id, limit),
    )
    return [memory_from(row) for row in rows]


async def recent(database: Database, project_id: str, limit: int) -> list[Memory]:
    """Return the latest active memories of a project and user-wide ones, without copies of Claude's own notes."""
    return await latest(database, Filter(project_id, notes=False), limit)


async def in_session(database: Database, session_id: str) -> list[Memory]:
    """Return the active memories that a session stated first or repeated."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE archived_at IS NULL AND id IN"
        " (SELECT memory_id FROM implicit_captures WHERE session_id = ? AND memory_id IS NOT NULL) ORDER BY id",
        (session_id,),
    )
    return [memory_from(row) for row in rows]


async def stated_in(database: Database, session_id: str) -> list[Memory]:
    """Return the memories that were first stated or repeated in a session, including archived ones."""
    rows = await database.rows(
        "SELECT * FROM memories WHERE session_id = ? OR id IN"
        " (SELECT memory_id FROM implicit_captures WHERE session_id = ? AND memory_id IS NOT NULL) ORDER BY id",
        (session_id, session_id),
    )
    return [memory_from(row) for row in rows]


async def active_ids(database: Database, project_id: str) -> list[int]:
    """Return the ids of a project's active memories."""
    rows = await database.rows(
        "SELECT id FROM memories WHERE archived_at IS NULL AND project_id = ? ORDER BY id", (project_id,)
    )
    return [row[0] for row in rows]
