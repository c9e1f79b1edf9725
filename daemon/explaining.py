"""Explains to a person what became of each sentence of a session, a transcript, or one that they might type."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import Any

from subconscious.errors import NotFoundError, RequestError, TranscriptError
from subconscious.flow import explaining
from subconscious.flow.explaining import Explained
from subconscious.flow.remembering import Provenance, clean
from subconscious.model import Origin, Role, Session, Turn
from subconscious.store import sessions
from subconscious.store.capture_rows import Place
from subconscious.store.projects import Project
from subconscious.transcripts import Reading, State, read_turns

from .core import Core
from .learn import opinions_of

LAST = "the project's last session"


async def explain_sentence(core: Core, project: Project, text: str) -> dict[str, Any]:
    """Say what a sentence would become if the user typed it now. Nothing is stored."""
    said = await asyncio.to_thread(clean, text)
    turn = Turn("explained", "", Role.USER, Origin.USER, said, time(), "", 0, 0)
    found = await explaining.explain_sentence(core.mind(), turn, Provenance(Place(project.id, None)))
    if not found:
        raise RequestError("there is no sentence in this", 'subconscious explain "a sentence, as you would type it"')
    return {"session": None, "turns": 1, "sentences": [asdict(one) for one in found], "unseen": {}, "missing": []}


async def explain_session(core: Core, session: Session, *, everything: bool) -> dict[str, Any]:
    """Say what became of the sentences of a session, in all files that it was read from.

    What the assistant said and is no candidate is only counted, unless ``everything`` is asked for.
    """
    known = await sessions.positions(core.database)
    paths = [path for path, place in known.items() if place.session_id == session.id]
    paths = list(dict.fromkeys(filter(None, (session.transcript, *paths))))
    return await _explain_files(core, session.id, session, paths, everything=everything)


async def explain_transcript(core: Core, path: Path, *, everything: bool) -> dict[str, Any]:
    """Say what became of the sentences of a transcript, or what would, where it was not read."""
    first = await asyncio.to_thread(_read, path, 0, State())
    if first.foreign or first.reason:
        raise TranscriptError(first.reason, "give a .jsonl file of Claude Code's, below ~/.claude/projects")
    session_id = first.turns[0].session_id if first.turns else path.stem
    session = await sessions.get(core.database, session_id)
    return await _explain_files(core, session_id, session, [str(path)], everything=everything)


async def _explain_files(
    core: Core, session_id: str, session: Session | None, paths: Sequence[str], *, everything: bool
) -> dict[str, Any]:
    mind = core.mind()
    known = await explaining.recorded(mind, session_id)
    unseen: Counter[str] = Counter()
    found: list[dict[str, Any]] = []
    missing: list[str] = []
    turns = 0
    for path in paths:
        place = await sessions.position(core.database, path, session_id)
        offset, state, more = 0, State(), True
        while more:
            reading = await asyncio.to_thread(_read, Path(path), offset, state)
            missing += [path] if reading.reason else []
            offset, state, more = reading.offset, reading.state, reading.more
            turns += len(reading.turns)
            for read, batch in _parts(reading.turns, place.position):
                opinions = await opinions_of(core, batch)
                explained = await asyncio.to_thread(
                    explaining.explain_turns, batch, known, mind, read=read, opinions=opinions
                )
                shown = [one for one in explained if everything or _is_shown(one)]
                unseen.update(one.origin for one in explained if not (everything or _is_shown(one)))
                found += [asdict(one) for one in shown]
    told = {"id": session_id, "title": session.title if session else "", "known": session is not None}
    return {"session": told, "turns": turns, "sentences": found, "unseen": dict(unseen), "missing": missing}


def _parts(turns: Sequence[Turn], position: int) -> list[tuple[bool, list[Turn]]]:
    """Return the turns that the daemon has read, and those that it has not."""
    done = [turn for turn in turns if turn.start < position]
    left = [turn for turn in turns if turn.start >= position]
    return [(read, part) for read, part in ((True, done), (False, left)) if part]


def _is_shown(one: Explained) -> bool:
    return one.fate != "never" or one.origin is Origin.USER


def _read(path: Path, offset: int, state: State) -> Reading:
    return read_turns(path, offset, state, clean=clean, final=True)


async def last_of(core: Core, project: Project) -> Session:
    """The project's latest session. Raises NotFoundError where there is none."""
    found = await sessions.listing(core.database, project.id, 1)
    if not found:
        raise NotFoundError(
            "no session of this project is known yet", "`subconscious sessions --everywhere` lists others"
        )
    return found[0]


async def session_named(core: Core, prefix: str) -> Session:
    """The session whose id begins so. Raises RequestError where that is none, or more than one."""
    found = await sessions.beginning(core.database, prefix)
    if len(found) != 1:
        what = "no session" if not found else "more than one session"
        raise RequestError(
            f"{what} begins with {prefix!r}", "`subconscious sessions` lists them; put a sentence in quotation marks"
        )
    return found[0]
