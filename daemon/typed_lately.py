"""What a person typed last in a session, as far as hooks vouch for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from subconscious.capture.grounds import is_typed
from subconscious.errors import TranscriptError
from subconscious.flow.remembering import clean
from subconscious.model import Turn
from subconscious.safe_files import open_regular
from subconscious.store import sessions
from subconscious.transcripts import State, read_turns
from subconscious.transcripts.lines import skip_line

from .core import Core
from .forgery import vouched_for

TAIL = 256 * 1024
"""Bytes of a transcript's end in which the last prompts are looked for."""

PROMPTS = 3


async def typed_lately(core: Core, session_id: str) -> list[str]:
    """Return the last prompts of a session; none where no hook vouches, for then anybody may have written them."""
    session = await sessions.get(core.database, session_id) if session_id else None
    if session is None:
        return []
    turns = await asyncio.to_thread(_last_turns, Path(session.transcript))
    typed = [turn for turn in turns if is_typed(turn)]
    vouched = await vouched_for(core, session_id, typed)
    return [turn.text for turn in typed if turn.id in vouched][-PROMPTS:]


def _last_turns(path: Path) -> tuple[Turn, ...]:
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            begin = skip_line(file, file.seek(size - TAIL)) if size > TAIL else 0
        return read_turns(path, begin, State(), clean=clean, final=True).turns
    except (OSError, TranscriptError):
        return ()
