"""Sees to it that sessions are told: those that were never read, and those that were never told.

What a transcript has gained since its session was over is learned from too, but all of it waits for a person, and
nothing of it is told: anybody may have written it. Only of a session that was never read all is told that its file
holds; else nothing would be.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from subconscious.errors import TranscriptError
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import clean
from subconscious.model import Origin, Session
from subconscious.sources import AGENT_FILE
from subconscious.store import captures, sessions, untold
from subconscious.store.capture_rows import UNCONFIRMED
from subconscious.store.untold import Over
from subconscious.summaries import Deeds, Sketch, Transcript, read_deeds
from subconscious.transcripts import BATCH_BYTES, Reading, State, read_turns

from .core import Core
from .forgery import doubted
from .learn import Source, learn, told

log = logging.getLogger("subconscious.daemon")

KEPT = ("captured", "review", UNCONFIRMED, "approved")
"""Statuses of captures whose statements a session's story may tell."""

LOOKED_AT = 100
"""Sessions that one step looks at, as long as none of them needs anything."""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one session: whether it was read on, and whether it was told from the beginning."""

    session_id: str
    read: bool = False
    told: bool = False


async def following(core: Core, session_id: str) -> Done | None:
    """See to the first session behind this one that needs it, looking at no more than some; None at the end."""
    found = await untold.after(core.database, session_id, LOOKED_AT)
    for over in found:
        done = await _look_at(core, over)
        if done.read or done.told:
            return done
    return Done(found[-1].session.id) if found else None


async def _look_at(core: Core, over: Over) -> Done:
    try:
        mind = core.mind(json.loads(over.session.options))
        if mind.settings.capture and mind.settings.summaries:
            return await _see_to(core, mind, over)
    except (TranscriptError, OSError):
        pass  # gone or replaced: there is nothing left to tell it from
    except Exception:
        # No error with one session may delay the sessions behind it.
        log.exception("session %s can't be told", over.session.id)
    return Done(over.session.id)


async def _see_to(core: Core, mind: Mind, over: Over) -> Done:
    told_of = over.untold and await _tell(core, over)
    grown = await asyncio.to_thread(lambda: list(_grown(over)))
    read = [path for path in grown if await _read_on(core, mind, over, path)]
    return Done(over.session.id, read=bool(read), told=told_of)


async def _tell(core: Core, over: Over) -> bool:
    """Tell a session from its beginning to where it was read; whether it could be: its file may be gone."""
    session, end = over.session, over.read.get(over.session.transcript, 0)
    if not end or not await asyncio.to_thread(Path(session.transcript).is_file):
        return False
    sketch = await _sketch(core, session, end)
    story = await asyncio.to_thread(told, sketch, Transcript(Path(session.transcript), end))
    async with core.database.write() as tx:
        await sessions.summarise(tx, session.id, story)
    return True


async def _read_on(core: Core, mind: Mind, over: Over, path: str) -> bool:
    """Learn from what a file has gained; whether that was a line: one that a killed client left half stays unread."""
    session = over.session
    source = Source(session.id, session.project_id, path, session.cwd, late=True, settled=over.begun)
    before = await sessions.position(core.database, path, session.id)
    await learn(core, mind, source, final=True)
    return await sessions.position(core.database, path, session.id) != before


def _grown(over: Over) -> Iterator[str]:
    """The files of a session that hold more than was read, its own before those of its agents."""
    for path, read in sorted(over.read.items(), key=lambda one: (Path(one[0]).name.startswith(AGENT_FILE), one[0])):
        file = Path(path)
        if file.is_file() and file.stat().st_size > read:
            yield path


async def _stated(core: Core, session: Session) -> list[str]:
    """The user's statements that are kept of a session, or wait."""
    async with core.database.write() as tx:
        brought = await captures.of_whole_session(tx, session.id)
    return [one["content"] for one in brought if one["origin"] == Origin.USER and one["status"] in KEPT]


async def _sketch(core: Core, session: Session, end: int) -> Sketch:
    """Read a transcript again up to there, for its story alone; without what nobody vouches for, as at first."""
    stated = await _stated(core, session)
    sketch, offset, state = Sketch(), 0, State()
    path, deeds = Path(session.transcript), Deeds()
    while offset < end:
        reading = await asyncio.to_thread(_read, path, offset, state, end)
        if reading.offset <= offset:
            break
        doubtful = await doubted(core, session.id, reading.turns, first=not offset)
        heard = [turn for turn in reading.turns if turn.id not in doubtful]
        deeds = await asyncio.to_thread(read_deeds, path, offset, reading.offset, deeds, clean)
        sketch = await asyncio.to_thread(sketch.after, heard, stopped=reading.state.interrupted)
        offset, state = reading.offset, reading.state
    return replace(sketch.after((), stated, stopped=sketch.stopped), deeds=deeds)


def _read(path: Path, offset: int, state: State, end: int) -> Reading:
    return read_turns(path, offset, state, clean=clean, final=True, max_bytes=min(BATCH_BYTES, end - offset))
