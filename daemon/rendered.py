"""What a session was given by its hook alone, from the rendered copy, while no daemon answered.

The hook hands over an entry ``Given`` with the ids it has printed. It may still lie in the spool when the session's
first prompt comes: then it is read from there, for who would greet the session again must know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import time

import aiosqlite

from subconscious.model import Surface
from subconscious.safe_files import read_beginning
from subconscious.store import memories, sessions, surfaces
from subconscious.store.projects import Project

from .core import Core
from .entry import FORMAT, NAME_SUFFIX, VERSION, BrokenEntryError, Entry, read_entry
from .work import note

EVENT = "Given"
OPTION = "given"
"""The entry's option that has the ids, joined by dots."""
HOW = "start/rendered"
"""What the ledger calls it."""
MOST = 50
MOST_LOOKED_AT = 1000
"""Entries, the latest of the spool, among which a session's greeting is looked for while its prompt waits."""
WHY = "read from the rendered copy: the daemon did not answer"
_MARK = f"{FORMAT} {VERSION}\t{EVENT}\t".encode()


async def made_up(core: Core, project: Project, session_id: str) -> None:
    """Take note of what still lies in the spool of what this session was given."""
    for entry in await asyncio.to_thread(lambda: list(_waiting(core.home.spool, session_id))):
        async with core.database.write() as tx:
            await take_note(core, tx, entry, project)


def _waiting(spool: Path, session_id: str) -> Iterator[Entry]:
    for path in sorted(spool.glob(f"*{NAME_SUFFIX}"))[-MOST_LOOKED_AT:]:
        with suppress(OSError, BrokenEntryError):
            meant = read_beginning(path, len(_MARK), follow=False) == _MARK
            if meant and (entry := read_entry(path)).payload.session_id == session_id:
                yield entry


async def take_note(core: Core, tx: aiosqlite.Connection, entry: Entry, project: Project) -> None:
    """Write what was given into the ledger, once, and that the session is greeted. Other projects' ids are no ids."""
    bare = replace(entry, options={name: value for name, value in entry.options.items() if name != OPTION})
    await note(tx, bare, project)
    session_id, at = entry.payload.session_id, min(entry.at, time())
    if not await sessions.greeted_since(tx, session_id, at):
        await sessions.greet(tx, session_id, at)
    # Not by the greeting: an answer that came too late has set that anew, and has taken it back.
    if await surfaces.recorded(tx, session_id, HOW, at):
        return
    found = await memories.get_many(core.database, _ids(entry))
    given = [memory for memory in found.values() if memory.project_id in (None, project.id)]
    rows = [
        Surface(session_id, HOW, at, memory.id, memory.content_hash, place, WHY, 0.0, 1.0)
        for place, memory in enumerate(given, start=1)
    ]
    await surfaces.record(tx, project.id, rows)


def _ids(entry: Entry) -> list[int]:
    said = entry.options.get(OPTION, "").split(".")[:MOST]
    return [int(number) for number in said if number.isascii() and number.isdigit() and len(number) < 16]
