"""The daemon's own parts in one process, on the replay's clock, and the hooks that hand events over to them.

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
from daemon import consolidating, import_model, link_model, linking, maintenance
from daemon.answers import Answers
from daemon.core import Core
from daemon.entry import Entry, read_entry
from daemon.events import EVENTS
from daemon.lifecycle import opened
from daemon.refining import Refining
from daemon.schedule import Schedule
from daemon.spool import Spool
from daemon.vouching import write_down
from daemon.work import Work
from subconscious import __version__
from subconscious.embeddings import NONE
from subconscious.home import Home
from subconscious.links.judge import VERSION as LINK_RULES
from subconscious.llm.client import LLMClient
from subconscious.llm.later import Later
from subconscious.projects import head
from subconscious.providers import Access, Request
from subconscious.providers.scripted import ScriptedProvider
from subconscious.settings import Settings
from subconscious.store import embedding_queue, jobs, link_searches
from subconscious.store.connect import HURRIED
from subconscious.store.projects import Project

ROUND_SECONDS = 600.0
"""The daemon's upkeep has a round every half minute; a replayed hour need not have more than six."""

DAY = 86_400.0
MARGIN = 60.0
"""Seconds after something is due at which it is looked for."""

PATIENCE = 60.0
"""What the daemon waits for within fractions of a second is waited for here: the replay's clock stands still."""

LEASE = 3600.0
LINKS_AT_ONCE = 20


Model = Callable[[Request], str]
"""What stands in for a model: from what it is asked to the text of its answer."""

WITH_MODEL = {
    "provider": "scripted",
    "requests_per_minute": 10**9,
    "tokens_per_minute": 10**9,
    "cost_assumed": 0.0,
}
"""No minute goes by while the replay's clock stands still, so nobody waits for one."""


class Transcript:
    """A session's transcript file, which grows as the replay goes on."""

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
        """Write what was written before that time; a session that has not begun has no file."""
        self.show(bisect_left(self._times, at))


class Stage:
    """A daemon's parts over a store of its own, and the transcripts of one history."""

    def __init__(self, core: Core, clock: Clock, history: History, folder: Path) -> None:
        self.core = core
        self.clock = clock
        self.branch = ""
        self.failed: list[str] = []
        self._sessions = history.sessions
        self._spool = Spool(core)
        self._answers = Answers(core, self._spool)
        self._schedule = Schedule(core, self._spool)
        self._refining = Refining(core)
        self._transcripts = [Transcript(folder / f"{one.sid}.jsonl", one.lines) for one in history.sessions]
        self._entries = 0
        self._round_at = 0.0

    async def project(self) -> Project:
        """The project of the history's sessions."""
        return await self.core.project_of(self._sessions[0].cwd)

    async def live_until(self, at: float) -> None:
        """Let the time until the next event go by: nights, and the silence after which sessions are closed."""
        silence = self.core.settings.silent_minutes * 60 + MARGIN
        if at - self.clock.now > silence:
            await self._round(self.clock.now + silence)
        while (night := self._next_night()) < at:
            await self._round(night)
            await self._maintain()
        self.clock.now = at
        if at - self._round_at >= ROUND_SECONDS:
            await self._round(at)

    def _next_night(self) -> float:
        """When maintenance is due next; also after a day on which nothing else happened."""
        hour = self.core.settings.maintenance_hour
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
        for job in await maintenance.waiting(self.core):
            self._calm()
            await maintenance.carry_out_now(self.core, job)
        await self._settle()

    def _calm(self) -> None:
        """Nobody is about to be answered, so that upkeep need not step aside."""
        self.core.last_heard = self.clock.now - DAY

    async def hand_over(self, event: Event) -> str:
        """Hand an event over as its hook does: an entry in the spool, then a question; returns the context given."""
        session = self._sessions[event.session]
        self.branch = session.branch
        transcript = self._transcripts[event.session]
        transcript.show(event.visible)
        entry = await asyncio.to_thread(self._spool_entry, event, session, transcript.path)
        # In a task, as each of the server's connections is: what is set for a hook in a hurry holds for it alone.
        answer = await asyncio.create_task(self._ask(entry))
        await self._work_off()
        return _context(answer)

    def _spool_entry(self, event: Event, session: Session, transcript: Path) -> Entry:
        self._entries += 1
        moment = int(event.at * 1e9)
        path = self.core.home.spool / f"{moment:020d}-1-{self._entries:08x}.entry"
        header = f"subconscious 1\t{event.name}\t{moment}\t{session.cwd}\t\t{__version__}\t\n"
        said = {"session_id": session.sid, "transcript_path": str(transcript), "cwd": session.cwd}
        path.write_text(header + json.dumps(said | {"hook_event_name": event.name} | dict(event.payload)))
        os.utime(path, (event.at, event.at))
        return read_entry(path)

    async def _ask(self, entry: Entry) -> bytes:
        """What the server does for a hook that a person's client runs: its prompts are that person's."""
        prompted = entry.event == "UserPromptSubmit"
        if prompted:
            self.core.vouched.add(entry)
        async with self.core.answering[entry.payload.session_id]:
            HURRIED.set(True)
            answer = await self._answers.answer(entry, "")
        if prompted:
            await write_down(self.core, entry)
        return answer

    async def _work_off(self) -> None:
        await self._spool.sweep()
        while (job := await self._lease()) is not None:
            try:
                entry = await asyncio.to_thread(read_entry, self._spool.path(job.name))
                await EVENTS[job.event](Work(self.core, job, entry))
            except Exception as error:  # noqa: BLE001 - one job must not end the replay; the report counts them
                self.failed.append(f"{job.event}: {type(error).__name__}: {error}")
                async with self.core.database.write() as tx:
                    await jobs.bury(tx, job.name, job.event, "failed", self.clock.now)
            self._spool.remove(job.name)
        await self._settle()

    async def _lease(self) -> jobs.Job | None:
        async with self.core.database.write() as tx:
            return await jobs.lease(tx, self.clock.now, LEASE)

    async def settled(self) -> None:
        """Wait until what was stored outside of a job has its vector and its links."""
        await self._settle()

    async def _settle(self) -> None:
        while await self._refining.step():
            pass
        embedding = self.core.embedding
        if embedding.name == NONE:
            return
        while (await embedding_queue.backlog(self.core.database)).get("pending"):
            embedding.settled.clear()
            embedding.wake()
            await embedding.settled.wait()
        while waiting := await link_searches.waiting(self.core.database, LINK_RULES, LINKS_AT_ONCE, embedded=True):
            for memory in waiting:
                await linking.search(self.core, memory)


def _context(answer: bytes) -> str:
    """What enters the model's context of what a hook prints."""
    try:
        said = json.loads(answer) if answer else {}
    except ValueError:
        return ""  # what a compaction is told is no JSON, and goes to the summary alone
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))


@asynccontextmanager
async def stage(history: History, folder: Path, settings: Settings, model: Model | None = None) -> AsyncIterator[Stage]:
    """The stage of one history in a temporary folder. The project's folder must not exist on this machine.

    ``model`` answers what a provider's model would be asked; without one everything is offline.
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
        async with opened(home, settings) as core:
            core.started_at = core.last_heard = clock.now
            if model is not None:
                _give_model(core, model)
            made = Stage(core, clock, history, transcripts)
            # The project is known by its folder alone; its branch is the one in the plan.
            with replaced("head", head, lambda _: (made.branch, "")):
                async with _embedding(core):
                    yield made


def _give_model(core: Core, model: Model) -> None:
    """Let a function stand in for a provider's model; limits, records and the reading of answers are the daemon's."""

    def opener(name: str, access: Access) -> ScriptedProvider:
        del name
        return ScriptedProvider(replace(access, model="stand-in", options={"script": model}))

    core.llm = LLMClient(core.database, core.in_force(core.settings), opener)
    core.later = Later(core.database, core.llm)
    for part in (import_model, link_model, consolidating):
        part.register(core)


@contextmanager
def _unhurried() -> Iterator[None]:
    """Nobody hands anything over while the clock stands still, and what takes long takes no time on it."""
    with (
        patch("daemon.learn.HOOK_SECONDS", 0.0),
        patch("daemon.answers.CATCH_UP", PATIENCE),
        patch("daemon.answers.COMPACT_CATCH_UP", PATIENCE),
    ):
        yield


@asynccontextmanager
async def _embedding(core: Core) -> AsyncIterator[None]:
    task: asyncio.Task[Any] = asyncio.create_task(core.embedding.run())
    try:
        await core.embedding.opened()
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
