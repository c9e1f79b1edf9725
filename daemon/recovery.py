"""After the disk was full: writes what waits in memory, reads what transcripts gained meanwhile, and records it."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import sqlite3
from collections.abc import Iterator

from subconscious.client import LARGEST_NOTE
from subconscious.errors import SubconsciousError
from subconscious.home import Home
from subconscious.model import Session
from subconscious.safe_files import read_end, replace_file, require_regular
from subconscious.store import events, losses, sessions

from . import retelling
from .core import Core
from .learn import Source, learn
from .spool import Spool

log = logging.getLogger("subconscious.daemon")

RETRY_SECONDS = 5.0
"""Pause between two looks at whether the disk can be written again."""

HOOKS = "hooks"
"""What the record calls those that dropped entries while no daemon could start."""

PROBE_BYTES = 1 << 20
"""Room that there must be: less would be gone again with the first transcript that is read."""


async def run(core: Core, spool: Spool) -> None:
    """Wait for trouble with the disk, then for its end, until cancelled."""
    await record_drops_of_hooks(core)
    while True:
        await core.disk.failed.wait()
        while not await recovered(core, spool):
            await asyncio.sleep(RETRY_SECONDS)


async def recovered(core: Core, spool: Spool) -> bool:
    """Catch up once everything can be written again; return whether that is done."""
    try:
        await asyncio.to_thread(_probe, core.home)
        await spool.write_out()
        reason, lost = core.disk.trouble, spool.lost
        await read_tails(core)
        async with core.database.write() as tx:
            await losses.was_full(tx, reason)
            if lost:
                await losses.dropped(tx, "memory", f"{lost} entries, as the disk was full and memory for them used up")
    except (OSError, sqlite3.Error, SubconsciousError) as error:
        log.info("the disk can't be written yet: %s", error)
        return False
    spool.lost -= lost
    core.disk.forget()
    log.info("the disk can be written again (it could not: %s)", reason)
    return True


def _probe(home: Home) -> None:
    """Write and remove a file. Raises OSError when that fails."""
    probe = home.run / "probe"
    try:
        replace_file(probe, bytes(PROBE_BYTES))
    finally:
        probe.unlink(missing_ok=True)


async def read_tails(core: Core) -> int:
    """Read on every transcript that has grown past where it was read; return how many of open sessions that were.

    Their hooks may have handed over nothing, with no daemon and no room to write. What a session gained that is over is
    read as every week: anybody may have written it, so it waits for review.
    """
    read = {path: place.position for path, place in (await sessions.positions(core.database)).items()}
    grown = 0
    for session in await sessions.open_before(core.database, math.inf):
        if await asyncio.to_thread(_has_grown, session.transcript, read):
            grown += await _read_on(core, session)
    cursor = ""
    while (done := await retelling.following(core, cursor)) is not None:
        cursor = done.session_id
    return grown


async def _read_on(core: Core, session: Session) -> bool:
    source = Source(session.id, session.project_id, session.transcript, session.cwd, watched=True)
    try:
        mind = await core.notes.told_in(core.mind(json.loads(session.options)), session)
        await learn(core, mind, source)
    except Exception as error:
        # Any transcript may fail in its own way, and must not keep the others from being read; a full disk ends it all.
        if core.disk.note(error):
            raise
        # One transcript that can't be read must not keep the others unread.
        log.exception("session %s can't be read on", session.id)
        return False
    return True


def _has_grown(path: str, read: dict[str, int]) -> bool:
    try:
        return bool(path) and require_regular(path).st_size > read.get(path, 0)
    except OSError:
        return False


async def record_drops_of_hooks(core: Core) -> None:
    """Record what hooks dropped while no daemon could start, so that the next session is told."""
    reason = await asyncio.to_thread(_dropped_by_hooks, core.home)
    if reason and reason not in {event["reason"] for event in await events.history(core.database, "spool", HOOKS)}:
        async with core.database.write() as tx:
            await losses.dropped(tx, HOOKS, reason)


def _dropped_by_hooks(home: Home) -> str:
    """How many entries hooks have dropped by now, and when last, in words; "" for none."""
    try:
        text = read_end(home.run / "spool-full", LARGEST_NOTE).decode("utf-8", "replace")
    except OSError:
        return ""
    counts = list(_counts(text))
    return f"{sum(counts)} entries while no daemon could start ({len(counts)} times)" if counts else ""


def _counts(text: str) -> Iterator[int]:
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdecimal():
            yield int(words[1])
