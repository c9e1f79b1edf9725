"""Sessions of the client and how far their transcripts were read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.model import Session
from subconscious.store import events, read_before
from subconscious.store.connect import Database
from subconscious.store.rows import alter, insertion, session_from, stored

CLEARING_SECONDS = 5.0
"""Time that a client takes from the end of a session that was cleared to the beginning of the next."""

AHEAD = 3600.0
"""Seconds ahead of now from which a time counts as written by a wrong clock."""

LATEST_FIRST = "last_event_at > ?, last_event_at DESC"
"""SQL: sessions by their last event. A session of a clock that was ahead must not pass for the latest for years."""

IMPORTED = "imported"
"""The end_reason of a session that was read from its transcript, and not watched."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a transcript file has been read, and the reader's own state (JSON)."""

    path: str
    session_id: str
    position: int
    state: str


async def get(database: Database, session_id: str) -> Session | None:
    """One session, if it is known."""
    rows = await database.rows("SELECT * FROM sessions WHERE id = ?", (session_id,))
    return session_from(rows[0]) if rows else None


async def note(
    tx: aiosqlite.Connection,
    session_id: str,
    project_id: str,
    at: float,
    *,
    transcript: str,
    cwd: str,
    options: str = "{}",
) -> None:
    """Something happened in a session: make it known, and open again if it was closed.

    A session that was closed for its silence and speaks again was never over. An event that is older than the end,
    swept late, does not open it. Times that a clock, set back since, has put into the future count for nothing.
    """
    await tx.execute(
        "INSERT INTO sessions (id, project_id, transcript, cwd, started_at, last_event_at, options)"
        " VALUES (:id, :project, :transcript, :cwd, :at, :at, :options)"
        " ON CONFLICT (id) DO UPDATE SET"
        " status = CASE WHEN :at > coalesce(ended_at, 0) OR ended_at > :now THEN 'open' ELSE status END,"
        " ended_at = CASE WHEN :at > coalesce(ended_at, 0) OR ended_at > :now THEN NULL ELSE ended_at END,"
        " transcript = CASE WHEN :transcript <> '' THEN :transcript ELSE transcript END,"
        " cwd = CASE WHEN cwd = '' THEN :cwd ELSE cwd END, options = :options, project_id = :project,"
        " started_at = min(started_at, :at),"
        " last_event_at = CASE WHEN last_event_at > :now THEN :at ELSE max(last_event_at, :at) END",
        {
            "id": session_id,
            "project": project_id,
            "at": at,
            "now": time(),
            "transcript": transcript,
            "cwd": cwd,
            "options": options,
        },
    )


async def note_past(tx: aiosqlite.Connection, past: Session) -> None:
    """Put a session on record that nobody watched: over long ago, at its own dates.

    One that was watched keeps its status and its end; only its beginning may turn out to be earlier.
    """
    await tx.execute(
        "INSERT INTO sessions"
        " (id, project_id, transcript, cwd, status, started_at, last_event_at, ended_at, end_reason)"
        " VALUES (:id, :project_id, :transcript, :cwd, 'ended', :started_at, :last_event_at, :last_event_at, :imported)"
        " ON CONFLICT (id) DO UPDATE SET started_at = min(started_at, :started_at),"
        " transcript = coalesce(nullif(transcript, ''), :transcript), cwd = coalesce(nullif(cwd, ''), :cwd),"
        " last_event_at = CASE WHEN end_reason = :imported THEN max(last_event_at, :last_event_at)"
        " ELSE last_event_at END,"
        " ended_at = CASE WHEN end_reason = :imported AND ended_at IS NOT NULL THEN max(ended_at, :last_event_at)"
        " ELSE ended_at END",
        {
            "id": past.id,
            "project_id": past.project_id,
            "transcript": past.transcript,
            "cwd": past.cwd,
            "started_at": past.started_at,
            "last_event_at": past.last_event_at,
            "imported": IMPORTED,
        },
    )


async def greeted_at(database: Database, session_id: str) -> float | None:
    """Return when a session got its start context; None if it did not."""
    rows = await database.rows("SELECT greeted_at FROM sessions WHERE id = ?", (session_id,))
    return rows[0]["greeted_at"] if rows else None


async def greeted_since(tx: aiosqlite.Connection, session_id: str, at: float) -> bool:
    """Whether a session got its start context at or after a time, as this transaction sees it."""
    asked = "SELECT 1 FROM sessions WHERE id = ? AND greeted_at >= ?"
    return bool(list(await tx.execute_fetchall(asked, (session_id, at))))


async def greet(tx: aiosqlite.Connection, session_id: str, at: float | None) -> None:
    """Record when a session got its start context; None once its context no longer contains it."""
    await tx.execute("UPDATE sessions SET greeted_at = ? WHERE id = ?", (at, session_id))


async def ungreet(tx: aiosqlite.Connection, session_id: str, before: float | None) -> None:
    """What it was given did not arrive, if it was greeted anew since ``before`` was the time of its greeting."""
    await tx.execute("UPDATE sessions SET greeted_at = NULL WHERE id = ? AND greeted_at IS NOT ?", (session_id, before))


async def progress(tx: aiosqlite.Connection, session_id: str, *, branch: str, prompts: list[str]) -> None:
    """What reading brought: the branch, the first and the latest prompt, how many there were."""
    if prompts or branch:
        await tx.execute(
            "UPDATE sessions SET branch = coalesce(nullif(:branch, ''), branch), turns = turns + :count,"
            " first_prompt = CASE WHEN first_prompt = '' THEN :first ELSE first_prompt END,"
            " last_prompt = coalesce(nullif(:last, ''), last_prompt) WHERE id = :id",
            {
                "id": session_id,
                "branch": branch,
                "count": len(prompts),
                "first": prompts[0] if prompts else "",
                "last": prompts[-1] if prompts else "",
            },
        )


async def sketch(database: Database, session_id: str) -> str:
    """Return the sketch that a session's story is made from, as JSON; "" for an unknown session."""
    rows = await database.rows("SELECT sketch FROM sessions WHERE id = ?", (session_id,))
    return str(rows[0]["sketch"]) if rows else ""


async def want_story(tx: aiosqlite.Connection, session_id: str) -> None:
    """Request a model's story for a session that is over; only if it has an offline one."""
    await tx.execute("UPDATE sessions SET story_due = 1 WHERE id = ? AND handover <> ''", (session_id,))


async def sketch_to_retell(database: Database, session_id: str) -> str:
    """Return the sketch for a story that a model still has to write, as JSON; "" where none is wanted."""
    rows = await database.rows("SELECT sketch FROM sessions WHERE id = ? AND story_due", (session_id,))
    return str(rows[0]["sketch"]) if rows else ""


@dataclass(frozen=True, slots=True)
class Retold:
    """A session's story in a model's words; a ``title`` of "" and no ``tags`` keep those that there are."""

    title: str
    tags: tuple[str, ...]
    handover: str
    left_open: str


async def retell_by_model(tx: aiosqlite.Connection, session_id: str, told: Retold, sketch: str, by: str) -> None:
    """Store a model's story, unless the session was purged, rolled back or continued since the request.

    Each of these changes the sketch or the request, and the story was made from the earlier sketch.
    """
    rows = list(
        await tx.execute_fetchall(
            "SELECT title, tags FROM sessions WHERE id = ? AND sketch = ? AND handover <> ''",
            (session_id, sketch),
        )
    )
    if not rows:
        return
    tags = json.dumps(told.tags, ensure_ascii=False) if told.tags else rows[0]["tags"]
    after = {"title": told.title or rows[0]["title"], "tags": tags}
    after |= {"left_open": told.left_open, "handover": told.handover}
    before, changed = await alter(tx, "sessions", session_id, after)
    if changed:
        await events.record(
            tx, "retell", "session", session_id, actor=by, session_id=session_id, before=before, after=changed
        )


@dataclass(frozen=True, slots=True)
class Told:
    """Return a session's story, and the sketch it was made from (JSON)."""

    title: str
    summary: str
    tags: tuple[str, ...]
    left_open: str
    sketch: str
    handover: str = ""


async def summarise(tx: aiosqlite.Connection, session_id: str, told: Told) -> None:
    """Replace a session's story.

    There is no event: the story is derived from the transcript, and made again when the session continues.
    """
    await tx.execute(
        "UPDATE sessions SET title = :title, summary = :summary, tags = :tags, left_open = :left_open,"
        " sketch = :sketch, handover = :handover WHERE id = :id",
        stored(told) | {"id": session_id},
    )


TOLD = ("title", "summary", "tags", "left_open", "handover")


async def leaves(tx: aiosqlite.Connection, session_id: str) -> bool:
    """Whether a session leaves a hand-over to the next one, as this transaction sees it."""
    asked = "SELECT 1 FROM sessions WHERE id = ? AND handover <> ''"
    return bool(list(await tx.execute_fetchall(asked, (session_id,))))


async def untell(tx: aiosqlite.Connection, session_id: str) -> dict[str, str]:
    """Clear a session's story; return it, so that it can be restored."""
    rows = list(await tx.execute_fetchall("SELECT * FROM sessions WHERE id = ?", (session_id,)))
    told = {name: str(rows[0][name]) for name in TOLD} if rows else {}
    await tx.execute("UPDATE sessions SET story_due = 0 WHERE id = ?", (session_id,))
    await retell(tx, session_id, {"title": "", "summary": "", "tags": "[]", "left_open": "", "handover": ""})
    return told


async def retell(tx: aiosqlite.Connection, session_id: str, told: Mapping[str, str]) -> None:
    """Restore a session's story."""
    before, after = await alter(tx, "sessions", session_id, told) if told else ({}, {})
    if after:
        await events.record(
            tx, "retell", "session", session_id, actor="user", session_id=session_id, before=before, after=after
        )


async def end(tx: aiosqlite.Connection, session_id: str, at: float, status: str, reason: str) -> None:
    """Close a session: `ended` by its own word, `interrupted` by its silence."""
    await tx.execute(
        "UPDATE sessions SET status = ?, ended_at = ?, end_reason = ?"
        " WHERE id = ? AND (last_event_at <= ? OR last_event_at > ?)",
        (status, at, reason, session_id, at, time()),
    )


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person typed, as the hook handed it over."""

    session_id: str
    prompt_id: str
    text: str
    at: float
    branch: str = ""


async def expect(tx: aiosqlite.Connection, prompt: Prompt) -> None:
    """Keep a prompt until its line is read, unless it was read already."""
    await tx.execute(*insertion("prompts", stored(prompt), "ON CONFLICT DO NOTHING"))


async def written(tx: aiosqlite.Connection, session_id: str, prompt_ids: Sequence[str]) -> None:
    """Drop the text of prompts that are in the transcript."""
    await tx.executemany(
        "INSERT INTO prompts (session_id, prompt_id, written) VALUES (?, ?, 1)"
        " ON CONFLICT DO UPDATE SET written = 1, text = ''",
        [(session_id, prompt_id) for prompt_id in prompt_ids],
    )


async def written_as(tx: aiosqlite.Connection, session_id: str, texts: Sequence[str]) -> None:
    """Drop prompts whose text is in the transcript without a number: they were queued while the model worked."""
    await tx.executemany(
        "UPDATE prompts SET written = 1, text = '' WHERE session_id = ? AND text = ?",
        [(session_id, text) for text in texts],
    )


async def unwritten(database: Database, session_id: str) -> list[Prompt]:
    """The prompts of a session that were handed over and not read."""
    rows = await database.rows(
        "SELECT session_id, prompt_id, text, at, branch FROM prompts WHERE session_id = ? AND NOT written ORDER BY at",
        (session_id,),
    )
    return [Prompt(**dict(row)) for row in rows]


async def forget_prompts(tx: aiosqlite.Connection, session_id: str) -> None:
    """Record that the session is over and that its unwritten prompts were processed."""
    await tx.execute("DELETE FROM prompts WHERE session_id = ?", (session_id,))


async def beginning(database: Database, prefix: str) -> list[Session]:
    """The sessions whose id begins so, the latest first; a few, for a person types as little of it as will do."""
    rows = await database.rows(
        "SELECT * FROM sessions WHERE substr(id, 1, length(?)) = ? ORDER BY last_event_at DESC LIMIT 10",
        (prefix, prefix),
    )
    return [session_from(row) for row in rows]


async def listing(database: Database, project_id: str | None, limit: int) -> list[Session]:
    """Sessions, the latest first."""
    of_project = "WHERE project_id = ?" if project_id is not None else ""
    rows = await database.rows(
        f"SELECT * FROM sessions {of_project} ORDER BY {LATEST_FIRST} LIMIT ?",  # noqa: S608
        (*(() if project_id is None else (project_id,)), time() + AHEAD, limit),
    )
    return [session_from(row) for row in rows]


async def open_before(database: Database, at: float) -> list[Session]:
    """Open sessions of which nothing was heard since ``at``, or only by a clock that was wrong."""
    rows = await database.rows(
        "SELECT * FROM sessions WHERE status = 'open' AND (last_event_at < ? OR last_event_at > ?)",
        (at, time() + AHEAD),
    )
    return [session_from(row) for row in rows]


async def begun_between(database: Database, begin: float, end: float) -> int:
    """Return how many sessions began in a time span, without imported ones, whose dates are old."""
    rows = await database.rows(
        "SELECT count(*) FROM sessions WHERE started_at BETWEEN ? AND ? AND end_reason IS NOT ?", (begin, end, IMPORTED)
    )
    return int(rows[0][0])


async def before(database: Database, project_id: str, session_id: str) -> Session | None:
    """The latest other session of a project that a person spoke in."""
    rows = await database.rows(
        f"SELECT * FROM sessions WHERE project_id = ? AND id <> ? AND turns > 0 ORDER BY {LATEST_FIRST} LIMIT 1",  # noqa: S608
        (project_id, session_id, time() + AHEAD),
    )
    return session_from(rows[0]) if rows else None


async def counts(database: Database) -> dict[str, int]:
    """How many sessions are open, ended, interrupted."""
    rows = await database.rows("SELECT status, count(*) FROM sessions GROUP BY status")
    return {"open": 0, "ended": 0, "interrupted": 0} | {row[0]: row[1] for row in rows}


async def position(database: Database, path: str, session_id: str) -> Position:
    """Return the position to continue a transcript from: its start if it is new, or behind a purged part."""
    rows = await database.rows("SELECT path, session_id, position, state FROM transcripts WHERE path = ?", (path,))
    if rows:
        return Position(**dict(rows[0]))
    return Position(path, session_id, await read_before.position(database, path), "")


async def positions(database: Database) -> dict[str, Position]:
    """How far every file has been read, by path."""
    rows = await database.rows("SELECT path, session_id, position, state FROM transcripts")
    return {row["path"]: Position(**dict(row)) for row in rows}


async def advance(tx: aiosqlite.Connection, new: Position, at: float) -> None:
    """Save the reading position of a transcript, in the transaction that stores its memories."""
    await tx.execute(
        "INSERT INTO transcripts (path, session_id, position, state, read_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET position = excluded.position, state = excluded.state,"
        " read_at = excluded.read_at",
        (new.path, new.session_id, new.position, new.state, at),
    )


async def successor(database: Database, session_id: str) -> str:
    """The session that speaks now in the client that began as this one: /clear gives it another id."""
    rows = await database.rows(
        "WITH RECURSIVE chain (id, project_id, ended_at, end_reason) AS ("
        " SELECT id, project_id, ended_at, end_reason FROM sessions WHERE id = ?"
        " UNION SELECT next.id, next.project_id, next.ended_at, next.end_reason FROM chain JOIN sessions AS next"
        " ON next.id = (SELECT id FROM sessions WHERE project_id = chain.project_id AND id <> chain.id"
        " AND started_at BETWEEN chain.ended_at AND chain.ended_at + ? ORDER BY started_at LIMIT 1)"
        " WHERE chain.end_reason = 'clear')"
        " SELECT id FROM chain",
        (session_id, CLEARING_SECONDS),
    )
    return str(rows[-1]["id"]) if rows else session_id
