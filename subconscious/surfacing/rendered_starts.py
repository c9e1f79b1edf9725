"""Records which memories a hook printed at a session's start by itself, because no daemon answered.

The hook prints a file that the daemon wrote in advance (the rendered copy). It also writes a spool entry ``Given`` with
the ids of the memories that it printed. If the entry is still in the spool when the first prompt arrives, it is read
from there, so that the session is not given the same memories again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import time

import aiosqlite

from subconscious.app import App
from subconscious.app.work import note
from subconscious.context.entry import FORMAT, NAME_SUFFIX, VERSION, BrokenEntryError, Entry, read_entry
from subconscious.domain.hits import Surface
from subconscious.store import memories, sessions, surfaces
from subconscious.store.projects import Project
from subconscious.system.safe_files import read_beginning

EVENT = "Given"
OPTION = "given"
"""The option of the spool entry that contains the memory ids, joined by dots."""
HOW = "start/rendered"
"""The event name that is stored with memories that a hook printed at a session's start without the daemon."""
MOST = 50
MOST_LOOKED_AT = 1000
"""The number of latest spool entries that are searched while a prompt waits."""
WHY = "printed by the hook from a file written in advance, because the daemon did not answer"
_MARK = f"{FORMAT} {VERSION}\t{EVENT}\t".encode()


async def made_up(app: App, project: Project, session_id: str) -> None:
    """Record the memories that a hook printed for this session, according to entries that are still in the spool."""
    for entry in await asyncio.to_thread(lambda: list(_waiting(app.home.spool, session_id))):
        async with app.database.write() as tx:
            await take_note(app, tx, entry, project)


def _waiting(spool: Path, session_id: str) -> Iterator[Entry]:
    for path in sorted(spool.glob(f"*{NAME_SUFFIX}"))[-MOST_LOOKED_AT:]:
        with suppress(OSError, BrokenEntryError):
            meant = read_beginning(path, len(_MARK), follow=False) == _MARK
            if meant and (entry := read_entry(path)).payload.session_id == session_id:
                yield entry


async def take_note(app: App, tx: aiosqlite.Connection, entry: Entry, project: Project) -> None:
    """Record, only once, which memories a hook printed for a session, and that the session has its start context.

    Memories of other projects are ignored.
    """
    bare = replace(entry, options={name: value for name, value in entry.options.items() if name != OPTION})
    await note(tx, bare, project)
    session_id, at = entry.payload.session_id, min(entry.at, time())
    if not await sessions.greeted_since(tx, session_id, at):
        await sessions.set_greeted(tx, session_id, at)
    # ``greeted_since`` does not show whether this entry was recorded: a late response may have set the time, too.
    if await surfaces.was_recorded(tx, session_id, HOW, at):
        return
    found = await memories.get_many(app.database, _ids(entry))
    given = [memory for memory in found.values() if memory.project_id in (None, project.id)]
    rows = [
        Surface(session_id, HOW, at, memory.id, memory.content_hash, place, WHY, 0.0, 1.0)
        for place, memory in enumerate(given, start=1)
    ]
    await surfaces.record(tx, project.id, rows)


def _ids(entry: Entry) -> list[int]:
    said = entry.options.get(OPTION, "").split(".")[:MOST]
    return [int(number) for number in said if number.isascii() and number.isdigit() and len(number) < 16]
