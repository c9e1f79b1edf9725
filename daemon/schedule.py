"""What has to happen now and then, and before the daemon leaves."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, time

from subconscious.errors import TranscriptError
from subconscious.model import Memory, Session
from subconscious.store import decisions, jobs, model_readings, sessions, triggers
from subconscious.surfacing import due

from . import bulk_upkeep, redacting, unconfirmed, watching
from .aside import LONGEST, QUIET, aside
from .core import Core
from .feedback import judge
from .learn import Source, learn
from .spool import Spool, entry_names
from .unwritten import learn_unwritten

log = logging.getLogger("subconscious.daemon")

ROUND_SECONDS = 30.0
DONE_JOBS_DAYS = 7.0
DAY = 86_400.0
DATED_AT_ONCE = 20
"""Memories whose words are looked through for dates in one transaction."""


DATING_PAUSE = 0.1
"""Seconds between two batches of memories whose dates are looked for."""
LONGEST_DATING = 20.0
"""Seconds after which the other upkeep has its turn; the next round goes on."""


class Schedule:
    """Closes silent sessions, expires what nobody decided on, keeps queue and spool small."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self._core = core
        self._spool = spool

    async def run(self) -> None:
        """Do a round now and again, until the daemon stops."""
        while not self._core.stopping.is_set():
            await self.round()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._core.stopping.wait(), ROUND_SECONDS)

    async def round(self) -> None:
        """One round; a phase that fails is logged and does not keep the next from its turn."""
        phases = (
            self.close_silent,
            self.expire,
            self.forget_done,
            self.look_again,
            self.ask_again,
            self._spool.keep_within_cap,
            self.redact,
            self.read_dates,
            self.settle,
            self.rest,
        )
        for phase in phases:
            try:
                await phase()
            except Exception as error:
                self._core.disk.note(error)
                # No error of upkeep may end the daemon: the next round tries it again.
                log.exception("upkeep: %s failed", phase.__name__)

    async def rest(self) -> None:
        """Free the memory that nobody has needed for a while."""
        await self._core.embedding.cool_down()

    async def close_silent(self) -> int:
        """Read to the end, and close, the sessions that fell silent without a word."""
        before = time() - self._core.settings.silent_minutes * 60
        silent = [
            session
            for session in await sessions.open_before(self._core.database, before)
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
        mind = await self._core.notes.told_in(self._core.mind(json.loads(session.options)), session)
        try:
            await learn(self._core, mind, source, final=True)
        except TranscriptError as error:
            if self._core.disk.note(error):
                raise  # it can be read once the machine has room again
            log.warning("session %s is closed unread: %s", session.id, error)
        await learn_unwritten(self._core, mind, source)
        await judge(mind, session.id, session.transcript, final=True)
        await unconfirmed.conclude(self._core, mind, session.id)
        async with self._core.database.write() as tx:
            await sessions.end(tx, session.id, session.last_event_at, "interrupted", "silence")
            await model_readings.call_due(tx, session.id)
        await unconfirmed.settle(self._core, mind, session.id)
        self._core.gathered.set()
        log.info("session %s closed: it fell silent", session.id)

    async def expire(self) -> None:
        """Close what waited for review too long, unless that is so much that the clock may be wrong."""
        now = time()
        late, waiting = await decisions.overdue(self._core.database, now)
        if await bulk_upkeep.may_run(self._core, bulk_upkeep.REVIEW, late, waiting) and late:
            async with self._core.database.write() as tx:
                await decisions.expire(tx, now)

    async def look_again(self) -> None:
        """Check what is stored when the rules have changed."""
        await watching.look_again(self._core)

    async def ask_again(self) -> None:
        """Ask a model about what was flagged."""
        await watching.ask_again(self._core)

    async def forget_done(self) -> None:
        """Drop old records of jobs that are done; none while an entry is left, which may be that of such a job."""
        if await asyncio.to_thread(entry_names, self._core.home.spool):
            return
        async with self._core.database.write() as tx:
            await jobs.forget_done(tx, time() - DONE_JOBS_DAYS * DAY)

    async def redact(self) -> None:
        """Write down what was found in texts; look through what was stored under other rules."""
        await redacting.write_down(self._core)
        await redacting.look_again(self._core)

    async def settle(self) -> None:
        """Make unconfirmed memories of what waits of sessions that are over, also from before there were any."""
        await unconfirmed.settle_all(self._core)

    async def read_dates(self) -> None:
        """Find in what was stored since, when it will be due by its own words."""
        latest = monotonic() + LONGEST_DATING
        while monotonic() < latest and (
            fresh := await triggers.unsearched(self._core.database, due.VERSION, DATED_AT_ONCE)
        ):
            await aside(self._core, QUIET, LONGEST)
            found = await asyncio.to_thread(_dated, fresh)
            async with self._core.database.write() as tx:
                for memory, told in zip(fresh, found, strict=True):
                    await triggers.keep(tx, memory, due.VERSION, told)
            await asyncio.sleep(DATING_PAUSE)


def _dated(fresh: Sequence[Memory]) -> list[list[tuple[str, float | None]]]:
    said = [f"{memory.content}\n{memory.rationale}" for memory in fresh]
    return [
        [(one.words, one.due_at) for one in due.triggers_of(text, memory.said_at)]
        for text, memory in zip(said, fresh, strict=True)
    ]


def _last_written(path: str) -> float:
    try:
        return Path(path).stat().st_mtime if path else 0.0
    except (OSError, ValueError):
        return 0.0
