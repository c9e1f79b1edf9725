"""The daemon's life once it has the lock: opening, running its loops, leaving."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from time import time
from typing import Any

from subconscious import __version__
from subconscious.embeddings import Access
from subconscious.errors import LostStoreError
from subconscious.home import Home
from subconscious.llm.client import LLMClient
from subconscious.llm.spending import Spending
from subconscious.safe_files import replace_file
from subconscious.settings import Settings
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.numbers import renumber_clashing
from subconscious.store.presence import as_damage

from . import consolidating, damage, import_model, link_model, maintenance, recovery, redacting, rendering
from .accepted import accepted, refused, with_tuples
from .asking import Asking
from .core import Core
from .embedding import Embedding
from .file_names import FileNames
from .linking import Linking
from .lock import Lock
from .paying import Account
from .refining import Refining
from .schedule import Schedule
from .sense import Manners
from .server import Server
from .spool import Spool
from .worker import Workers

log = logging.getLogger("subconscious.daemon")

Part = Callable[[], Coroutine[Any, Any, None]]
"""Begins one of the daemon's loops."""

LEAVING_SECONDS = 20.0
"""Time that jobs under way have once the daemon is told to stop."""

CLOSING_SECONDS = 5.0
"""Time that providers have to close their connections and children."""

DISK_SECONDS = 5.0
"""Pause before a loop begins again that a full disk has broken off."""

CANCEL_SECONDS = 5.0
"""Pause before tasks that go on are cancelled again; a rollback that is under way needs less."""

CHECK_SECONDS = 5.0
"""Pause between two looks at whether it is time to leave."""


async def run(home: Home, settings: Settings, lock: Lock, *, handle_signals: bool = True) -> None:
    """Be the daemon until told to stop, until idle for long, or until the lock is lost.

    The socket goes before the database is closed, so that a hook that comes meanwhile starts the next daemon, which
    waits for the lock; the lock goes after it, and says that the daemon is gone.
    """
    async with opened(home, settings) as core:
        spool = Spool(core)
        server = Server(core, spool)
        workers = Workers(core, spool)
        if handle_signals:
            _stop_on_signals(core)
        await server.open()
        await spool.note_unheard()
        with suppress(OSError):  # on a full disk; nothing is decided by it
            _write_note(home)
        log.info("listening, version %s, pid %d", __version__, os.getpid())
        try:
            await _run_parts(core, spool, workers, server, lock)
        finally:
            await server.close()
            await _write_out(spool)
    log.info("left")


async def _write_out(spool: Spool) -> None:
    """The last chance for what is in memory alone."""
    try:
        await spool.write_out()
    except OSError as error:
        log.error("%d entries are lost, as they can't be written: %s", spool.holding, error)  # noqa: TRY400 - full disk


@asynccontextmanager
async def opened(home: Home, settings: Settings) -> AsyncIterator[Core]:
    """Open the store and what its parts share; close both in the end."""
    database = await open_database(home.database)
    try:
        await migrate(database)
        async with database.write() as tx:
            await renumber_clashing(tx)
        held = await accepted(database, settings)
        in_force = settings.model_copy(update=with_tuples({name: held[name] for name in refused(settings, held)}))
        account = Account(Spending(database, in_force), in_force.embedder_base_url)
        embedding = _embedding(in_force, database, account)
        try:
            core = Core(home, settings, database, embedding, accepted=held)
            account.spending = core.llm.spending
            if core.refused(settings):
                log.warning("settings that nobody has accepted are not in force: %s", ", ".join(core.refused(settings)))
            core.damage = await damage.at_start(home)
            if warning := core.damage.message(home.database):
                log.warning("%s", warning)
            await core.calibrate()
            await redacting.adopt(core)
            try:
                yield core
            finally:
                await _close(core.llm)
                await _write_down(core)
        finally:
            await embedding.close()
    finally:
        await database.close()


async def _write_down(core: Core) -> None:
    """What was taken out of texts since the last round of upkeep goes on record."""
    try:
        await redacting.write_down(core)
    except sqlite3.Error as error:
        log.error("what was taken out of texts can't be written down: %s", error)  # noqa: TRY400 - a full disk


async def _close(llm: LLMClient) -> None:
    """A provider that doesn't let go must not keep the next daemon waiting for the lock."""
    try:
        await asyncio.wait_for(llm.close(), CLOSING_SECONDS)
    except Exception:
        # After any error of an SDK, the database still has to be closed and the lock released.
        log.exception("the providers can't be closed")


def _embedding(settings: Settings, database: Database, account: Account) -> Embedding:
    access = Access(
        model=settings.embedder_model,
        key=settings.embedder_key.get_secret_value(),
        base_url=settings.embedder_base_url,
        timeout=settings.embedder_timeout_seconds,
        check_seconds=settings.embedder_check_seconds,
    )
    manners = Manners(settings.embedder_prompts, settings.embedder_prompt_ms / 1000, account)
    return Embedding(settings.embedder, database, access, manners)


async def _run_parts(core: Core, spool: Spool, workers: Workers, server: Server, lock: Lock) -> None:
    """Run every loop; if one fails, the daemon leaves as if told to, and the next hook starts a new one."""
    schedule = Schedule(core, spool)
    import_model.register(core)
    link_model.register(core)
    consolidating.register(core)
    asking, reader, linking = Asking(core), Refining(core), Linking(core)
    # What these are at can be broken off at any time, and is taken up again.
    loops: tuple[Part, ...] = (
        core.embedding.run,
        asking.run,
        reader.run,
        linking.run,
        lambda: core.standings.run(core),
        lambda: core.notes.run(core),
        lambda: maintenance.run(core),
        lambda: rendering.run(core),
        FileNames(core).run,
        lambda: recovery.run(core, spool),
    )
    interruptible = [asyncio.create_task(_part(core, loop)) for loop in loops]
    parts = [
        asyncio.create_task(_part(core, part))
        for part in (
            spool.watch,
            workers.run,
            schedule.run,
            lambda: _leave_in_time(
                core,
                spool,
                lambda: workers.idle and asking.idle and linking.idle and not spool.holding,
                reader,
                schedule,
                lambda: lock.held and server.reachable,
            ),
        )
    ]
    await core.stopping.wait()
    core.queued.set()
    core.spooled.set()
    _, late = await asyncio.wait(parts, timeout=LEAVING_SECONDS)
    await cancel({*late, *interruptible})
    await asyncio.gather(*parts, *interruptible, return_exceptions=True)


async def cancel(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel tasks until they have ended.

    Once is not enough: `asyncio.wait_for` of Python 3.11 loses a cancellation that comes as what it waits for is done,
    and a loop that goes on would keep the lock for ever.
    """
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=CANCEL_SECONDS)


async def _part(core: Core, part: Part) -> None:
    try:
        while not await _ran_to_its_end(core, part) and not core.stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(core.stopping.wait(), DISK_SECONDS)
    except Exception as error:
        # Any error in a part ends the daemon, in the finally below; one that shows damage is recorded first.
        if isinstance(found := as_damage(error, core.home.database), LostStoreError):
            # Every later daemon will end here, too, so the next session reports it.
            await damage.note(core.home, core.damage, [found.message])
        # A failed loop can't be continued, and a daemon without it would seem to work.
        log.exception("a part of the daemon failed")
    finally:
        core.stopping.set()


async def _ran_to_its_end(core: Core, part: Part) -> bool:
    """Run a loop; False where a full disk, or the like, broke it off: it is no worse afterwards, and begins again."""
    try:
        await part()
    except Exception as error:
        # SQLite and the file system report a full disk by several types; all other errors are raised again.
        if not core.disk.note(error):
            raise
        log.error("a part of the daemon pauses: %s", error)  # noqa: TRY400 - a full disk, again and again
        return False
    return True


async def _leave_in_time(
    core: Core,
    spool: Spool,
    idle: Callable[[], bool],
    reader: Refining,
    schedule: Schedule,
    sound: Callable[[], bool],
) -> None:
    """Leave when nobody needs us, after the upkeep that is due, or at once when nobody can reach us any more."""
    while not core.stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(core.stopping.wait(), min(CHECK_SECONDS, core.settings.idle_exit_minutes * 60))
        if not sound():
            log.error("the lock or the socket was moved or deleted: leaving")
            return
        # The distance: a clock that was set back must not keep an idle daemon until that time has come again.
        quiet = abs(time() - core.last_heard) > core.settings.idle_exit_minutes * 60
        # An entry that came this very moment keeps us here; one that comes later finds no socket and wakes another.
        if quiet and idle() and not await spool.waiting():
            await schedule.round()
            if await maintenance.catch_up(core) or not await reader.idle():
                continue  # that took its time, or the round has closed a session, say, which a model is to read
            log.info("idle for %g minutes: leaving", core.settings.idle_exit_minutes)
            return


def _stop_on_signals(core: Core) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(name, core.stopping.set)


def _write_note(home: Home) -> None:
    """Tell people and doctor who runs; nothing is decided by it."""
    note = json.dumps({"pid": os.getpid(), "version": __version__, "started_at": time()})
    replace_file(home.run / "daemon.json", note.encode())
