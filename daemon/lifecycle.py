"""One daemon a state folder: taking the lock, running, leaving.

The lock of ``run/daemon.lock`` decides who is the daemon, and nothing else: no pid file, no port. It goes with the
process, however that ends. The file itself is never deleted, for a lock on a deleted file excludes nobody.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

from subconscious import __version__, client
from subconscious.errors import DaemonError
from subconscious.home import Home
from subconscious.settings import Settings
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate

from .core import Core
from .embedding import Embedding
from .schedule import Schedule
from .server import Server
from .spool import Spool, entry_names
from .worker import Workers

log = logging.getLogger("subconscious.daemon")

HANDOVER_SECONDS = 30.0
"""Time an older daemon has to finish its jobs once it was asked to yield."""

SETTLING_SECONDS = 3.0
"""Time a holder of the lock that does not listen has: it is just starting, or just leaving."""

LEAVING_SECONDS = 20.0
"""Time that jobs under way have once the daemon is told to stop."""

CHECK_SECONDS = 5.0
"""Pause between two looks at whether it is time to leave."""


class Lock:
    """The exclusive lock that makes a process the daemon."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self) -> bool:
        """Take the lock if nobody has it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @property
    def held(self) -> bool:
        """Whether the lock still means anything: somebody may have deleted the file, or the whole folder."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except OSError:
            return False

    def release(self) -> None:
        """Let the next one in."""
        os.close(self._file)


def become_daemon(home: Home) -> Lock | None:
    """Take the lock, displacing a daemon that is strictly older; None when the one that runs shall go on."""
    lock = Lock(home.lock)
    deadline = monotonic() + SETTLING_SECONDS
    asked = False
    while not lock.take():
        if not asked and _yields(home):
            asked, deadline = True, monotonic() + HANDOVER_SECONDS
        elif not asked and _answers(home):
            lock.release()
            return None
        if monotonic() > deadline:
            lock.release()
            raise DaemonError(
                "another daemon holds the lock and does not answer", "run `subconscious daemon stop --force`"
            )
        sleep(0.02)
    return lock


def _answers(home: Home) -> bool:
    try:
        client.hello(home, 1.0)
    except DaemonError:
        return False
    return True


def _yields(home: Home) -> bool:
    """Ask the running daemon to leave for us; it does so only for a strictly newer version."""
    try:
        return bool(client.call(home, "yield", {"version": __version__}, 1.0)["stopping"])
    except DaemonError:
        return False


async def run(home: Home, settings: Settings, lock: Lock) -> None:
    """Be the daemon until told to stop, until idle for long, or until the lock is lost."""
    async with _opened(home, settings) as core:
        spool = Spool(core)
        server = Server(core, spool)
        workers = Workers(core, spool)
        _stop_on_signals(core)
        await server.open()
        _write_note(home)
        log.info("listening, version %s, pid %d", __version__, os.getpid())
        try:
            await _run_parts(core, spool, workers, lock)
        finally:
            await server.close()
    log.info("left")


@asynccontextmanager
async def _opened(home: Home, settings: Settings) -> AsyncIterator[Core]:
    database = await open_database(home.database)
    try:
        await migrate(database)
        embedding = Embedding(settings.embedder, database)
        try:
            yield Core(home, settings, database, embedding)
        finally:
            await embedding.close()
    finally:
        await database.close()


async def _run_parts(core: Core, spool: Spool, workers: Workers, lock: Lock) -> None:
    """Run every loop; if one fails, the daemon leaves as if told to, and the next hook starts a new one."""
    schedule = Schedule(core, spool)
    embedding = asyncio.create_task(core.embedding.run())
    parts = [
        asyncio.create_task(_part(core, part))
        for part in (
            spool.watch(),
            workers.run(),
            schedule.run(),
            _leave_in_time(core, workers, schedule, lock),
        )
    ]
    await core.stopping.wait()
    core.queued.set()
    core.spooled.set()
    _, late = await asyncio.wait(parts, timeout=LEAVING_SECONDS)
    for task in (*late, embedding):
        task.cancel()
    await asyncio.gather(*parts, embedding, return_exceptions=True)


async def _part(core: Core, part: Coroutine[Any, Any, None]) -> None:
    try:
        await part
    except Exception:
        # A loop that failed can't be trusted to go on, and a daemon with a dead loop would be a deaf one.
        log.exception("a part of the daemon failed")
    finally:
        core.stopping.set()


async def _leave_in_time(core: Core, workers: Workers, schedule: Schedule, lock: Lock) -> None:
    """Leave when nobody needs us, after the upkeep that is due, or at once when the lock is lost."""
    while not core.stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(core.stopping.wait(), min(CHECK_SECONDS, core.settings.idle_exit_minutes * 60))
        if not lock.held:
            log.error("the state folder was moved or deleted: leaving")
            return
        quiet = time() - core.last_heard > core.settings.idle_exit_minutes * 60
        # An entry that came this very moment keeps us here; one that comes later finds no socket and wakes another.
        if quiet and workers.idle and not entry_names(core.home.spool):
            await schedule.round()
            log.info("idle for %g minutes: leaving", core.settings.idle_exit_minutes)
            return


def _stop_on_signals(core: Core) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(name, core.stopping.set)


def _write_note(home: Home) -> None:
    """Tell people and doctor who runs; nothing is decided by it."""
    note = home.run / "daemon.json"
    draft = note.with_suffix(".tmp")
    draft.write_text(json.dumps({"pid": os.getpid(), "version": __version__, "started_at": time()}))
    draft.chmod(0o600)
    draft.replace(note)
