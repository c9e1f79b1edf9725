"""Recovery after a full disk: writes entries from memory, reads new transcript lines, and records the loss."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import sqlite3
from collections.abc import Iterator

from subconscious.app import App
from subconscious.capture import resummarize
from subconscious.capture.ingest import learn
from subconscious.capture.transcript_source import Source
from subconscious.domain.errors import SubconsciousError
from subconscious.domain.model import Session
from subconscious.settings.home import Home
from subconscious.store import events, losses, sessions
from subconscious.system.safe_files import read_end, replace_file, require_regular
from subconscious.wire import LARGEST_NOTE

from .spool import Spool

log = logging.getLogger("subconscious.daemon")

RETRY_SECONDS = 5.0
"""Seconds between two checks whether the disk can be written again."""

HOOKS = "hooks"
"""The subject id of the events that record entries dropped by hooks while no daemon could start."""

PROBE_BYTES = 1 << 20
"""Bytes of free space that are required: less would be used up by the first transcript that is read."""


async def run(app: App, spool: Spool) -> None:
    """Wait until the disk is full, then until it has space again, and catch up; repeat until cancelled."""
    await record_drops_of_hooks(app)
    while True:
        await app.disk.failed.wait()
        while not await recovered(app, spool):
            await asyncio.sleep(RETRY_SECONDS)


async def recovered(app: App, spool: Spool) -> bool:
    """Catch up if everything can be written again; return whether that succeeded."""
    try:
        await asyncio.to_thread(_probe, app.home)
        await spool.write_out()
        reason, lost = app.disk.trouble, spool.lost
        await read_new_lines(app)
        async with app.database.write() as tx:
            await losses.record_full_disk(tx, reason)
            if lost:
                await losses.record_dropped(
                    tx,
                    "memory",
                    f"{lost} entries, because the disk and the memory reserved for them were full",
                )
    except (OSError, sqlite3.Error, SubconsciousError) as error:
        log.info("the disk can't be written yet: %s", error)
        return False
    spool.lost -= lost
    app.disk.forget()
    log.info("the disk can be written again (the error was: %s)", reason)
    return True


def _probe(home: Home) -> None:
    """Write and remove a file. Raises OSError if that fails."""
    probe = home.run / "probe"
    try:
        replace_file(probe, bytes(PROBE_BYTES))
    finally:
        probe.unlink(missing_ok=True)


async def read_new_lines(app: App) -> int:
    """Read every transcript that has grown since it was read; return how many belong to open sessions.

    The hooks of these sessions may have sent nothing while there was no daemon and no space. Statements in lines that
    were added to an ended session wait for review, because anybody may have written these lines.
    """
    read = {path: place.position for path, place in (await sessions.positions(app.database)).items()}
    grown = 0
    for session in await sessions.inactive_since(app.database, math.inf):
        if await asyncio.to_thread(_has_grown, session.transcript, read):
            grown += await _learn_rest(app, session)
    cursor = ""
    while (done := await resummarize.following(app, cursor)) is not None:
        cursor = done.session_id
    return grown


async def _learn_rest(app: App, session: Session) -> bool:
    source = Source(session.id, session.project_id, session.transcript, session.cwd, watched=True)
    try:
        ctx = await app.notes.with_client_texts_of(app.recall_context(json.loads(session.options)), session)
        await learn(app, ctx, source)
    except Exception as error:
        # A transcript may fail in any way, and must not prevent the others from being read; a full disk ends the loop.
        if app.disk.note(error):
            raise
        log.exception("new lines of session %s can't be read", session.id)
        return False
    return True


def _has_grown(path: str, read: dict[str, int]) -> bool:
    try:
        return bool(path) and require_regular(path).st_size > read.get(path, 0)
    except OSError:
        return False


async def record_drops_of_hooks(app: App) -> None:
    """Record entries that hooks dropped while no daemon could start, so that the next session reports the loss."""
    reason = await asyncio.to_thread(_dropped_by_hooks, app.home)
    if reason and reason not in {event["reason"] for event in await events.history(app.database, "spool", HOOKS)}:
        async with app.database.write() as tx:
            await losses.record_dropped(tx, HOOKS, reason)


def _dropped_by_hooks(home: Home) -> str:
    """Return how many entries hooks have dropped, as text; "" for none."""
    try:
        text = read_end(home.run / "spool-full", LARGEST_NOTE).decode("utf-8", "replace")
    except OSError:
        return ""
    counts = list(_counts(text))
    return (
        f"{sum(counts)} entries of hooks that were dropped while no daemon could start ({len(counts)} times)"
        if counts
        else ""
    )


def _counts(text: str) -> Iterator[int]:
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdecimal():
            yield int(words[1])
