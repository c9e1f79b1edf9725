"""Runs the daemon once it has the lock: opens the store, runs the loops, closes everything."""

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
from subconscious.app import App
from subconscious.capture import judge
from subconscious.capture.llm_extraction.refinement_worker import Refining
from subconscious.consolidation import consolidating
from subconscious.context import damage
from subconscious.context.approval import accepted, refused, with_tuples
from subconscious.domain.errors import LostStoreError
from subconscious.embeddings.background import Embedding
from subconscious.embeddings.embedder import Access
from subconscious.embeddings.query_embedder import CappedBudget, RemoteOptions
from subconscious.imports import with_model
from subconscious.knowledge import rendering
from subconscious.links import model_review
from subconscious.links.discovery import LinkDiscovery
from subconscious.llm.client import LLMClient
from subconscious.llm.deferred import DeferredWorker
from subconscious.llm.spending import Spending
from subconscious.redaction.active_policy import load_policy, record_findings
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.presence import as_damage
from subconscious.store.shared_ids import renumber_duplicates
from subconscious.supersession import pair_model
from subconscious.surfacing.published_files import FileNames
from subconscious.surfacing.worktree_watch import WorktreeWatch
from subconscious.system.safe_files import replace_file
from subconscious.team import background as team
from subconscious.team import searching
from subconscious.upkeep import maintenance

from . import recovery
from .lock import Lock
from .schedule import Schedule
from .server import Server
from .spool import Spool
from .worker import Workers

log = logging.getLogger("subconscious.daemon")

Part = Callable[[], Coroutine[Any, Any, None]]
"""A function that runs one of the daemon's loops."""

LEAVING_SECONDS = 20.0
"""Seconds that running jobs may take to finish when the daemon stops."""

CLOSING_SECONDS = 5.0
"""Seconds that providers may take to close their connections and child processes."""

DISK_SECONDS = 5.0
"""Seconds after which a loop restarts if a full disk has interrupted it."""

CANCEL_SECONDS = 5.0
"""Seconds until tasks that still run are cancelled again; a rollback in progress needs less."""

CHECK_SECONDS = 5.0
"""Seconds between two checks whether to exit."""


async def run(home: Home, settings: Settings, lock: Lock, *, handle_signals: bool = True) -> None:
    """Run the daemon until it is stopped, has long been idle, or has lost its lock.

    The socket is removed before the database is closed, so that a hook that runs in between starts the next daemon,
    which waits for the lock. The lock is released last.
    """
    async with opened(home, settings) as app:
        spool = Spool(app)
        server = Server(app, spool)
        workers = Workers(app, spool)
        if handle_signals:
            _stop_on_signals(app)
        await server.open()
        await spool.note_unheard()
        with suppress(OSError):  # on a full disk; the note is only informative
            _write_pid_note(home)
        log.info("listening, version %s, pid %d", __version__, os.getpid())
        try:
            await _run_parts(app, spool, workers, server, lock)
        finally:
            await server.close()
            await _write_unwritten(spool)
    log.info("stopped")


async def _write_unwritten(spool: Spool) -> None:
    """Write entries that are only in memory to the spool, as a last attempt."""
    try:
        await spool.write_out()
    except OSError as error:
        log.error("%d hook entries are lost, because the disk can't be written: %s", spool.unwritten_count, error)  # noqa: TRY400 - full disk


@asynccontextmanager
async def opened(home: Home, settings: Settings) -> AsyncIterator[App]:
    """Open the database and the objects that all parts of the daemon share; close them at the end."""
    database = await open_database(home.database)
    try:
        await migrate(database)
        async with database.write() as tx:
            await renumber_duplicates(tx)
        approved = await accepted(database, settings)
        in_force = settings.model_copy(
            update=with_tuples({name: approved[name] for name in refused(settings, approved)})
        )
        account = CappedBudget(Spending(database, in_force), in_force.embedder_base_url)
        embedding = _embedding(in_force, database, account)
        try:
            app = App(home, settings, database, embedding, accepted=approved)
            account.spending = app.llm.spending
            if app.config.refused():
                log.warning("settings without approval are not applied: %s", ", ".join(app.config.refused()))
            app.damage = await damage.at_start(home)
            if warning := app.damage.message(home.database):
                log.warning("%s", warning)
            await app.calibrate()
            await load_policy(home, database, app.config.current)
            try:
                yield app
            finally:
                await team.of(app).close()
                await _close(app.llm)
                await _save_findings(app)
        finally:
            await embedding.close()
    finally:
        await database.close()


async def _save_findings(app: App) -> None:
    """Store the redactions that were made since the last maintenance round."""
    try:
        await record_findings(app.database, app.settings.redaction_log)
    except sqlite3.Error as error:
        log.error("redaction findings can't be stored: %s", error)  # noqa: TRY400 - a full disk


async def _close(llm: LLMClient) -> None:
    """Close the providers; a provider that hangs must not make the next daemon wait for the lock."""
    try:
        await asyncio.wait_for(llm.close(), CLOSING_SECONDS)
    except Exception:
        # After any error of an SDK, the database still has to be closed and the lock released.
        log.exception("the providers can't be closed")


def _embedding(settings: Settings, database: Database, account: CappedBudget) -> Embedding:
    access = Access(
        model=settings.embedder_model,
        key=settings.embedder_key.get_secret_value(),
        base_url=settings.embedder_base_url,
        timeout=settings.embedder_timeout_seconds,
        check_seconds=settings.embedder_check_seconds,
    )
    manners = RemoteOptions(
        settings.embedder_prompts, settings.embedder_prompt_ms / 1000, account, pair_model.relations
    )
    embedding = Embedding(settings.embedder, database, access, manners)
    embedding.on_idle = (judge.unload, pair_model.clear)
    return embedding


async def _run_parts(app: App, spool: Spool, workers: Workers, server: Server, lock: Lock) -> None:
    """Run all loops; if one fails, the daemon stops, and the next hook starts a new one."""
    schedule = Schedule(app, spool)
    with_model.register(app)
    model_review.register(app)
    consolidating.register(app)
    searching.register(app)
    asking, reader, linking = DeferredWorker(app.database, app.later, app.signals), Refining(app), LinkDiscovery(app)
    # These can be interrupted at any time and continue later.
    loops: tuple[Part, ...] = (
        app.embedding.run,
        asking.run,
        reader.run,
        linking.run,
        WorktreeWatch(app).run,
        app.notes.run,
        lambda: maintenance.run(app),
        team.of(app).run,
        lambda: rendering.run(app),
        FileNames(app).run,
        lambda: recovery.run(app, spool),
    )
    interruptible = [asyncio.create_task(_run_part(app, loop)) for loop in loops]
    parts = [
        asyncio.create_task(_run_part(app, part))
        for part in (
            spool.watch,
            workers.run,
            schedule.run,
            lambda: _stop_when_idle(
                app,
                spool,
                lambda: workers.idle and asking.idle and linking.idle and not spool.unwritten_count,
                reader,
                schedule,
                lambda: lock.held and server.reachable,
            ),
        )
    ]
    await app.signals.stopping.wait()
    await _stop_parts(app, parts, interruptible)


async def _stop_parts(app: App, parts: list[asyncio.Task[None]], interruptible: list[asyncio.Task[None]]) -> None:
    """Let the parts finish their work in progress, then cancel the rest."""
    app.signals.queued.set()  # wakes the idle workers
    app.signals.spooled.set()
    _, late = await asyncio.wait(parts, timeout=LEAVING_SECONDS)
    await cancel({*late, *interruptible})
    await asyncio.gather(*parts, *interruptible, return_exceptions=True)


async def cancel(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel tasks until they have ended.

    Once is not enough: `asyncio.wait_for` of Python 3.11 loses a cancellation that arrives as its awaitable completes,
    and a loop that continues would hold the lock for ever.
    """
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=CANCEL_SECONDS)


async def _run_part(app: App, part: Part) -> None:
    try:
        while not await _completed(app, part) and not app.signals.stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(app.signals.stopping.wait(), DISK_SECONDS)
    except Exception as error:
        # Any error in a part stops the daemon (see finally); an error that shows a damaged database is recorded first.
        if isinstance(found := as_damage(error, app.home.database), LostStoreError):
            # Every later daemon would stop here too, so the next session reports it.
            await damage.note(app.home, app.damage, [found.message])
        # A failed loop can't be continued, and a daemon without it would only seem to work.
        log.exception("a part of the daemon failed")
    finally:
        app.signals.stopping.set()


async def _completed(app: App, part: Part) -> bool:
    """Run a loop; return False if a full disk (or similar) interrupted the loop, so that it can be restarted later."""
    try:
        await part()
    except Exception as error:
        # SQLite and the file system report a full disk with several error types; all other errors are raised again.
        if not app.disk.note(error):
            raise
        log.error("a part of the daemon pauses and retries: %s", error)  # noqa: TRY400 - a full disk, again and again
        return False
    return True


async def _stop_when_idle(
    app: App,
    spool: Spool,
    idle: Callable[[], bool],
    reader: Refining,
    schedule: Schedule,
    is_effective: Callable[[], bool],
) -> None:
    """Stop when the daemon is idle and no maintenance is due, or at once when it can't be reached any more."""
    while not app.signals.stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(app.signals.stopping.wait(), min(CHECK_SECONDS, app.settings.idle_exit_minutes * 60))
        if not is_effective():
            log.error("the lock or the socket was moved or deleted: stopping")
            return
        # The absolute difference: if the clock was set back, an idle daemon must not run until the clock has caught
        # up.
        quiet = abs(time() - app.signals.last_heard) > app.settings.idle_exit_minutes * 60
        # An entry that has arrived by now keeps the daemon running; the hook of a later entry finds no socket and
        # starts another daemon.
        if quiet and idle() and not await spool.waiting():
            await schedule.round()
            if await maintenance.run_due_jobs(app) or not await reader.idle():
                continue  # the jobs took time, or the round closed a session that a model must read
            log.info("idle for %g minutes: stopping", app.settings.idle_exit_minutes)
            return


def _stop_on_signals(app: App) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(name, app.signals.stopping.set)


def _write_pid_note(home: Home) -> None:
    """Write the process id for people, and for `daemon stop --force`, which kills this process."""
    note = json.dumps({"pid": os.getpid(), "version": __version__, "started_at": time()})
    replace_file(home.run / "daemon.json", note.encode())
