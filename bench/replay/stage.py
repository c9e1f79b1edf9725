"""The daemon's parts in one process on the replay's clock, with the hooks that send events to them.

Nothing is switched off or imitated: an event becomes a spool entry and a job, and whoever asks is answered by the code
that answers the hooks. What differs from a running daemon is who drives it: the loops (jobs, embeddings, links, upkeep)
take their turns one after the other instead of side by side, so that every run gives the same result.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.clock import Clock, replaced, wholly_on
from bench.replay.history import Event, History, Line, Session
from daemon.events import EVENTS
from daemon.lifecycle import opened
from daemon.schedule import Schedule
from daemon.spool import Spool
from subconscious import __version__
from subconscious.app import App
from subconscious.app.work import Work
from subconscious.authorship.attestation import record_prompt
from subconscious.capture.llm_extraction.refinement_worker import Refining
from subconscious.consolidation import consolidating
from subconscious.context.entry import Entry, read_entry
from subconscious.embeddings.embedder import NONE
from subconscious.hook_responses import Answers
from subconscious.imports import with_model
from subconscious.links import discovery, model_review
from subconscious.links.judge import VERSION as LINK_RULES
from subconscious.llm.client import LLMClient
from subconscious.llm.deferred import DeferredRequests
from subconscious.llm.providers import Access, Request
from subconscious.llm.providers.scripted import ScriptedProvider
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import embedding_queue, jobs, links
from subconscious.store.projects import Project
from subconscious.system.projects import head
from subconscious.upkeep import maintenance

ROUND_SECONDS = 600.0
"""The daemon's upkeep has a round every half minute; a replayed hour need not have more than six."""

DAY = 86_400.0
MARGIN = 60.0
"""Seconds after something is due at which it is looked for."""

PATIENCE = 60.0
"""Short background work is awaited here, because the replay's clock does not move."""

LEASE = 3600.0
LINKS_AT_ONCE = 20


Model = Callable[[Request], str]
"""A stand-in for a model: a function from the request to the text of the answer."""

WITH_MODEL = {
    "provider": "scripted",
    "requests_per_minute": 10**9,
    "tokens_per_minute": 10**9,
    "cost_assumed": 0.0,
}
"""The replay's clock does not move, so no pause of minutes is awaited."""


class Transcript:
    """A session's transcript file, which grows during the replay."""

    def __init__(self, path: Path, lines: Sequence[Line]) -> None:
        self.path = path
        self._lines = lines
        self._times = [line.at for line in lines]
        self._shown = 0

    def show(self, count: int) -> None:
        """Write the first ``count`` lines, if they are not there yet; the file's date is that of the last one."""
        if count <= self._shown:
            return
        with self.path.open("ab") as file:
            file.write(b"".join(line.raw for line in self._lines[self._shown : count]))
        self._shown = count
        os.utime(self.path, (self._times[count - 1],) * 2)

    def show_before(self, at: float) -> None:
        """Write the lines from before that time; a session that has not begun has no file."""
        self.show(bisect_left(self._times, at))


class Stage:
    """The parts of a daemon with a separate store, and the transcripts of one history."""

    def __init__(self, app: App, clock: Clock, history: History, folder: Path) -> None:
        self.app = app
        self.clock = clock
        self.branch = ""
        self.failed: list[str] = []
        self._sessions = history.sessions
        self._spool = Spool(app)
        self._answers = Answers(app, self._spool.sweep)
        self._schedule = Schedule(app, self._spool)
        self._refining = Refining(app)
        self._transcripts = [Transcript(folder / f"{one.sid}.jsonl", one.lines) for one in history.sessions]
        self._entries = 0
        self._round_at = 0.0

    async def project(self) -> Project:
        """The project of the history's sessions."""
        return await self.app.project_of(self._sessions[0].cwd)

    async def live_until(self, at: float) -> None:
        """Let the time until the next event go by: nights, and the silence after which sessions are closed."""
        silence = self.app.settings.silent_minutes * 60 + MARGIN
        if at - self.clock.now > silence:
            await self._round(self.clock.now + silence)
        while (night := self._next_night()) < at:
            await self._round(night)
            await self._maintain()
        self.clock.now = at
        if at - self._round_at >= ROUND_SECONDS:
            await self._round(at)

    def _next_night(self) -> float:
        """The next time when maintenance is due; also after a day without events."""
        hour = self.app.settings.maintenance_hour
        return maintenance.due_since("nightly", self.clock.now, hour) + DAY + MARGIN

    async def _round(self, at: float) -> None:
        """One round of the daemon's upkeep: it closes silent sessions and expires what waited too long."""
        self.clock.now = self._round_at = at
        for transcript in self._transcripts:
            transcript.show_before(at)
        self._calm()
        await self._schedule.round()
        await self._settle()

    async def _maintain(self) -> None:
        for job in await maintenance.waiting(self.app):
            self._calm()
            await maintenance.run_now(self.app, job)
        await self._settle()

    def _calm(self) -> None:
        """No request is pending, so upkeep does not pause."""
        self.app.signals.last_heard = self.clock.now - DAY

    async def hand_over(self, event: Event) -> str:
        """Hand an event over as its hook does: an entry in the spool, then a question; returns the context given."""
        session = self._sessions[event.session]
        self.branch = session.branch
        transcript = self._transcripts[event.session]
        transcript.show(event.visible)
        entry = await asyncio.to_thread(self._spool_entry, event, session, transcript.path)
        answer = await self._ask(entry)
        await self._work_off()
        return _context(answer)

    def _spool_entry(self, event: Event, session: Session, transcript: Path) -> Entry:
        self._entries += 1
        moment = int(event.at * 1e9)
        path = self.app.home.spool / f"{moment:020d}-1-{self._entries:08x}.entry"
        header = f"subconscious 1\t{event.name}\t{moment}\t{session.cwd}\t\t{__version__}\t\n"
        said = {"session_id": session.sid, "transcript_path": str(transcript), "cwd": session.cwd}
        path.write_text(header + json.dumps(said | {"hook_event_name": event.name} | dict(event.payload)))
        os.utime(path, (event.at, event.at))
        return read_entry(path)

    async def _ask(self, entry: Entry) -> bytes:
        """Vouch for the prompts of a hook, as the server does for a person's client."""
        prompted = entry.event == "UserPromptSubmit"
        if prompted:
            self.app.sessions.vouched.add(entry)
        async with self.app.signals.answering[entry.payload.session_id]:
            answer = await self._answers.answer(entry, "")
        if prompted:
            await record_prompt(self.app, entry)
        return answer

    async def _work_off(self) -> None:
        await self._spool.sweep()
        while (job := await self._lease()) is not None:
            try:
                entry = await asyncio.to_thread(read_entry, self._spool.path(job.name))
                await EVENTS[job.event](Work(self.app, job, entry))
            except Exception as error:  # noqa: BLE001 - one job must not end the replay; the report counts them
                self.failed.append(f"{job.event}: {type(error).__name__}: {error}")
                async with self.app.database.write() as tx:
                    await jobs.bury(tx, job.name, job.event, "failed", self.clock.now)
            self._spool.remove(job.name)
        await self._settle()

    async def _lease(self) -> jobs.Job | None:
        async with self.app.database.write() as tx:
            return await jobs.lease(tx, self.clock.now, LEASE)

    async def settled(self) -> None:
        """Wait until memories stored outside of a job have their vectors and links."""
        await self._settle()

    async def _settle(self) -> None:
        while await self._refining.step():
            pass
        embedding = self.app.embedding
        if embedding.name == NONE:
            return
        while (await embedding_queue.counts(self.app.database)).get("pending"):
            embedding.settled.clear()
            embedding.wake()
            await embedding.settled.wait()
        while waiting := await links.unsearched(self.app.database, LINK_RULES, LINKS_AT_ONCE, embedded=True):
            for memory in waiting:
                await discovery.search(self.app, memory)


def _context(answer: bytes) -> str:
    """The part of a hook's output that enters the model's context."""
    try:
        said = json.loads(answer) if answer else {}
    except ValueError:
        return ""  # what a compaction is told is no JSON, and goes to the summary alone
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))


@asynccontextmanager
async def stage(history: History, folder: Path, settings: Settings, model: Model | None = None) -> AsyncIterator[Stage]:
    """The stage of one history in a temporary folder. The project's folder must not exist on this machine.

    ``model`` answers the requests to a provider; without one everything is offline.
    """
    settings = settings if model is None else settings.model_copy(update=WITH_MODEL)
    present = next((session.cwd for session in history.sessions if Path(session.cwd).exists()), None)
    if present is not None:
        raise SystemExit(f"{present} exists here: the replay would read today's files. Move it away")
    clock = Clock(min(session.start for session in history.sessions))
    with wholly_on(clock), _unhurried():
        home = Home(folder / "home")
        home.make()
        transcripts = folder / "transcripts"
        transcripts.mkdir()
        async with opened(home, settings) as app:
            app.started_at = app.signals.last_heard = clock.now
            if model is not None:
                _give_model(app, model)
            made = Stage(app, clock, history, transcripts)
            # The project is known by its folder alone; its branch is the one in the plan.
            with replaced("head", head, lambda _: (made.branch, "")):
                async with _embedding(app):
                    yield made


def _give_model(app: App, model: Model) -> None:
    """Replace a provider's model by a function; limits, records and parsing are the daemon's."""

    def opener(name: str, access: Access) -> ScriptedProvider:
        del name
        return ScriptedProvider(replace(access, model="stand-in", options={"script": model}))

    app.llm = LLMClient(app.database, app.config.current, opener)
    app.later = DeferredRequests(app.database, app.llm)
    for part in (with_model, model_review, consolidating):
        part.register(app)


@contextmanager
def _unhurried() -> Iterator[None]:
    """No event arrives while the clock does not move, and long work takes no time on it."""
    with (
        patch("subconscious.capture.transcript_source.HOOK_SECONDS", 0.0),
        patch("subconscious.hook_responses.CATCH_UP", PATIENCE),
        patch("subconscious.hook_responses.COMPACT_CATCH_UP", PATIENCE),
    ):
        yield


@asynccontextmanager
async def _embedding(app: App) -> AsyncIterator[None]:
    task: asyncio.Task[Any] = asyncio.create_task(app.embedding.run())
    try:
        await app.embedding.wait_until_open()
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
