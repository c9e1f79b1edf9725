"""Summarises sessions that were never read or never summarised.

Lines that were added after the end of a session are read too, but the captures from these lines wait for a person and
the lines are not summarised, because anybody may have written them. A session that was never read is summarised from
its whole file.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from subconscious.app import App
from subconscious.authorship.forgery import doubted
from subconscious.capture.ingest import learn
from subconscious.capture.session_updates import story_without_threats
from subconscious.capture.transcript_source import Source
from subconscious.domain.errors import TranscriptError
from subconscious.domain.model import Origin, Session
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction.cleaning import clean
from subconscious.sessions import Deeds, Sketch, Transcript, read_deeds
from subconscious.store import captures, ended_sessions, sessions
from subconscious.store.ended_sessions import EndedSession
from subconscious.transcripts import BATCH_BYTES, Reading, State, read_turns
from subconscious.transcripts.records import AGENT_FILE

log = logging.getLogger("subconscious.capture")

KEPT = ("captured", "approved")
"""The statuses of captures that a session's summary may use: statements that wait are not shown to the next session."""

LOOKED_AT = 100
"""The maximum number of sessions that one step examines."""


@dataclass(frozen=True, slots=True)
class Done:
    """Whether new lines of a session were read, and whether the session was summarised."""

    session_id: str
    read: bool = False
    told: bool = False


async def following(app: App, session_id: str) -> Done | None:
    """Read or summarise the first of the next ``LOOKED_AT`` sessions that needs it; None if no session is left."""
    found = await ended_sessions.after(app.database, session_id, LOOKED_AT)
    for over in found:
        done = await _look_at(app, over)
        if done.read or done.told:
            return done
    return Done(found[-1].session.id) if found else None


async def _look_at(app: App, over: EndedSession) -> Done:
    try:
        ctx = app.recall_context(json.loads(over.session.options))
        if ctx.settings.capture and ctx.settings.summaries:
            return await _summarize_and_read(app, ctx, over)
    except (TranscriptError, OSError):
        pass  # the transcript is gone or was replaced: there is nothing to summarise
    except Exception:
        # An error with one session must not delay the others.
        log.exception("session %s can't be summarized", over.session.id)
    return Done(over.session.id)


async def _summarize_and_read(app: App, ctx: RecallContext, over: EndedSession) -> Done:
    summarized = over.needs_story and await _summarize(app, over)
    grown = await asyncio.to_thread(lambda: list(_grown(over)))
    read = [path for path in grown if await _read_on(app, ctx, over, path)]
    return Done(over.session.id, read=bool(read), told=summarized)


async def _summarize(app: App, over: EndedSession) -> bool:
    """Summarise the part of a session that has been read; return False if its transcript is gone."""
    session, end = over.session, over.read.get(over.session.transcript, 0)
    if not end or not await asyncio.to_thread(Path(session.transcript).is_file):
        return False
    sketch = await _sketch(app, session, end)
    story = await asyncio.to_thread(story_without_threats, sketch, Transcript(Path(session.transcript), end))
    async with app.database.write() as tx:
        await sessions.save_story(tx, session.id, story)
    return True


async def _read_on(app: App, ctx: RecallContext, over: EndedSession, path: str) -> bool:
    """Learn from new lines of a file; return False if they have no complete new line."""
    session = over.session
    source = Source(session.id, session.project_id, path, session.cwd, late=True, settled=over.begun)
    before = await sessions.position(app.database, path, session.id)
    await learn(app, ctx, source, final=True)
    return await sessions.position(app.database, path, session.id) != before


def _grown(over: EndedSession) -> Iterator[str]:
    """Yield the files of a session that have unread lines: its own transcript before those of its sub-agents."""
    for path, read in sorted(over.read.items(), key=lambda one: (Path(one[0]).name.startswith(AGENT_FILE), one[0])):
        file = Path(path)
        if file.is_file() and file.stat().st_size > read:
            yield path


async def _stated(app: App, session: Session) -> list[str]:
    """Return the user's statements in a session that were stored or approved."""
    async with app.database.write() as tx:
        brought = await captures.all_of_session(tx, session.id)
    return [one["content"] for one in brought if one["origin"] == Origin.USER and one["status"] in KEPT]


async def _sketch(app: App, session: Session, end: int) -> Sketch:
    """Read a transcript again up to ``end``; return the sketch of its turns, except prompts that no hook reported."""
    stated = await _stated(app, session)
    sketch, offset, state = Sketch(), 0, State()
    path, deeds = Path(session.transcript), Deeds()
    while offset < end:
        reading = await asyncio.to_thread(_read, path, offset, state, end)
        if reading.offset <= offset:
            break
        doubtful = await doubted(app, session.id, reading.turns, first=not offset)
        heard = [turn for turn in reading.turns if turn.id not in doubtful]
        deeds = await asyncio.to_thread(read_deeds, path, offset, reading.offset, deeds, clean)
        sketch = await asyncio.to_thread(sketch.after, heard, stopped=reading.state.interrupted)
        offset, state = reading.offset, reading.state
    return replace(sketch.after((), stated, stopped=sketch.stopped), deeds=deeds)


def _read(path: Path, offset: int, state: State, end: int) -> Reading:
    return read_turns(path, offset, state, clean=clean, final=True, max_bytes=min(BATCH_BYTES, end - offset))
