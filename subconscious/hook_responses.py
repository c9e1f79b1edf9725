"""Composes the responses that hooks print: the daemon's reply to `ask` (docs/protocol.md)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from time import time

from subconscious.app import App
from subconscious.app.work import FORGETFUL, note
from subconscious.authorship.attestation import NOT_TYPED
from subconscious.capture.ingest import learn
from subconscious.capture.transcript_source import Source
from subconscious.context.entry import Entry, Payload
from subconscious.domain.model import Session
from subconscious.framing import rules
from subconscious.imports import importing
from subconscious.recall.file_binding import Touched
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.recent_turns import completed
from subconscious.recall.trust_notes import reputes
from subconscious.redaction.cleaning import clean
from subconscious.review.decisions import suspicion_note
from subconscious.sessions import PLAN
from subconscious.sessions.continuing import HANDED
from subconscious.settings.substitute_home import substitution
from subconscious.slash_commands import commands
from subconscious.store import (
    captures,
    events,
    fading,
    handovers,
    jobs,
    losses,
    memories,
    receipts,
    sessions,
    surfaces,
    unconfirmed,
)
from subconscious.store.projects import Project
from subconscious.supersession import takeovers
from subconscious.surfacing import receipts as receipt
from subconscious.surfacing.hook_output import done, output
from subconscious.surfacing.proactive import (
    FAILED,
    PROMPTED,
    TOUCHED,
    FailedCall,
    Prompt,
    SurfacingEvent,
    surface_error,
    surface_file,
    surface_prompt,
)
from subconscious.surfacing.rendered_starts import made_up
from subconscious.surfacing.session_start import Start, surface_start
from subconscious.system.projects import head, latest_commits, locate, path_as_given
from subconscious.text.quoting import CLOSING, OPENING

CATCH_UP = 0.3
"""The most seconds that the response to a session's start waits for the project's latest events to be processed."""

TEACHING = ("UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
"""The hook events whose jobs may store memories."""

REMINDER_SECONDS = 7 * 86_400.0
"""The seconds between two reminders of a project's review queue."""

COMPACT_CATCH_UP = 0.5
"""The most seconds that a compaction waits for the daemon to read the part of the transcript that it will shorten."""

COMPACT_TOKENS = 2000
"""The most tokens of the memories that a compaction must keep. They only instruct the model that writes the summary."""

PROMPT_LETTERS = 4000
"""The most characters of a prompt that are used as a search query."""

TOLD_FADED = "told-faded"
"""The event that records that a user was informed about faded memories."""

TOLD_REJUDGED = "told-rejudged"
"""The event that records that a user was informed about captures that were judged again by newer rules."""

CHANGING_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})


@dataclass(frozen=True, slots=True)
class Before:
    """What a session had been shown before a request. Row ids mark that time, because clocks may be set back.

    ``greeted_at`` is when the session was shown the memories for its start; None if it was not.
    """

    session_id: str
    newest: int
    newest_handover: int
    greeted_at: float | None


class Answers:
    """Composes the responses to hooks."""

    def __init__(self, app: App, sweep: Callable[[], Awaitable[object]]) -> None:
        """``sweep`` turns the entries of the spool into jobs."""
        self._app = app.on(app.database.interactive)
        self._app_of_commands = app
        self._sweep = sweep

    async def answer(self, entry: Entry, doubt: str) -> bytes:
        """Return the text that a hook prints; b"" for none. ``doubt`` says why the hook is not trusted; "" if it is."""
        compose = ANSWERS.get(entry.event)
        if compose is None:
            return b""
        project = await self._app.project_of(entry.folder)
        self._app.worktrees.want(project.id, entry.folder, *await asyncio.to_thread(head, entry.folder))
        await self._app.notes.schedule_scan(entry, project.id)
        return await compose(self, entry, project, doubt)

    async def _start(self, entry: Entry, project: Project, doubt: str) -> bytes:
        self._app.embedding.warm_up()
        session_id, source = entry.payload.session_id, entry.payload.source
        before = await sessions.get(self._app.database, session_id) if source == "resume" else None
        async with self._app.database.write() as tx:
            await note(tx, entry, project)
            if source in FORGETFUL:
                await surfaces.reset(tx, session_id)
                self._app.sessions.recent_turns.forget(session_id)
        if source in ("resume", "compact"):  # the session has had prompts, even if the daemon knows none
            self._app.sessions.recent_turns.set_prompt(session_id, self._app.sessions.recent_turns.prompt(session_id))
        if source == "resume":
            self._app.sessions.resumed[project.id] = session_id
        # Users who switched memories off must still learn that the store is damaged, or in a temporary folder.
        warning = self._trouble() if source == "startup" else ""
        if not self._app.recall_context(entry.options).settings.surface:
            return output("SessionStart", "", warning)
        await self._catch_up(project, session_id)
        context = await self._greeting(entry, project, source, since=before.last_event_at if before else 0.0)
        lines = [self._loaded(entry, context), await self._remembered(entry, project)]
        if source == "startup":
            lines += [
                warning,
                await self._waiting(project),
                await self._rejudged(project),
                await self._faded(project),
            ]
            lines += [await self._lost(), await importing.offer(self._app, entry, project)]
            lines.append(await takeovers.ask(self._app, entry, project, doubt))
        return output("SessionStart", context.text, "\n".join(filter(None, lines)))

    def _trouble(self) -> str:
        """Return lines about a damaged database, and a state folder that can't be used; "" if all is well."""
        replaced = substitution(self._app.home.root)
        found = [self._app.damage.message(self._app.home.database), replaced.note if replaced else ""]
        return "\n".join(f"Subconscious: {one}" for one in found if one)

    async def _greeting(
        self, entry: Entry, project: Project, source: str, *, late: bool = False, since: float = 0.0
    ) -> rules.Context:
        """Return the text that a session is shown at its start; record it, so that it is not shown again.

        After a compaction, the summary of the session replaces a hand-over. ``late`` means that the session has already
        begun. A resumed session already knows the sessions that ended before ``since``.
        """
        session_id, folder = entry.payload.session_id, entry.payload.cwd or entry.folder
        branch, _ = await asyncio.to_thread(head, folder)
        before = await sessions.latest_other(self._app.database, project.id, session_id)
        start = Start(
            session_id=session_id,
            project_id=project.id,
            event=f"start/{source}",
            branch=branch,
            hints=_hints(branch, before),
            extra=_broken_off(before) if source in ("startup", "late") else (),
            late=late,
            folder=folder,
            since=math.inf if source == "compact" else since,
        )
        return await surface_start(await self._ctx(entry), start)

    async def _ctx(self, entry: Entry) -> RecallContext:
        """Return the context for choosing memories for a session: it leaves out texts that the client loads itself."""
        return await self._app.notes.with_client_texts(self._app.recall_context(entry.options), entry)

    def _loaded(self, entry: Entry, context: rules.Context) -> str:
        """Return the receipt: a line for the user about what a session got at its start; "" if receipts are off."""
        wanted = self._app.recall_context(entry.options).settings.receipts
        handed = context.handed[0].session if context.handed else None
        return receipt.loaded(context.groups, handed, time()) if wanted else ""

    def _handed(self, entry: Entry, context: rules.Context) -> str:
        """Return the receipt for a hand-over that the session was shown after a prompt; "" if there is none."""
        handed = next((one.session for one in context.handed if one.event == HANDED), None)
        wanted = self._app.recall_context(entry.options).settings.receipts
        return receipt.loaded((), handed, time()) if wanted else ""

    async def _remembered(self, entry: Entry, project: Project, session_id: str | None = None) -> str:
        """Return the receipt for memories stored since the last one, in a session or (if None) in the whole project."""
        if not self._app.recall_context(entry.options).settings.receipts:
            return ""
        stored = await receipts.pending(self._app.database, project.id, session_id)
        if stored:
            async with self._app.database.write() as tx:
                await receipts.delete(tx, project.id, session_id)
        return receipt.remembered(stored)

    async def _catch_up(self, project: Project, session_id: str) -> None:
        """Wait briefly until the hook events of the project's other recent sessions have been processed."""
        self._app.signals.awaited += 1
        try:
            async with asyncio.timeout(CATCH_UP):
                await self._sweep()
                last = await sessions.listing(self._app.database, project.id, 5)
                others = [session.id for session in last if session.id != session_id]
                while await jobs.busy_lanes(self._app.database, others, TEACHING):
                    await asyncio.sleep(0.01)
        except TimeoutError:
            pass  # what is processed later is available to the next prompt
        finally:
            self._app.signals.awaited -= 1

    async def _waiting(self, project: Project) -> str:
        """Return a line about new captures in the review queue, at most once a week."""
        since = await events.last_time(self._app.database, "told", "project", project.id)
        if abs(time() - since) < REMINDER_SECONDS:
            return ""
        fresh = await captures.waiting(self._app.database, project.id, since)
        apart = await captures.quarantined(self._app.database, project.id, since)
        if not fresh and not apart:
            return ""
        async with self._app.database.write() as tx:
            await events.record(tx, "told", "project", project.id, reason=f"{fresh} captures wait for review")
        waits = await captures.waiting(self._app.database, project.id)
        if not waits:
            statements = "1 captured statement" if apart == 1 else f"{apart} captured statements"
            return f"Subconscious: {statements} may be poisoned (/subconscious:review quarantine)."
        held = f" {apart} more may be poisoned (/subconscious:review quarantine)." if apart else ""
        what = "captured statement waits" if waits == 1 else "captured statements wait"
        where = "/subconscious:review, or `subconscious review` in a terminal"
        note = await suspicion_note(self._app, project.id)
        return f"Subconscious: {waits} {what} for your review ({where}).{f' {note}.' if note else ''}{held}"

    async def _rejudged(self, project: Project) -> str:
        """Return a line about captures that waited for review, and were judged again after an update of the rules."""
        since = await events.last_time(self._app.database, TOLD_REJUDGED, "project", project.id)
        found = await unconfirmed.rejudged_since(self._app.database, project.id, since)
        if not any(found.values()):
            return ""
        async with self._app.database.write() as tx:
            await events.record(tx, TOLD_REJUDGED, "project", project.id, reason=f"{found}")
        return (
            f"Subconscious judged the captures in review by its new rules. New memories: {found.get('stored', 0)},"
            f" new unconfirmed memories: {found.get('unconfirmed', 0)},"
            f" still waiting for review: {found.get('waiting', 0)}, discarded: {found.get('discarded', 0)}"
            " (`subconscious list`, `subconscious list --unconfirmed`, `subconscious review --status discarded`)."
        )

    async def _faded(self, project: Project) -> str:
        """Return a line about memories that were archived automatically since the last such line."""
        since = await events.last_time(self._app.database, TOLD_FADED, "project", project.id)
        gone = await fading.count_faded(self._app.database, project.id, since)
        if not gone:
            return ""
        async with self._app.database.write() as tx:
            await events.record(tx, TOLD_FADED, "project", project.id, reason=f"{gone} memories have faded")
        what = "memory that nobody used was" if gone == 1 else "memories that nobody used were"
        seen = "`subconscious decay --log` shows which and why, `subconscious unarchive ID` brings one back"
        return f"Subconscious: {gone} {what} archived ({seen})."

    async def _lost(self) -> str:
        """Return a line about dropped spool entries, or a full disk, since the last such line."""
        found = await losses.unreported(self._app.database)
        if not found:
            return ""
        async with self._app.database.write() as tx:
            await losses.record_reported(tx, len(found))
        what = "; ".join(dict.fromkeys(loss.message for loss in found))
        return f"Subconscious: {what} (`subconscious doctor` checks the disk and the queue of events)."

    async def _prompt(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """Return the response to a prompt: a slash command's output, or else relevant memories.

        If the session was shown nothing at its start, the response includes the memories for the start.
        """
        said = await takeovers.answer(self._app, entry, doubt)
        said = said if said.done else await commands.answer(self._app_of_commands, entry, project, doubt)
        stored = await self._remembered(entry, project, entry.payload.session_id)
        if said.done:
            return done("\n".join(filter(None, [said.shown, stored])))
        text = said.context
        lines = [said.message, stored]
        if not text and self._app.recall_context(entry.options).settings.surface:
            greeting = await self._late_greeting(entry, project)
            fitting = await self._fitting(entry, project)
            text = _in_one_frame(greeting.text, fitting.text)
            lines += [self._loaded(entry, greeting), self._handed(entry, fitting)]
        untold = self._app.sessions.recent_turns.pop_notes(entry.payload.session_id)
        return output("UserPromptSubmit", "\n".join([*untold, text]).strip(), "\n".join(filter(None, lines)))

    async def _late_greeting(self, entry: Entry, project: Project) -> rules.Context:
        """Return the memories for a session's start at its first prompt, unless it was shown them when it started."""
        session_id = entry.payload.session_id
        if self._app.sessions.resumed.get(project.id) == session_id:
            del self._app.sessions.resumed[project.id]  # it was resumed, not forked: it uses its own id
        await made_up(self._app, project, session_id)
        if await sessions.greeted_at(self._app.database, session_id) is not None:
            return rules.SILENCE
        parent = await self._parent_of_fork(entry, project)
        async with self._app.database.write() as tx:
            await note(tx, entry, project)
            if parent:
                await sessions.set_greeted(tx, session_id, time())
                await surfaces.inherit(tx, parent, session_id)
        return rules.SILENCE if parent else await self._greeting(entry, project, "late", late=True)

    async def _fitting(self, entry: Entry, project: Project) -> rules.Context:
        """Return the memories that are relevant to the prompt; none if the prompt is a command."""
        ctx = await self._ctx(entry)
        if not ctx.settings.surface_prompts:
            return rules.SILENCE
        # Clean before cutting: half of a secret or a private span would not be recognised.
        text = (await asyncio.to_thread(clean, entry.payload.prompt)).strip()[:PROMPT_LETTERS]
        if not text or text.startswith(NOT_TYPED):
            return rules.SILENCE
        if ctx.settings.prompt_context:
            text = completed(text, self._app.sessions.recent_turns.messages(entry.payload.session_id))
        first = not self._app.sessions.recent_turns.has_prompt(entry.payload.session_id)
        self._app.sessions.recent_turns.set_prompt(entry.payload.session_id, text.removeprefix(PLAN).strip())
        folder = entry.payload.cwd or entry.folder
        branch, commits = await asyncio.to_thread(_news, folder)
        prompt = Prompt(entry.payload.session_id, project.id, text, branch, commits, folder, first)
        context = await surface_prompt(ctx, prompt)
        self._note_suppressed(prompt.session_id, PROMPTED, context)
        return context

    def _note_suppressed(self, session_id: str, event: str, context: rules.Context) -> str:
        """Return the text of ``context``; record its suppressed memories, which `why-surfaced` shows."""
        self._app.sessions.suppressed.note(session_id, event, context.held)
        return context.text

    async def _file(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """Return memories bound to the file that a tool was used on, or memories about the error of a failed tool."""
        ctx, payload = self._app.recall_context(entry.options), entry.payload
        if payload.error:
            return await self._error(entry, project, doubt)
        if not _listens(entry) or not (ctx.settings.surface and ctx.settings.surface_files):
            return b""
        root, path = await asyncio.to_thread(locate, payload.file, entry.folder)
        if not path:
            return b""
        given = await asyncio.to_thread(path_as_given, payload.file, root)
        asked, changed = self._app.sessions.recent_turns.prompt(payload.session_id), payload.tool_name in CHANGING_TOOLS
        touched = Touched(path, root, payload.words, asked, changed, payload.written, given)
        context = await surface_file(await self._ctx(entry), await _occasion(entry, project, TOUCHED), touched)
        return output(entry.event, self._note_suppressed(payload.session_id, TOUCHED, context), "")

    async def _error(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """Return memories about the error of a tool."""
        del doubt
        ctx, payload = self._app.recall_context(entry.options), entry.payload
        if not payload.error or payload.agent_id or not (ctx.settings.surface and ctx.settings.surface_errors):
            return b""
        context = await surface_error(await self._ctx(entry), await _occasion(entry, project, FAILED), _failed(payload))
        return output(entry.event, self._note_suppressed(payload.session_id, FAILED, context), "")

    async def _parent_of_fork(self, entry: Entry, project: Project) -> str:
        """Return the session from which a new session was forked; "" if it was not forked or has had a prompt."""
        known = await sessions.get(self._app.database, entry.payload.session_id)
        if known is not None and known.started_at < entry.at:  # this prompt's job may have stored the session
            return ""
        return self._app.sessions.resumed.pop(project.id, "")

    async def before(self, session_id: str) -> Before:
        """Return what a session has been shown so far."""
        newest = await surfaces.latest_id(self._app.database)
        handed_over = await handovers.latest_id(self._app.database)
        return Before(session_id, newest, handed_over, await sessions.greeted_at(self._app.database, session_id))

    async def take_back(self, before: Before) -> None:
        """Delete the record of a response that did not reach the hook, so that its memories may be shown later."""
        async with self._app.database.write() as tx:
            await surfaces.delete_after(tx, before.session_id, before.newest)
            await handovers.delete_after(tx, before.session_id, before.newest_handover)
            await sessions.clear_greeted(tx, before.session_id, before.greeted_at)
        await takeovers.take_back(self._app, before.session_id)

    async def _compaction(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """Return what a compaction must keep: statements of this session, and pinned memories."""
        del doubt
        ctx = self._app.recall_context(entry.options)
        if not ctx.settings.surface:
            return b""
        transcript = entry.payload.transcript_path
        source = Source(entry.payload.session_id, project.id, transcript, entry.folder, watched=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(COMPACT_CATCH_UP):
                await self._learn_now(entry, project, source)
        said = await memories.in_session(ctx.database, source.session_id)
        pinned = [
            m for m in await memories.pinned_and_lessons(ctx.database, project.id, 10) if m.pinned and m not in said
        ]
        budget = rules.Budget(COMPACT_TOKENS, ctx.settings.start_characters, 50)
        known = await reputes(ctx.database, pinned + said, ctx.settings, time(), project.id)
        return rules.survivors(pinned + said, budget, reputes=known).encode()

    async def _learn_now(self, entry: Entry, project: Project, source: Source) -> None:
        async with self._app.database.write() as tx:
            await note(tx, entry, project)
        await learn(self._app, await self._ctx(entry), source)


ANSWERS: dict[str, Callable[[Answers, Entry, Project, str], Awaitable[bytes]]] = {
    "SessionStart": Answers._start,
    "UserPromptSubmit": Answers._prompt,
    "PostToolUse": Answers._file,
    "PostToolUseFailure": Answers._error,
    "PreCompact": Answers._compaction,
}


def _listens(entry: Entry) -> bool:
    """Whether an event names a file and is not a sub-agent's: only the sub-agent would get the response."""
    return bool(entry.payload.file) and not entry.payload.agent_id


def _failed(payload: Payload) -> FailedCall:
    """Return the failed call of an event. It is compared with known failures and not stored."""
    given = {"command": payload.command, "file_path": payload.file}
    given |= {"skill": payload.called, "subagent_type": payload.called} if payload.called else {}
    return FailedCall(payload.tool_name, given, payload.error)


async def _occasion(entry: Entry, project: Project, event: str) -> SurfacingEvent:
    branch, _ = await asyncio.to_thread(head, entry.payload.cwd or entry.folder)
    return SurfacingEvent(entry.payload.session_id, project.id, event, branch)


def _in_one_frame(first: str, second: str) -> str:
    """Return two rendered texts as one, with a common opening and closing; either may be ""."""
    return first.removesuffix(CLOSING) + second.removeprefix(OPENING) if first and second else first or second


def _news(folder: str) -> tuple[str, tuple[tuple[float, str], ...]]:
    """Return the branch of a folder, and its latest commits, each with its time and subject."""
    return head(folder)[0], tuple(latest_commits(folder))


def _hints(branch: str, before: Session | None) -> str:
    """Return words for the likely topic of a session before its first prompt: branch name, last session's prompts."""
    words = [branch.replace("/", " ").replace("-", " ").replace("_", " ")]
    if before is not None:
        words += [before.first_prompt, before.last_prompt]
    return " ".join(words)


def _broken_off(before: Session | None) -> tuple[str, ...]:
    if before is None or before.status != "interrupted" or not before.last_prompt:
        return ()
    return (rules.interruption(before),)
