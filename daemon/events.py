"""Handlers of client events, by event name (``EVENTS``). A new hook needs an entry in hooks.json and a row here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from subconscious.app.work import FORGETFUL, Work, note
from subconscious.capture import unconfirmed_upkeep
from subconscious.capture.feedback import judge
from subconscious.capture.ingest import learn
from subconscious.capture.missing_prompts import expect, learn_unwritten
from subconscious.capture.transcript_source import Source
from subconscious.domain.errors import UnreadableTranscriptError
from subconscious.slash_commands import commands
from subconscious.store import model_readings, sessions, surfaces
from subconscious.store.projects import Project, confirm
from subconscious.surfacing import rendered_starts
from subconscious.system.projects import head, identify

WRITING_SECONDS = 1.0
"""The most seconds to wait until the client has written a turn into the transcript after its Stop hook. The client
writes ten times a second."""

LOOK_SECONDS = 0.1
"""Seconds between two reads of a transcript that lacks the end of a turn."""

CALM_LOOK = 20.0
"""The most seconds to look up a project's Git history when no request waits for it."""


async def session_started(work: Work) -> None:
    """Session start, resume, clear or compact: record the session and its project."""
    identity = await asyncio.to_thread(identify, work.entry.folder, CALM_LOOK)
    project = await confirm(work.app.database, identity, work.entry.folder)
    await work.app.notes.schedule_scan(work.entry, project.id)
    session_id = work.entry.payload.session_id
    async with work.commit() as tx:
        await note(tx, work.entry, project)
        forgot = work.entry.payload.source in FORGETFUL
        if forgot and not await sessions.greeted_since(tx, session_id, work.entry.at):
            # The hook got no answer, perhaps because no daemon ran. The memories that the session was shown have left
            # its context all the same, so they may be shown again with its next prompt.
            await surfaces.reset(tx, session_id)
            await sessions.set_greeted(tx, session_id, None)


async def start_printed(work: Work) -> None:
    """The hook printed the rendered start context itself: record which memories the session was shown."""
    project = await work.app.project_of(work.entry.folder)
    # A late answer of the daemon is undone first, because the hook printed the rendered context instead.
    async with work.app.signals.answering[work.entry.payload.session_id], work.commit() as tx:
        await rendered_starts.take_note(work.app, tx, work.entry, project)


async def prompt_submitted(work: Work) -> None:
    """User prompt: run a slash command whose hook timed out, and read the end of the previous turn.

    No other event reports the end of a turn that the user ended with Esc.
    """
    project = await _stored_project(work)
    await commands.run_missed(work.app, work.entry, project)
    await expect(work.app, work.entry)
    failure = await _learn(work, _source(work, project))
    async with work.commit(failure) as tx:
        await note(tx, work.entry, project)


async def file_touched(work: Work) -> None:
    """A tool touched a file: record the session's activity."""
    project = await work.app.project_of(work.entry.folder)
    async with work.commit() as tx:
        await note(tx, work.entry, project)


async def turn_ended(work: Work) -> None:
    """End of a turn, or compaction: read the transcript; after a turn, judge whether the session used its memories."""
    project = await _stored_project(work)
    ctx, payload = work.app.recall_context(work.entry.options), work.entry.payload
    failure = await _learn_turn(work, _source(work, project))
    if work.job.event == "Stop":
        await judge(ctx, payload.session_id, payload.transcript_path, payload.last_assistant_message)
    async with work.commit(failure) as tx:
        await note(tx, work.entry, project)
        if work.job.event == "PreCompact":
            await model_readings.make_due(tx, work.entry.payload.session_id)
    work.app.signals.gathered.set()


async def session_ended(work: Work) -> None:
    """Session end: read the transcript to its end and close the session."""
    project = await _stored_project(work)
    ctx = await work.app.notes.with_client_texts(work.app.recall_context(work.entry.options), work.entry)
    source = _source(work, project)
    failure = await _learn(work, source, final=True)
    await learn_unwritten(work.app, ctx, source)
    await judge(ctx, source.session_id, source.path, final=True)
    await unconfirmed_upkeep.conclude(work.app, ctx, source.session_id)
    async with work.commit(failure) as tx:
        await note(tx, work.entry, project)
        await sessions.end(
            tx, work.entry.payload.session_id, work.entry.at, "ended", work.entry.payload.reason or "other"
        )
        await model_readings.make_due(tx, work.entry.payload.session_id)
    await unconfirmed_upkeep.settle(work.app, ctx, source.session_id)
    work.app.signals.gathered.set()
    work.app.worktrees.want(project.id, work.entry.folder, *await asyncio.to_thread(head, work.entry.folder))


EVENTS: dict[str, Callable[[Work], Awaitable[None]]] = {
    "SessionStart": session_started,
    rendered_starts.EVENT: start_printed,
    "UserPromptSubmit": prompt_submitted,
    "PostToolUse": file_touched,
    "PostToolUseFailure": file_touched,
    "PreCompact": turn_ended,
    "Stop": turn_ended,
    "SessionEnd": session_ended,
}


async def _stored_project(work: Work) -> Project:
    """Store the session, so that other records can refer to it, and return its project."""
    project = await work.app.project_of(work.entry.folder)
    await work.app.notes.schedule_scan(work.entry, project.id)
    async with work.app.database.write() as tx:
        await note(tx, work.entry, project)
    return project


async def _learn_turn(work: Work, source: Source) -> UnreadableTranscriptError | None:
    """Learn from a turn that has just ended.

    The hook may run before the client writes the turn. Without a second read, nothing of the turn would be read until
    the next prompt, and a model that reads after every turn would be one turn late.
    """
    failure = await _learn(work, source)
    until = monotonic() + WRITING_SECONDS
    while (
        failure is None
        and work.entry.payload.last_assistant_message
        and not work.app.signals.stopping.is_set()
        and monotonic() < until
        and not await _is_written(work, source)
    ):
        await asyncio.sleep(LOOK_SECONDS)
        failure = await _learn(work, source)
    return failure


async def _is_written(work: Work, source: Source) -> bool:
    """Whether the prompt and the answer of the turn were in the transcript when it was read."""
    answered = work.app.sessions.running_exchanges.is_answered(source.path)
    return answered and not await sessions.unwritten_prompts(work.app.database, source.session_id)


async def _learn(work: Work, source: Source, *, final: bool = False) -> UnreadableTranscriptError | None:
    """Learn from a session's transcript.

    If the transcript can never be read, returns the error instead of raising it: the rest of the job is done first.
    """
    try:
        ctx = await work.app.notes.with_client_texts(work.app.recall_context(work.entry.options), work.entry)
        await learn(work.app, ctx, source, final=final)
    except UnreadableTranscriptError as error:
        return error
    return None


def _source(work: Work, project: Project) -> Source:
    payload = work.entry.payload
    return Source(payload.session_id, project.id, payload.transcript_path, work.entry.folder, watched=True)
