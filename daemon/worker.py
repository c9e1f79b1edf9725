"""Runs the jobs of the queue in a limited number of tasks, each job with a timeout."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import sqlite3
from time import time

from subconscious.app import App
from subconscious.app.work import Work
from subconscious.context.entry import BrokenEntryError, read_entry
from subconscious.context.priority import LONGEST, aside
from subconscious.domain.errors import UnreadableTranscriptError
from subconscious.redaction.log_redaction import describe_error
from subconscious.store import jobs
from subconscious.store.jobs import Job

from .events import EVENTS
from .spool import Spool

log = logging.getLogger("subconscious.daemon")

LONGEST_PAUSE = 300.0
"""The most seconds between two attempts of a job."""

LEASE_MARGIN = 5.0
"""Seconds that the lease of a job lasts beyond the timeout of the job."""

DATABASE_PAUSE = 5.0
"""Seconds to wait when the database can't be used at all."""

LONGEST_REST = 60.0
"""Seconds without a signal after which an idle worker checks the queue anyway."""


class Workers:
    """Tasks that lease, run and finish jobs."""

    def __init__(self, app: App, spool: Spool) -> None:
        self._app = app
        self._spool = spool
        self._busy = 0

    @property
    def idle(self) -> bool:
        """Whether no job is running."""
        return self._busy == 0

    async def run(self) -> None:
        """Run jobs until the daemon stops; running jobs are finished first."""
        async with self._app.database.write() as tx:
            await jobs.release(tx)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._app.settings.workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            await aside(self._app.signals, most=LONGEST)
            if self._app.signals.stopping.is_set():
                return
            # The signal is cleared before the check, so that a job queued between check and wait sets it again. It is
            # never cleared once the daemon stops, because stopping sets it only once, to wake every idle worker.
            self._app.signals.queued.clear()
            job = await self._lease()
            if job is None:
                await self._wait_for_job()
                continue
            self._busy += 1
            try:
                await self._attempt(job)
            except Exception:
                # The job could not even be buried, for example on a full disk: its lease expires, and it runs again.
                log.exception("the result of job %s could not be stored", job.name)
                await asyncio.sleep(DATABASE_PAUSE)
            finally:
                self._busy -= 1
                self._app.signals.queued.set()  # the next job of this job's session can run now

    async def _lease(self) -> Job | None:
        seconds = self._app.settings.job_timeout_seconds + LEASE_MARGIN
        try:
            async with self._app.database.write() as tx:
                return await jobs.lease(tx, time(), seconds)
        except sqlite3.Error as error:
            self._app.disk.note(error)
            log.error("the queue can't be read: %s", error)  # noqa: TRY400 - a full disk, again and again
            await asyncio.sleep(DATABASE_PAUSE)
            return None

    async def _wait_for_job(self) -> None:
        due = await jobs.next_due(self._app.database)
        pause = LONGEST_REST if due is None else min(LONGEST_REST, max(0.05, due - time()))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._app.signals.queued.wait(), pause)

    async def _attempt(self, job: Job) -> None:
        try:
            async with asyncio.timeout(self._app.settings.job_timeout_seconds):
                await self._run(job)
        except (FileNotFoundError, BrokenEntryError) as error:
            await self._bury(job, f"the entry of the job is missing or broken: {error}")
        except UnreadableTranscriptError as error:
            await self._bury(job, error.message)
        except Exception as error:
            # Any failure of a job ends the attempt, never the worker.
            log.exception("job %s (%s) failed, try %d", job.name, job.event, job.attempts)
            await self._fail(job, error)
        else:
            self._spool.remove(job.name)

    async def _run(self, job: Job) -> None:
        entry = await asyncio.to_thread(read_entry, self._spool.path(job.name))
        await EVENTS[job.event](Work(self._app, job, entry))

    async def _fail(self, job: Job, error: Exception) -> None:
        """Retry a job later, or bury it (no more retries); a failure such as a full disk never buries a job."""
        reason = describe_error(error)
        not_its_fault = self._app.disk.note(error) or isinstance(error, sqlite3.OperationalError)
        if job.attempts >= self._app.settings.job_attempts and not not_its_fault:
            await self._bury(job, reason)
            return
        # Exponential backoff, shortened at random by up to half: jobs that failed together are not retried together.
        pause = min(LONGEST_PAUSE, 2.0 ** min(job.attempts, 10)) * (0.5 + random.random() / 2)  # noqa: S311 - no secret
        try:
            async with self._app.database.write() as tx:
                await jobs.retry(tx, job, time() + pause, reason)
        except sqlite3.Error:
            # If nothing can be written, the job stays leased, and runs again when the lease has expired.
            await asyncio.sleep(min(pause, DATABASE_PAUSE))

    async def _bury(self, job: Job, reason: str) -> None:
        log.error("job %s (%s) failed and is not retried: %s", job.name, job.event, reason)
        async with self._app.database.write() as tx:
            await jobs.bury(tx, job.name, job.event, reason, time())
        await self._spool.bury(job.name)
