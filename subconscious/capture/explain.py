"""Implements `subconscious explain` for a session, a transcript, or a sentence."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import time

from subconscious.app import App
from subconscious.capture import explanations
from subconscious.capture.admission import Provenance
from subconscious.capture.explanations import Explained
from subconscious.capture.opinions import opinions_of
from subconscious.domain.errors import NotFoundError, RequestError, TranscriptError
from subconscious.domain.model import Origin, Role, Session, Turn
from subconscious.redaction.cleaning import clean
from subconscious.store import sessions
from subconscious.store.capture_rows import SessionRef
from subconscious.store.projects import Project
from subconscious.transcripts import Reading, State, read_turns
from subconscious.wire.fields import list_of
from subconscious.wire.sessions import ExplainedSentence, ExplainedSession, ExplainResult


async def explain_sentence(app: App, project: Project, text: str) -> ExplainResult:
    """Return what would happen to a sentence if the user typed it now. Nothing is stored.

    Raises RequestError if the text contains no sentence.
    """
    said = await asyncio.to_thread(clean, text)
    turn = Turn("explained", "", Role.USER, Origin.USER, said, time(), "", 0, 0)
    found = await explanations.explain_sentence(app.recall_context(), turn, Provenance(SessionRef(project.id, None)))
    if not found:
        raise RequestError("the text contains no sentence", 'subconscious explain "a sentence, as you would type it"')
    sentences = list_of(ExplainedSentence, found)
    return {"session": None, "turns": 1, "sentences": sentences, "unseen": {}, "missing": []}


async def explain_session(app: App, session: Session, *, everything: bool) -> ExplainResult:
    """Return what happened to each sentence of a session, in all transcripts of the session.

    Sentences that are neither typed by the user nor candidates are only counted, unless ``everything`` is set.
    """
    known = await sessions.positions(app.database)
    paths = [path for path, place in known.items() if place.session_id == session.id]
    paths = list(dict.fromkeys(filter(None, (session.transcript, *paths))))
    return await _explain_files(app, session.id, session, paths, everything=everything)


async def explain_transcript(app: App, path: Path, *, everything: bool) -> ExplainResult:
    """Return what happened to each sentence of a transcript; for unread parts, what would happen to each sentence.

    Raises TranscriptError if the file is missing, or is not a transcript of Claude Code.
    """
    first = await asyncio.to_thread(_read, path, 0, State())
    if first.foreign or first.reason:
        raise TranscriptError(
            first.reason, "give the path of a Claude Code transcript (.jsonl) under ~/.claude/projects"
        )
    session_id = first.turns[0].session_id if first.turns else path.stem
    session = await sessions.get(app.database, session_id)
    return await _explain_files(app, session_id, session, [str(path)], everything=everything)


async def _explain_files(
    app: App, session_id: str, session: Session | None, paths: Sequence[str], *, everything: bool
) -> ExplainResult:
    ctx = app.recall_context()
    known = await explanations.recorded(ctx, session_id)
    unseen: Counter[str] = Counter()
    found: list[ExplainedSentence] = []
    missing: list[str] = []
    turns = 0
    for path in paths:
        place = await sessions.position(app.database, path, session_id)
        offset, state, more = 0, State(), True
        while more:
            reading = await asyncio.to_thread(_read, Path(path), offset, state)
            missing += [path] if reading.reason else []
            offset, state, more = reading.offset, reading.state, reading.more
            turns += len(reading.turns)
            for read, batch in _parts(reading.turns, place.position):
                opinions = await opinions_of(app, batch)
                explained = await asyncio.to_thread(
                    explanations.explain_turns, batch, known, ctx, read=read, opinions=opinions
                )
                unseen.update(one.origin for one in explained if not (everything or _is_shown(one)))
                found += list_of(ExplainedSentence, (one for one in explained if everything or _is_shown(one)))
    shown: ExplainedSession = {
        "id": session_id,
        "title": session.title if session else "",
        "known": session is not None,
    }
    return {"session": shown, "turns": turns, "sentences": found, "unseen": dict(unseen), "missing": missing}


def _parts(turns: Sequence[Turn], position: int) -> list[tuple[bool, list[Turn]]]:
    """Return the turns before ``position``, which the daemon has read (True), and the turns after it (False)."""
    done = [turn for turn in turns if turn.start < position]
    left = [turn for turn in turns if turn.start >= position]
    return [(read, part) for read, part in ((True, done), (False, left)) if part]


def _is_shown(one: Explained) -> bool:
    return one.fate != "never" or one.origin is Origin.USER


def _read(path: Path, offset: int, state: State) -> Reading:
    return read_turns(path, offset, state, clean=clean, final=True)


async def last_of(app: App, project: Project) -> Session:
    """Return the project's latest session. Raises NotFoundError if there is none."""
    found = await sessions.listing(app.database, project.id, 1)
    if not found:
        raise NotFoundError(
            "no session of this project is known yet", "`subconscious sessions --everywhere` lists others"
        )
    return found[0]


async def session_named(app: App, prefix: str) -> Session:
    """Return the session with an id that begins with ``prefix``. Raises RequestError unless exactly one does."""
    found = await sessions.with_prefix(app.database, prefix)
    if len(found) != 1:
        what = "no session" if not found else "more than one session"
        raise RequestError(
            f"{what} has an id that begins with {prefix!r}",
            "`subconscious sessions` lists the sessions; to ask about a sentence, put it in quotation marks",
        )
    return found[0]
