"""What a hook prints: the answers to `ask` (docs/protocol.md)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import time

from subconscious import surfacing
from subconscious.flow import Start, surface_start
from subconscious.model import Session
from subconscious.projects import head
from subconscious.store import captures, events, jobs, memories, sessions, surfaces
from subconscious.store.projects import Project

from . import typed
from .core import Core
from .entry import Entry
from .learn import Source, learn
from .spool import Spool

CATCH_UP = 0.3
"""Seconds a start waits for what the project's other sessions have just handed over."""

COMPACT_CATCH_UP = 0.5
"""Seconds a compaction waits for the reading of what it is about to shorten."""

FIT = "fits the branch and the latest words"
"""Why the engines' hits are given at a start."""

FORGETFUL = frozenset({"clear", "compact"})
"""Sources of a start after which nothing of what was given is in the context any more (SPEC B12)."""


class Answers:
    """Composes what the hooks print."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self._core = core
        self._spool = spool

    async def answer(self, entry: Entry) -> bytes:
        """The bytes a hook prints, none for silence."""
        compose = ANSWERS.get(entry.event)
        if compose is None:
            return b""
        project = await self._core.project_of(entry.folder)
        return await compose(self, entry, project)

    async def _start(self, entry: Entry, project: Project) -> bytes:
        mind = self._core.mind(entry.options)
        session_id, source = entry.payload.session_id, entry.payload.source
        if source in FORGETFUL:
            async with mind.database.write() as tx:
                await surfaces.reset(tx, session_id)
        if not mind.settings.surface:
            return b""
        await self._catch_up(project)
        branch, _ = await asyncio.to_thread(head, entry.payload.cwd or entry.folder)
        before = await sessions.before(mind.database, project.id, session_id)
        extra = _broken_off(before) if source == "startup" else ()
        start = Start(session_id, project.id, f"start/{source}", branch, FIT, _hints(branch, before), extra)
        context = await surface_start(mind, start)
        told = await self._waiting(project) if source == "startup" else ""
        return _output("SessionStart", context.text, told)

    async def _catch_up(self, project: Project) -> None:
        """Let what was said a moment ago, in a session that has just ended, be known to the one that begins."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CATCH_UP):
                await self._spool.sweep()
                last = [session.id for session in await sessions.listing(self._core.database, project.id, 5)]
                while await jobs.busy_lanes(self._core.database, last):
                    await asyncio.sleep(0.01)

    async def _waiting(self, project: Project) -> str:
        """One line for the person, once for every batch of captures that came since the last one."""
        since = await events.last(self._core.database, "told", "project", project.id)
        fresh = await captures.waiting(self._core.database, project.id, since)
        if not fresh:
            return ""
        async with self._core.database.write() as tx:
            await events.record(tx, "told", "project", project.id, reason=f"{fresh} captures wait for review")
        waits = await captures.waiting(self._core.database, project.id)
        what = "captured statement waits" if waits == 1 else "captured statements wait"
        return f"Subconscious: {waits} {what} for your review (`subconscious review` in a terminal)."

    async def _prompt(self, entry: Entry, project: Project) -> bytes:
        return _output("UserPromptSubmit", await typed.carry_out(self._core, entry, project, waiting=True), "")

    async def _compaction(self, entry: Entry, project: Project) -> bytes:
        """Tell the compaction what must survive: what this session decided, and what is pinned."""
        mind = self._core.mind(entry.options)
        if not mind.settings.surface:
            return b""
        source = Source(entry.payload.session_id, project.id, entry.payload.transcript_path, entry.folder)
        with suppress(TimeoutError):
            async with asyncio.timeout(COMPACT_CATCH_UP):
                await self._learn_now(entry, project, source)
        said = await memories.of_session(mind.database, source.session_id)
        pinned = [m for m in await memories.core(mind.database, project.id, 10) if m.pinned and m not in said]
        budget = surfacing.Budget(mind.settings.start_tokens, mind.settings.start_characters, 50)
        return surfacing.survivors(said + pinned, budget).encode()

    async def _learn_now(self, entry: Entry, project: Project, source: Source) -> None:
        async with self._core.database.write() as tx:
            await sessions.note(
                tx,
                source.session_id,
                project.id,
                min(entry.at, time()),
                transcript=source.path,
                cwd=entry.folder,
            )
        await learn(self._core, self._core.mind(entry.options), source)


ANSWERS: dict[str, Callable[[Answers, Entry, Project], Awaitable[bytes]]] = {
    "SessionStart": Answers._start,
    "UserPromptSubmit": Answers._prompt,
    "PreCompact": Answers._compaction,
}


def _hints(branch: str, before: Session | None) -> str:
    """What a session may be about before anybody has typed: the branch, and where the last one was."""
    words = [branch.replace("/", " ").replace("-", " ").replace("_", " ")]
    if before is not None:
        words += [before.first_prompt, before.last_prompt]
    return " ".join(words)


def _broken_off(before: Session | None) -> tuple[str, ...]:
    if before is None or before.status != "interrupted" or not before.last_prompt:
        return ()
    return (surfacing.interruption(before),)


def _output(event: str, context: str, message: str) -> bytes:
    """The hook's JSON, or silence."""
    said: dict[str, object] = {}
    if context:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    if message:
        said["systemMessage"] = message
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") if said else b""
