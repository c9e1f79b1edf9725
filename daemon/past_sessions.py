"""Offers the import of a project's past sessions, once, when the first session starts there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from subconscious.store import events, sessions
from subconscious.store.projects import Project

from .core import Core
from .entry import Entry

OFFERED = "offered-import"
"""The event by which a project's person was offered the import, or there was nothing to offer."""

BYTES_A_SECOND = 3 << 20
"""What an import reads without a model (docs/figures.md), rounded."""

FEWEST_SECONDS = 5


class Past(NamedTuple):
    """Transcripts that nobody has read yet."""

    sessions: int
    bytes: int


async def offer(core: Core, entry: Entry, project: Project) -> str:
    """One line for the person on what can be imported here; "" where there is nothing, or it was said before."""
    transcript = entry.payload.transcript_path
    if not transcript.startswith("/") or await events.last(core.database, OFFERED, "project", project.id):
        return ""
    known = await sessions.positions(core.database)
    found = await asyncio.to_thread(_unread, Path(transcript), known)
    async with core.database.write() as tx:
        await events.record(tx, OFFERED, "project", project.id, reason=f"{found.sessions} sessions")
    if not found.sessions:
        return ""
    what = "1 earlier session" if found.sessions == 1 else f"{found.sessions} earlier sessions"
    seconds = max(FEWEST_SECONDS, round(found.bytes / BYTES_A_SECOND))
    return f"Subconscious: it can learn from {what} of this project, in about {seconds} s: subconscious import"


def _unread(own: Path, known: Collection[str]) -> Past:
    """The transcripts beside a session's own; they are counted here, and not opened."""
    try:
        with os.scandir(own.parent) as folder:
            passed = {*known, str(own)}
            others = [file for file in folder if file.name.endswith(".jsonl") and file.path not in passed]
            sizes = [file.stat(follow_symlinks=False).st_size for file in others if file.is_file(follow_symlinks=False)]
    except OSError:
        return Past(0, 0)
    return Past(sum(size > 0 for size in sizes), sum(sizes))
