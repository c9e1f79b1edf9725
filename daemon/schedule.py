"""Periodic maintenance, which also runs before the daemon stops."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, time

from subconscious.app import App
from subconscious.capture import unconfirmed_upkeep
from subconscious.capture.feedback import judge
from subconscious.capture.ingest import learn
from subconscious.capture.missing_prompts import learn_unwritten
from subconscious.capture.transcript_source import Source
from subconscious.context import bulk_limit
from subconscious.context.priority import LONGEST, QUIET, aside
from subconscious.domain.errors import TranscriptError
from subconscious.domain.model import Memory, Session
from subconscious.memories import poisoning_recheck
from subconscious.privacy import redacting
from subconscious.redaction.active_policy import record_findings
from subconscious.store import decisions, jobs, model_readings, sessions, triggers
from subconscious.text import due_dates

from .spool import Spool, entry_names

log = logging.getLogger("subconscious.daemon")

ROUND_SECONDS = 30.0
DONE_JOBS_DAYS = 7.0
DAY = 86_400.0
DATED_AT_ONCE = 20
"""The most memories that are searched for dates in one transaction."""


DATING_PAUSE = 0.1
"""Seconds between two batches of memories that are searched for dates."""
LONGEST_DATING = 20.0
"""Seconds after which the search for dates stops, so that other maintenance can run; the next round continues."""


class Schedule:
    """Closes inactive sessions, expires captures that nobody decided on, and limits the queue and the spool."""

    def __init__(self, app: App, spool: Spool) -> None:
        self._app = app
        self._spool = spool

    async def run(self) -> None:
        """Run rounds until the daemon stops."""
        while not self._app.signals.stopping.is_set():
            await self.round()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._app.signals.stopping.wait(), ROUND_SECONDS)

    async def round(self) -> None:
        """Run each phase of maintenance once; a phase that fails is logged and does not affect the next one."""
        phases = (
            self.close_inactive,
            self.expire,
            self.forget_done,
            self.look_again,
            self.ask_again,
            self._spool.keep_within_cap,
            self.redact,
            self.read_dates,
            self.settle,
            self.free_memory,
        )
        for phase in phases:
            try:
                await phase()
            except Exception as error:
                self._app.disk.note(error)
                # No error of maintenance may stop the daemon: the next round retries it.
                log.exception("maintenance: %s failed", phase.__name__)

    async def free_memory(self) -> None:
        """Unload a local model that has not been used for a while, and free its RAM."""
        await self._app.embedding.cool_down()

    async def close_inactive(self) -> int:
        """Close the sessions that have been inactive for long, after reading their transcripts; return how many."""
        before = time() - self._app.settings.silent_minutes * 60
        silent = [
            session
            for session in await sessions.inactive_since(self._app.database, before)
            if await asyncio.to_thread(_last_written, session.transcript) < before
        ]
        for session in silent:
            try:
                await self._close(session)
            except Exception:
                # One session that can't be closed must not keep the others open.
                log.exception("session %s can't be closed", session.id)
        return len(silent)

    async def _close(self, session: Session) -> None:
        source = Source(session.id, session.project_id, session.transcript, session.cwd, watched=True)
        ctx = await self._app.notes.with_client_texts_of(self._app.recall_context(json.loads(session.options)), session)
        try:
            await learn(self._app, ctx, source, final=True)
        except TranscriptError as error:
            if self._app.disk.note(error):
                raise  # it can be read once the disk has space again
            log.warning("session %s is closed, but its transcript can't be read: %s", session.id, error)
        await learn_unwritten(self._app, ctx, source)
        await judge(ctx, session.id, session.transcript, final=True)
        await unconfirmed_upkeep.conclude(self._app, ctx, session.id)
        async with self._app.database.write() as tx:
            await sessions.end(tx, session.id, session.last_event_at, "interrupted", "silence")
            await model_readings.make_due(tx, session.id)
        await unconfirmed_upkeep.settle(self._app, ctx, session.id)
        self._app.signals.gathered.set()
        log.info("session %s closed after inactivity", session.id)

    async def expire(self) -> None:
        """Expire captures that waited too long for review, unless they are so many that the clock may be wrong."""
        now = time()
        late, waiting = await decisions.overdue(self._app.database, now)
        if await bulk_limit.may_run(self._app.database, bulk_limit.REVIEW, late, waiting) and late:
            async with self._app.database.write() as tx:
                await decisions.expire(tx, now)

    async def look_again(self) -> None:
        """Repeat the poisoning check of stored memories after its rules have changed."""
        await poisoning_recheck.look_again(self._app)

    async def ask_again(self) -> None:
        """Have a model check the captures and memories again that the poisoning check flagged."""
        await poisoning_recheck.ask_again(self._app)

    async def forget_done(self) -> None:
        """Delete old records of finished jobs, unless the spool has entries, which may belong to one of these jobs."""
        if await asyncio.to_thread(entry_names, self._app.home.spool):
            return
        async with self._app.database.write() as tx:
            await jobs.delete_done(tx, time() - DONE_JOBS_DAYS * DAY)

    async def redact(self) -> None:
        """Store new redactions; scan data that was stored under older redaction rules."""
        await record_findings(self._app.database, self._app.settings.redaction_log)
        await redacting.rescan_stored(self._app)

    async def settle(self) -> None:
        """Store ended sessions' best waiting captures as unconfirmed memories; reassess captures of old releases."""
        await unconfirmed_upkeep.settle_all(self._app)

    async def read_dates(self) -> None:
        """Find due dates in the texts of new memories."""
        latest = monotonic() + LONGEST_DATING
        while monotonic() < latest and (
            fresh := await triggers.unsearched(self._app.database, due_dates.VERSION, DATED_AT_ONCE)
        ):
            await aside(self._app.signals, QUIET, LONGEST)
            found = await asyncio.to_thread(_due_dates, fresh)
            async with self._app.database.write() as tx:
                for memory, dates in zip(fresh, found, strict=True):
                    await triggers.replace(tx, memory, due_dates.VERSION, dates)
            await asyncio.sleep(DATING_PAUSE)


def _due_dates(fresh: Sequence[Memory]) -> list[list[tuple[str, float | None]]]:
    said = [f"{memory.content}\n{memory.rationale}" for memory in fresh]
    return [
        [(one.words, one.due_at) for one in due_dates.triggers_of(text, memory.said_at)]
        for text, memory in zip(said, fresh, strict=True)
    ]


def _last_written(path: str) -> float:
    try:
        return Path(path).stat().st_mtime if path else 0.0
    except (OSError, ValueError):
        return 0.0
