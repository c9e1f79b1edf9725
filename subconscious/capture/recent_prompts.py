"""What a person typed last in a session, as far as hooks vouch for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from subconscious.app import App
from subconscious.authorship.forgery import vouched_for
from subconscious.capture.llm_extraction.grounds import is_typed
from subconscious.domain.errors import TranscriptError
from subconscious.domain.model import Turn
from subconscious.redaction.cleaning import clean
from subconscious.store import sessions
from subconscious.system.safe_files import open_regular
from subconscious.transcripts import State, read_turns
from subconscious.transcripts.lines import skip_line

TAIL = 256 * 1024
"""Bytes of a transcript's end in which the last prompts are looked for."""

PROMPTS = 3


async def typed_lately(app: App, session_id: str) -> list[str]:
    """Return the last prompts of a session; none where no hook vouches, for then anybody may have written them."""
    session = await sessions.get(app.database, session_id) if session_id else None
    if session is None:
        return []
    turns = await asyncio.to_thread(_last_turns, Path(session.transcript))
    typed = [turn for turn in turns if is_typed(turn)]
    vouched = await vouched_for(app, session_id, typed)
    return [turn.text for turn in typed if turn.id in vouched][-PROMPTS:]


def _last_turns(path: Path) -> tuple[Turn, ...]:
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            begin = skip_line(file, file.seek(size - TAIL)) if size > TAIL else 0
        return read_turns(path, begin, State(), clean=clean, final=True).turns
    except (OSError, TranscriptError):
        return ()
