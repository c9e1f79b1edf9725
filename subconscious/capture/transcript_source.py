"""Reads the next batch of a transcript, and finds out which prompts in it no hook reported."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from subconscious.app import App
from subconscious.authorship.forgery import HOOK_SECONDS, doubted, fresh, may_be_forged
from subconscious.domain.errors import UnreadableTranscriptError
from subconscious.redaction import ledger
from subconscious.redaction.cleaning import clean
from subconscious.store import sessions
from subconscious.system.safe_files import NotRegularError, require_regular
from subconscious.transcripts import Reading, State, read_turns

LOOK_SECONDS = 0.1
"""The seconds between two checks whether the hook of a prompt has reported the prompt."""


@dataclass(frozen=True, slots=True)
class Source:
    """A transcript to read, with its session and project.

    ``watched`` means that the file is still being written, so that a configured model reads new turns too. ``late``
    means that lines were added after the session's end, so that captures from them wait for a person. ``settled`` means that the
    session's summary is not changed any more.
    """

    session_id: str
    project_id: str
    path: str
    folder: str = ""
    watched: bool = False
    late: bool = False
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """New turns of a transcript; ``doubtful`` has the ids of turns that look typed, but that no hook reported."""

    reading: Reading
    doubtful: set[str]


async def read_batch(app: App, source: Source, place: sessions.Position, final: bool) -> Batch:
    """Return the turns after a position, and the ids of prompts among them that no hook reported.

    The client may write a prompt shortly before the hook reports it, for example while the end of the previous turn is
    being read. So recent prompts, and the first ones of a session, are checked again for up to ``HOOK_SECONDS``.
    """
    until = monotonic() + HOOK_SECONDS
    while True:
        doubting = (source.watched or source.late) and await may_be_forged(app, source.session_id)
        size = await asyncio.to_thread(_size, source.path)
        reading = await asyncio.to_thread(_read, source.path, place, final)
        if not doubting:
            return Batch(reading, set())
        while (doubtful := await _doubtful(app, source, reading)).unsettled and monotonic() < until:
            await asyncio.sleep(LOOK_SECONDS)
            if await asyncio.to_thread(_size, source.path) != size:
                break
        else:
            return Batch(reading, doubtful.turns)


class _Doubtful(NamedTuple):
    """The ids of prompts that no hook reported. ``unsettled`` means that a hook may still report one of them."""

    turns: set[str]
    unsettled: bool


async def _doubtful(app: App, source: Source, reading: Reading) -> _Doubtful:
    session = await sessions.get(app.database, source.session_id)
    first = session is None or not session.first_prompt
    found = await doubted(app, source.session_id, reading.turns, first=first)
    return _Doubtful(found, bool(found if first else found & fresh(reading.turns)))


def _read(path: str, place: sessions.Position, final: bool) -> Reading:
    """Return the next batch, parsed and cleaned. Blocking: run it in a thread."""
    state = State.from_json(json.loads(place.state or "{}"))
    with ledger.reading(f"session/{place.session_id}"):
        return read_turns(Path(path), place.position, state, clean=clean, final=final)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def is_written(path: str) -> bool:
    """Whether a transcript exists yet: the client creates the file only after its first hooks.

    Symbolic links are followed: users move `~/.claude` elsewhere, and a caller who can name a link can name its target
    too. Raises UnreadableTranscriptError if the path is a FIFO, a device, or a broken link.
    """
    try:
        require_regular(path)
    except NotRegularError as error:
        message = f"the transcript {path} is {error.strerror}"
        raise UnreadableTranscriptError(message, "nothing can be learned from it") from error
    except OSError:
        return False
    return True
