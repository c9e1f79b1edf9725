"""Works the queue off: bounded, with timeouts, and graceful at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import sqlite3
from time import time

from subconscious.errors import UnreadableTranscriptError
from subconscious.store import jobs
from subconscious.store.jobs import Job

from .aside import LONGEST, aside
from .core import Core
from .discretion import said
from .entry import BrokenEntryError, read_entry
from .events import EVENTS
from .spool import Spool
from .work import Work

log = logging.getLogger("subconscious.daemon")

LONGEST_PAUSE = 300.0
"""Seconds between two tries, at the most."""

LEASE_MARGIN = 5.0
"""Seconds a lease outlasts the time a job may take."""

WORLD_PAUSE = 5.0
"""Seconds to wait when the database can't be used at all."""

LONGEST_REST = 60.0
"""Seconds without a signal after which an idle worker looks at the queue all the same."""


class Workers:
    """A few tasks that lease, run and finish jobs."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self._core = core
        self._spool = spool
        self._busy = 0

    @property
    def idle(self) -> bool:
        """Whether no job is under way."""
        return self._busy == 0

    async def run(self) -> None:
        """Work until the daemon stops; a job under way is finished first."""
        async with self._core.database.write() as tx:
            await jobs.release(tx)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._core.settings.workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            await aside(self._core, most=LONGEST)
            if self._core.stopping.is_set():
                return
            # Cleared before the look, so that a job queued between look and wait sets it again; and never after the
            # daemon was told to stop, which sets it once to wake every worker that rests.
            self._core.queued.clear()
            job = await self._lease()
            if job is None:
                await self._rest()
                continue
            self._busy += 1
            try:
                await self._attempt(job)
            except Exception:
                # Not even the burying worked, on a full disk say: the lease runs out, and the job is taken up again.
                log.exception("job %s could not be ended", job.name)
                await asyncio.sleep(WORLD_PAUSE)
            finally:
                self._busy -= 1
                self._core.queued.set()  # this job's lane is free again

    async def _lease(self) -> Job | None:
        seconds = self._core.settings.job_timeout_seconds + LEASE_MARGIN
        try:
            async with self._core.database.write() as tx:
                return await jobs.lease(tx, time(), seconds)
        except sqlite3.Error as error:
            self._core.disk.note(error)
            log.error("the queue can't be read: %s", error)  # noqa: TRY400 - a full disk, again and again
            await asyncio.sleep(WORLD_PAUSE)
            return None

    async def _rest(self) -> None:
        due = await jobs.next_due(self._core.database)
        pause = LONGEST_REST if due is None else min(LONGEST_REST, max(0.05, due - time()))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._core.queued.wait(), pause)

    async def _attempt(self, job: Job) -> None:
        try:
            async with asyncio.timeout(self._core.settings.job_timeout_seconds):
                await self._run(job)
        except (FileNotFoundError, BrokenEntryError) as error:
            await self._bury(job, f"its entry is gone or broken: {error}")
        except UnreadableTranscriptError as error:
            await self._bury(job, error.message)
        except Exception as error:
            # Any failure of a job ends that try and never the worker.
            log.exception("job %s (%s) failed, try %d", job.name, job.event, job.attempts)
            await self._fail(job, error)
        else:
            self._spool.remove(job.name)

    async def _run(self, job: Job) -> None:
        entry = await asyncio.to_thread(read_entry, self._spool.path(job.name))
        await EVENTS[job.event](Work(self._core, job, entry))

    async def _fail(self, job: Job, error: Exception) -> None:
        """Try again later, or bury. What is no fault of the job (a full disk, say) never buries it."""
        reason = said(error)
        world = self._core.disk.note(error) or isinstance(error, sqlite3.OperationalError)
        if job.attempts >= self._core.settings.job_attempts and not world:
            await self._bury(job, reason)
            return
        # Full jitter on an exponential pause: jobs that failed together don't come back together.
        pause = min(LONGEST_PAUSE, 2.0 ** min(job.attempts, 10)) * (0.5 + random.random() / 2)  # noqa: S311 - no secret
        try:
            async with self._core.database.write() as tx:
                await jobs.retry(tx, job, time() + pause, reason)
        except sqlite3.Error:
            # Where nothing can be written the lease stands, and the job is taken up again when that has run out.
            await asyncio.sleep(min(pause, WORLD_PAUSE))

    async def _bury(self, job: Job, reason: str) -> None:
        log.error("job %s (%s) buried: %s", job.name, job.event, reason)
        async with self._core.database.write() as tx:
            await jobs.bury(tx, job.name, job.event, reason, time())
        await self._spool.bury(job.name)
