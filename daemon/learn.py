"""Read what a transcript has gained and keep what is worth it."""

from __future__ import annotations

import asyncio
import json
import stat
from dataclasses import dataclass
from pathlib import Path
from time import time

from subconscious.errors import TranscriptError
from subconscious.flow import Judged, Mind, Provenance, clean, judge, keep
from subconscious.model import Origin, Turn
from subconscious.projects import head
from subconscious.store import sessions
from subconscious.store.captures import Place
from subconscious.transcripts import Reading, State, read_turns

from .core import Core

PROMPT_LENGTH = 500
"""Characters of a prompt that are kept with its session."""


@dataclass(frozen=True, slots=True)
class Source:
    """Which transcript is read, and for whom."""

    session_id: str
    project_id: str
    path: str
    folder: str = ""


async def learn(core: Core, mind: Mind, source: Source, *, final: bool = False) -> list[int]:
    """Read a transcript from where it was left; return the ids of the captures that are new.

    Each batch is one transaction: what was learned, and how far was read. ``final`` says that no more will be written,
    so that a last line without an end counts too.
    """
    if not source.path or not _is_file(source.path):
        return []
    new: list[int] = []
    async with core.reading[source.path]:
        more = True
        while more:
            more, ids = await _learn_batch(mind, source, final)
            new.extend(ids)
    if new:
        core.embedding.wake()
    return new


async def _learn_batch(mind: Mind, source: Source, final: bool) -> tuple[bool, list[int]]:
    place = await sessions.position(mind.database, source.path, source.session_id)
    reading, judged = await asyncio.to_thread(_read, mind, source.path, place, final)
    if reading.offset == place.position and not reading.turns:
        return False, []
    where = await _provenance(mind, source, reading)
    async with mind.database.write() as tx:
        kept = await keep(mind, tx, judged, where)
        prompts = [turn.text[:PROMPT_LENGTH] for turn in _spoken(reading.turns)]
        await sessions.progress(tx, source.session_id, branch=reading.branch, prompts=prompts)
        new = sessions.Position(source.path, source.session_id, reading.offset, json.dumps(reading.state.to_json()))
        await sessions.advance(tx, new, time())
    return reading.more, [capture_id for capture_id, _ in kept]


def _read(mind: Mind, path: str, place: sessions.Position, final: bool) -> tuple[Reading, list[Judged]]:
    """The slow part, for a thread: parse, clean, extract, admit."""
    state = State.from_json(json.loads(place.state or "{}"))
    reading = read_turns(Path(path), place.position, state, clean=clean, final=final)
    return reading, judge(reading.turns, mind.settings)


async def _provenance(mind: Mind, source: Source, reading: Reading) -> Provenance:
    session = await sessions.get(mind.database, source.session_id)
    first = next((turn.text for turn in _spoken(reading.turns)), "")
    intent = session.first_prompt if session and session.first_prompt else first
    _, commit = await asyncio.to_thread(head, source.folder) if source.folder else ("", "")
    return Provenance(Place(source.project_id, source.session_id), commit=commit, intent=intent[:PROMPT_LENGTH])


def _spoken(turns: tuple[Turn, ...] | list[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.origin is Origin.USER and turn.text]


def _is_file(path: str) -> bool:
    """A transcript is a regular file: opening a pipe would wait for ever."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class Look:
    """What a transcript's first batch says of itself; ``at`` is when its last turn was said."""

    session_id: str
    cwd: str
    at: float


def look(path: Path) -> Look:
    """Look at a transcript file that no hook told of. Raises TranscriptError when it is none."""
    reading = read_turns(path, final=True)
    if reading.foreign or not reading.sessions:
        why = reading.reason or f"{path} names no session"
        raise TranscriptError(why, "give a .jsonl file of Claude Code's, below ~/.claude/projects")
    at = max((turn.time for turn in reading.turns), default=path.stat().st_mtime)
    return Look(reading.sessions[-1], reading.cwd, min(at, time()))
