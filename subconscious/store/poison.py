"""Data of the poisoning check: its result per memory, and lessons (features of captures that a person rejected)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import time
from typing import cast

import aiosqlite

from subconscious.domain.model import Level, Memory, Verdict
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.filters import NO_NOTE
from subconscious.store.rows import memory_from, qmarks, update_row
from subconscious.wire import captures as wire


@dataclass(frozen=True, slots=True)
class Lesson:
    """Features of one rejected capture: hashes of its word sequences (``prints``), and its text ("" once deleted)."""

    id: int
    prints: frozenset[int]
    threat: str
    content: str = ""


async def unchecked(database: Database, rules: str, limit: int) -> list[Memory]:
    """Return active memories that have not been checked with version ``rules`` of the rules, latest first.

    Memories that a person released from quarantine are left out, and so are copies of Claude's own notes, whose files
    are checked again when the rules change.
    """
    rows = await database.rows(
        "SELECT m.* FROM memories m LEFT JOIN memory_checks c ON c.memory_id = m.id"  # noqa: S608
        f" WHERE m.archived_at IS NULL AND m.{NO_NOTE} AND (c.rules IS NULL OR c.rules <> ?)"
        " AND NOT EXISTS (SELECT 1 FROM implicit_captures i WHERE i.memory_id = m.id AND i.released_at IS NOT NULL)"
        " ORDER BY m.id DESC LIMIT ?",
        (rules, limit),
    )
    return [memory_from(row) for row in rows]


async def _level(tx: aiosqlite.Connection, memory_id: int) -> str:
    rows = list(await tx.execute_fetchall("SELECT level FROM memory_checks WHERE memory_id = ?", (memory_id,)))
    return str(rows[0][0]) if rows else Level.NONE.value


async def record_check(tx: aiosqlite.Connection, memory_id: int, verdict: Verdict) -> bool:
    """Record the result of a check of a memory; return whether its threat level changed."""
    before = await _level(tx, memory_id)
    await tx.execute(
        "INSERT INTO memory_checks (memory_id, rules, level, checked_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (memory_id) DO UPDATE SET rules = excluded.rules, level = excluded.level,"
        " checked_at = excluded.checked_at",
        (memory_id, verdict.rules, verdict.level.value, time()),
    )
    return before != verdict.level.value


async def flagged(database: Database, prompt: int, limit: int) -> list[Memory]:
    """Return active memories with the threat level `medium` that no model has assessed with this prompt version."""
    rows = await database.rows(
        "SELECT m.* FROM memories m JOIN memory_checks c ON c.memory_id = m.id"  # noqa: S608
        f" WHERE m.archived_at IS NULL AND m.{NO_NOTE} AND c.level = 'medium' AND c.seconded_with <> ?"
        " ORDER BY m.id DESC LIMIT ?",
        (prompt, limit),
    )
    return [memory_from(row) for row in rows]


async def levels(database: Database, ids: Sequence[int]) -> dict[int, Level]:
    """Return the threat levels of flagged memories, by id, except memories that a person released from quarantine."""
    rows = await database.rows(
        f"SELECT memory_id, level FROM memory_checks WHERE level <> 'none' AND memory_id IN ({qmarks(ids)})"  # noqa: S608
        " AND NOT EXISTS (SELECT 1 FROM implicit_captures AS capture"
        " WHERE capture.memory_id = memory_checks.memory_id AND capture.released_at IS NOT NULL)",
        tuple(ids),
    )
    return {row["memory_id"]: Level(row["level"]) for row in rows}


async def record_opinion(tx: aiosqlite.Connection, memory_id: int, level: str, prompt: int) -> bool:
    """Record a model's assessment of a memory; return whether its threat level changed."""
    before = await _level(tx, memory_id)
    await tx.execute(
        "UPDATE memory_checks SET level = ?, seconded_with = ? WHERE memory_id = ?", (level, prompt, memory_id)
    )
    return before != level


async def add_lesson(tx: aiosqlite.Connection, capture_id: int, prints: Sequence[int], threat: str) -> int:
    """Store the features of a rejected capture as a lesson; return its id."""
    cursor = await tx.execute(
        "INSERT INTO poison_lessons (capture_id, prints, threat, created_at) VALUES (?, ?, ?, ?)",
        (capture_id, json.dumps(list(prints)), threat, time()),
    )
    lesson = int(cursor.lastrowid or 0)
    made = {"capture_id": capture_id, "removed_at": None}
    await events.record(tx, "learned", "lesson", lesson, actor="user", after=made)
    return lesson


async def remove_lesson(tx: aiosqlite.Connection, lesson_id: int, reason: str = "") -> None:
    """Stop using a lesson; do nothing if it is no longer in use."""
    rows = await tx.execute_fetchall("SELECT 1 FROM poison_lessons WHERE id = ? AND removed_at IS NULL", (lesson_id,))
    if not list(rows):
        return
    before, after = await update_row(tx, "poison_lessons", lesson_id, {"removed_at": time()})
    await events.record(tx, "forgotten", "lesson", lesson_id, actor="user", reason=reason, before=before, after=after)


async def lessons(database: Database) -> list[Lesson]:
    """Return all lessons that are in use."""
    rows = await database.rows(
        "SELECT l.id, l.prints, l.threat, coalesce(c.content, '') AS content FROM poison_lessons l"
        " LEFT JOIN implicit_captures c ON c.id = l.capture_id WHERE l.removed_at IS NULL ORDER BY l.id"
    )
    return [Lesson(row["id"], frozenset(json.loads(row["prints"])), row["threat"], row["content"]) for row in rows]


async def listing(database: Database) -> list[wire.Lesson]:
    """Return all lessons in use, for display: each with its time, the rejected capture and that capture's session."""
    rows = await database.rows(
        "SELECT l.id, l.capture_id, l.threat, l.created_at, c.summary, c.session_id FROM poison_lessons l"
        " JOIN implicit_captures c ON c.id = l.capture_id WHERE l.removed_at IS NULL ORDER BY l.id"
    )
    return [cast("wire.Lesson", dict(row)) for row in rows]


async def of_capture(tx: aiosqlite.Connection, capture_id: int) -> list[int]:
    """Return the ids of the lessons in use that come from a capture."""
    rows = await tx.execute_fetchall(
        "SELECT id FROM poison_lessons WHERE capture_id = ? AND removed_at IS NULL", (capture_id,)
    )
    return [row[0] for row in rows]
