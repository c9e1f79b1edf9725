"""EVENTS: what each of the client's events sets in motion. A hook is an entry in hooks.json and a row here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from subconscious.errors import UnreadableTranscriptError
from subconscious.projects import identify
from subconscious.store import model_readings, sessions, surfaces
from subconscious.store.projects import Project, confirm

from . import rendered, typed, unconfirmed
from .feedback import judge
from .learn import Source, learn
from .unwritten import expect, learn_unwritten
from .work import FORGETFUL, Work, note

CALM_LOOK = 20.0
"""Seconds that a project's history may take to look up while nobody waits."""


async def started(work: Work) -> None:
    """A session began, was resumed, cleared or compacted: make it and its project known."""
    identity = await asyncio.to_thread(identify, work.entry.folder, CALM_LOOK)
    project = await confirm(work.core.database, identity, work.entry.folder)
    await work.core.notes.know(work.entry, project.id)
    session_id = work.entry.payload.session_id
    async with work.commit() as tx:
        await note(tx, work.entry, project)
        forgot = work.entry.payload.source in FORGETFUL
        if forgot and not await sessions.greeted_since(tx, session_id, work.entry.at):
            # Nobody has answered the hook yet, and perhaps nobody was there to: what the session had been given is gone
            # from its context all the same, and its next prompt makes up for it.
            await surfaces.reset(tx, session_id)
            await sessions.greet(tx, session_id, None)


async def given(work: Work) -> None:
    """The hook has greeted the session by itself, from the rendered copy: the ledger must know."""
    project = await work.core.project_of(work.entry.folder)
    # An answer that came too late is taken back first: what was printed instead of it must stand.
    async with work.core.answering[work.entry.payload.session_id], work.commit() as tx:
        await rendered.take_note(work.core, tx, work.entry, project)


async def spoke(work: Work) -> None:
    """The user typed: carry out a command of ours, and read what the turn before left behind (after Esc, say)."""
    project = await _known(work)
    await typed.make_up(work.core, work.entry, project)
    await expect(work.core, work.entry)
    failure = await _learn(work, _source(work, project))
    async with work.commit(failure) as tx:
        await note(tx, work.entry, project)


async def touched(work: Work) -> None:
    """A tool touched a file: the session is alive."""
    project = await work.core.project_of(work.entry.folder)
    async with work.commit() as tx:
        await note(tx, work.entry, project)


async def read(work: Work) -> None:
    """A turn ended, or the context is about to be compacted: read on, and see what became of what was given."""
    project = await _known(work)
    mind, payload = work.core.mind(work.entry.options), work.entry.payload
    failure = await _learn(work, _source(work, project))
    if work.job.event == "Stop":
        await judge(mind, payload.session_id, payload.transcript_path, payload.last_assistant_message)
    async with work.commit(failure) as tx:
        await note(tx, work.entry, project)
        if work.job.event == "PreCompact":
            await model_readings.call_due(tx, work.entry.payload.session_id)
    work.core.gathered.set()


async def ended(work: Work) -> None:
    """The session is over by its own word: read to the end and close it."""
    project = await _known(work)
    mind = await work.core.notes.told(work.core.mind(work.entry.options), work.entry)
    source = _source(work, project)
    failure = await _learn(work, source, final=True)
    await learn_unwritten(work.core, mind, source)
    await judge(mind, source.session_id, source.path, final=True)
    await unconfirmed.conclude(work.core, mind, source.session_id)
    async with work.commit(failure) as tx:
        await note(tx, work.entry, project)
        await sessions.end(
            tx, work.entry.payload.session_id, work.entry.at, "ended", work.entry.payload.reason or "other"
        )
        await model_readings.call_due(tx, work.entry.payload.session_id)
    await unconfirmed.settle(work.core, mind, source.session_id)
    work.core.gathered.set()
    work.core.standings.want(project.id, work.entry.folder)


EVENTS: dict[str, Callable[[Work], Awaitable[None]]] = {
    "SessionStart": started,
    rendered.EVENT: given,
    "UserPromptSubmit": spoke,
    "PostToolUse": touched,
    "PostToolUseFailure": touched,
    "PreCompact": read,
    "Stop": read,
    "SessionEnd": ended,
}


async def _known(work: Work) -> Project:
    """The session's project, with the session on record before anything refers to it."""
    project = await work.core.project_of(work.entry.folder)
    await work.core.notes.know(work.entry, project.id)
    async with work.core.database.write() as tx:
        await note(tx, work.entry, project)
    return project


async def _learn(work: Work, source: Source, *, final: bool = False) -> UnreadableTranscriptError | None:
    """Learn from a session's transcript; return why it can never be read, so that the rest of the job is done first."""
    try:
        mind = await work.core.notes.told(work.core.mind(work.entry.options), work.entry)
        await learn(work.core, mind, source, final=final)
    except UnreadableTranscriptError as error:
        return error
    return None


def _source(work: Work, project: Project) -> Source:
    payload = work.entry.payload
    return Source(payload.session_id, project.id, payload.transcript_path, work.entry.folder, watched=True)
