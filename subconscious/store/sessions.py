"""Sessions of Claude Code and other agents, and how far their transcripts were read.

The *story* of a session is its summary: title, text, tags, open ends and hand-over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import time
from typing import cast

import aiosqlite

from subconscious.domain.model import Session
from subconscious.store import events
from subconscious.store.connect import Database
from subconscious.store.rows import column_values, insertion, session_from, update_row
from subconscious.wire.daemon import SessionCounts

CLEARING_SECONDS = 5.0
"""The maximum number of seconds between the end of a session by /clear and the start of the following session."""

CLOCK_TOLERANCE = 3600.0
"""A stored time more than this many seconds in the future counts as written by a wrong clock."""

LATEST_FIRST = "last_event_at > ?, last_event_at DESC"
"""SQL: order by last event, latest first. Sessions with a time in the future rank last."""

IMPORTED = "imported"
"""The ``end_reason`` of a session that was imported from its transcript."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a transcript file has been read, in bytes, and the state of the reader (JSON)."""

    path: str
    session_id: str
    position: int
    state: str


async def get(database: Database, session_id: str) -> Session | None:
    """Return one session; None if it is unknown."""
    rows = await database.rows("SELECT * FROM sessions WHERE id = ?", (session_id,))
    return session_from(rows[0]) if rows else None


async def record_activity(
    tx: aiosqlite.Connection,
    session_id: str,
    project_id: str,
    at: float,
    *,
    transcript: str,
    cwd: str,
    options: str = "{}",
) -> None:
    """Record activity of a session: create it if it is new, reopen it if it was closed.

    An event from before the session's end that is processed late does not reopen the session. Stored times in the
    future come from a wrong clock and are ignored.
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


async def insert_imported(tx: aiosqlite.Connection, past: Session) -> None:
    """Store an imported session that ended long ago, with its own dates.

    If the session was observed live, its stored values stay, but its start may become earlier.
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
    """Return when a session received its start context (the memories at its start); None if it did not."""
    rows = await database.rows("SELECT greeted_at FROM sessions WHERE id = ?", (session_id,))
    return rows[0]["greeted_at"] if rows else None


async def greeted_since(tx: aiosqlite.Connection, session_id: str, at: float) -> bool:
    """Whether a session received its start context at or after ``at``, as the running transaction sees it."""
    query = "SELECT 1 FROM sessions WHERE id = ? AND greeted_at >= ?"
    return bool(list(await tx.execute_fetchall(query, (session_id, at))))


async def set_greeted(tx: aiosqlite.Connection, session_id: str, at: float | None) -> None:
    """Record when a session received its start context (None: the start context is no longer in its context)."""
    await tx.execute("UPDATE sessions SET greeted_at = ? WHERE id = ?", (at, session_id))


async def clear_greeted(tx: aiosqlite.Connection, session_id: str, before: float | None) -> None:
    """Clear the time of a start context that was not delivered; the time of an earlier one, ``before``, is kept."""
    await tx.execute("UPDATE sessions SET greeted_at = NULL WHERE id = ? AND greeted_at IS NOT ?", (session_id, before))


async def update_from_transcript(tx: aiosqlite.Connection, session_id: str, *, branch: str, prompts: list[str]) -> None:
    """Update a session after its transcript was read: branch, first and latest prompt, number of turns."""
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
    """Return the collected facts that a session's story is made from, as JSON; "" for an unknown session."""
    rows = await database.rows("SELECT sketch FROM sessions WHERE id = ?", (session_id,))
    return str(rows[0]["sketch"]) if rows else ""


async def request_story(tx: aiosqlite.Connection, session_id: str) -> None:
    """Request a story (a summary) by a model for an ended session whose story was made by rules."""
    await tx.execute("UPDATE sessions SET story_due = 1 WHERE id = ? AND handover <> ''", (session_id,))


async def sketch_for_story(database: Database, session_id: str) -> str:
    """Return the facts for a story that a model still has to write, as JSON; "" if no story was requested."""
    rows = await database.rows("SELECT sketch FROM sessions WHERE id = ? AND story_due", (session_id,))
    return str(rows[0]["sketch"]) if rows else ""


@dataclass(frozen=True, slots=True)
class ModelStory:
    """A session's story, written by a model. If ``title`` or ``tags`` is empty, the stored value is kept."""

    title: str
    tags: tuple[str, ...]
    handover: str
    left_open: str


async def save_model_story(tx: aiosqlite.Connection, session_id: str, story: ModelStory, sketch: str, by: str) -> None:
    """Store a model's account of a session, unless the session was purged, rolled back or continued since the request.

    Each of these changes the record (``sketch``) from which the account was made, or deletes the hand-over.
    """
    rows = list(
        await tx.execute_fetchall(
            "SELECT title, tags FROM sessions WHERE id = ? AND sketch = ? AND handover <> ''",
            (session_id, sketch),
        )
    )
    if not rows:
        return
    tags = json.dumps(story.tags, ensure_ascii=False) if story.tags else rows[0]["tags"]
    after = {"title": story.title or rows[0]["title"], "tags": tags}
    after |= {"left_open": story.left_open, "handover": story.handover}
    before, changed = await update_row(tx, "sessions", session_id, after)
    if changed:
        await events.record(
            tx, "retell", "session", session_id, actor=by, session_id=session_id, before=before, after=changed
        )


@dataclass(frozen=True, slots=True)
class Story:
    """A session's story: title, summary, tags, open ends and hand-over, and the facts (JSON) that it was made from."""

    title: str
    summary: str
    tags: tuple[str, ...]
    left_open: str
    sketch: str
    handover: str = ""


async def save_story(tx: aiosqlite.Connection, session_id: str, story: Story) -> None:
    """Replace a session's story.

    No event is recorded: the story is derived from the transcript, and made again when the session continues.
    """
    await tx.execute(
        "UPDATE sessions SET title = :title, summary = :summary, tags = :tags, left_open = :left_open,"
        " sketch = :sketch, handover = :handover WHERE id = :id",
        column_values(story) | {"id": session_id},
    )


STORY_COLUMNS = ("title", "summary", "tags", "left_open", "handover")


async def has_handover(tx: aiosqlite.Connection, session_id: str) -> bool:
    """Whether a session has a hand-over for the next session, as the running transaction sees it."""
    query = "SELECT 1 FROM sessions WHERE id = ? AND handover <> ''"
    return bool(list(await tx.execute_fetchall(query, (session_id,))))


async def has_story(tx: aiosqlite.Connection, session_id: str) -> bool:
    """Whether a session has a title, summary, open ends or hand-over, as the running transaction sees it."""
    query = "SELECT 1 FROM sessions WHERE id = ? AND title || summary || left_open || handover <> ''"
    return bool(list(await tx.execute_fetchall(query, (session_id,))))


async def clear_story(tx: aiosqlite.Connection, session_id: str) -> dict[str, str]:
    """Clear a session's story; return the old values, so that they can be restored."""
    rows = list(await tx.execute_fetchall("SELECT * FROM sessions WHERE id = ?", (session_id,)))
    story = {name: str(rows[0][name]) for name in STORY_COLUMNS} if rows else {}
    await tx.execute("UPDATE sessions SET story_due = 0 WHERE id = ?", (session_id,))
    await restore_story(tx, session_id, {"title": "", "summary": "", "tags": "[]", "left_open": "", "handover": ""})
    return story


async def restore_story(tx: aiosqlite.Connection, session_id: str, story: Mapping[str, str]) -> None:
    """Restore a session's earlier story."""
    before, after = await update_row(tx, "sessions", session_id, story) if story else ({}, {})
    if after:
        await events.record(
            tx, "retell", "session", session_id, actor="user", session_id=session_id, before=before, after=after
        )


async def end(tx: aiosqlite.Connection, session_id: str, at: float, status: str, reason: str) -> None:
    """Close a session as `ended` (reported by the client) or `interrupted` (inactive), unless it was active later."""
    await tx.execute(
        "UPDATE sessions SET status = ?, ended_at = ?, end_reason = ?"
        " WHERE id = ? AND (last_event_at <= ? OR last_event_at > ?)",
        (status, at, reason, session_id, at, time()),
    )


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that the user typed, as the hook sent it."""

    session_id: str
    prompt_id: str
    text: str
    at: float
    branch: str = ""


async def insert_prompt(tx: aiosqlite.Connection, prompt: Prompt) -> None:
    """Store a prompt until it is read in the transcript; do nothing if it was read there already."""
    await tx.execute(*insertion("prompts", column_values(prompt), "ON CONFLICT DO NOTHING"))


async def mark_written(tx: aiosqlite.Connection, session_id: str, prompt_ids: Sequence[str]) -> None:
    """Mark prompts as written to the transcript, because they were read there, and delete their stored text."""
    await tx.executemany(
        "INSERT INTO prompts (session_id, prompt_id, written) VALUES (?, ?, 1)"
        " ON CONFLICT DO UPDATE SET written = 1, text = ''",
        [(session_id, prompt_id) for prompt_id in prompt_ids],
    )


async def mark_written_texts(tx: aiosqlite.Connection, session_id: str, texts: Sequence[str]) -> None:
    """Mark prompts as written to the transcript, as ``mark_written`` does, but find them by their text.

    Prompts that were typed while the model worked have no id in the transcript.
    """
    await tx.executemany(
        "UPDATE prompts SET written = 1, text = '' WHERE session_id = ? AND text = ?",
        [(session_id, text) for text in texts],
    )


async def unwritten_prompts(database: Database, session_id: str) -> list[Prompt]:
    """Return the prompts of a session that are not in its transcript yet."""
    rows = await database.rows(
        "SELECT session_id, prompt_id, text, at, branch FROM prompts WHERE session_id = ? AND NOT written ORDER BY at",
        (session_id,),
    )
    return [Prompt(**dict(row)) for row in rows]


async def delete_prompts(tx: aiosqlite.Connection, session_id: str) -> None:
    """Delete the stored prompts of a session that has ended, because they were processed."""
    await tx.execute("DELETE FROM prompts WHERE session_id = ?", (session_id,))


async def with_prefix(database: Database, prefix: str) -> list[Session]:
    """Return up to ten sessions with an id that starts with ``prefix``, latest first."""
    rows = await database.rows(
        "SELECT * FROM sessions WHERE substr(id, 1, length(?)) = ? ORDER BY last_event_at DESC LIMIT 10",
        (prefix, prefix),
    )
    return [session_from(row) for row in rows]


async def listing(database: Database, project_id: str | None, limit: int) -> list[Session]:
    """Return up to ``limit`` sessions of a project (None: of all projects), latest first."""
    of_project = "WHERE project_id = ?" if project_id is not None else ""
    rows = await database.rows(
        f"SELECT * FROM sessions {of_project} ORDER BY {LATEST_FIRST} LIMIT ?",  # noqa: S608
        (*(() if project_id is None else (project_id,)), time() + CLOCK_TOLERANCE, limit),
    )
    return [session_from(row) for row in rows]


async def inactive_since(database: Database, at: float) -> list[Session]:
    """Return open sessions without an event since ``at``, or with a last event in the future (a wrong clock)."""
    rows = await database.rows(
        "SELECT * FROM sessions WHERE status = 'open' AND (last_event_at < ? OR last_event_at > ?)",
        (at, time() + CLOCK_TOLERANCE),
    )
    return [session_from(row) for row in rows]


async def count_started(database: Database, begin: float, end: float) -> int:
    """Return how many sessions began in a period, without imported sessions."""
    rows = await database.rows(
        "SELECT count(*) FROM sessions WHERE started_at BETWEEN ? AND ? AND end_reason IS NOT ?", (begin, end, IMPORTED)
    )
    return int(rows[0][0])


async def any_imported(database: Database, project_id: str) -> bool:
    """Return whether a project has a session that was imported from its transcript."""
    rows = await database.rows(
        "SELECT 1 FROM sessions WHERE project_id = ? AND end_reason = ? LIMIT 1", (project_id, IMPORTED)
    )
    return bool(rows)


async def latest_other(database: Database, project_id: str, session_id: str) -> Session | None:
    """Return the latest session of a project that has turns and is not ``session_id``; None if there is none."""
    rows = await database.rows(
        f"SELECT * FROM sessions WHERE project_id = ? AND id <> ? AND turns > 0 ORDER BY {LATEST_FIRST} LIMIT 1",  # noqa: S608
        (project_id, session_id, time() + CLOCK_TOLERANCE),
    )
    return session_from(rows[0]) if rows else None


async def counts(database: Database) -> SessionCounts:
    """Return the numbers of open, ended and interrupted sessions."""
    rows = await database.rows("SELECT status, count(*) FROM sessions GROUP BY status")
    return cast("SessionCounts", {"open": 0, "ended": 0, "interrupted": 0} | {row[0]: row[1] for row in rows})


async def position(database: Database, path: str, session_id: str) -> Position:
    """Return where to continue reading a transcript, with the stored state of the reader.

    A transcript that is not known is read from its start, or from the position that was reached before a purge.
    """
    rows = await database.rows("SELECT path, session_id, position, state FROM transcripts WHERE path = ?", (path,))
    if rows:
        return Position(**dict(rows[0]))
    return Position(path, session_id, await position_before_purge(database, path), "")


async def positions(database: Database) -> dict[str, Position]:
    """Return how far every transcript file was read, by path."""
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
    """Return the id of the last session in the chain of sessions that /clear started after ``session_id``.

    Without such a session, ``session_id`` itself is returned.
    """
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


READ_BEFORE_PURGE = "read before a purge"
"""The action of the event that stores how far a transcript was read before a purge."""


def path_digest(path: str) -> str:
    """Return the digest of a path.

    The path contains a random session id, so nobody can guess it from the digest.
    """
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()


async def position_before_purge(database: Database, path: str) -> int:
    """Return the byte position up to which a transcript was read before a purge; 0 if it was not read."""
    found = [
        event
        for event in await events.history(database, "prompt", path_digest(path))
        if event["action"] == READ_BEFORE_PURGE
    ]
    return int(found[-1]["after"]["position"]) if found else 0
