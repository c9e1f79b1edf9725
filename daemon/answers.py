"""What a hook prints: the answers to `ask` (docs/protocol.md)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from time import time

from subconscious import surfacing
from subconscious.flow.continuing import HANDED
from subconscious.flow.giving import Start, surface_start
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import clean
from subconscious.flow.unasked import (
    FAILED,
    PROMPTED,
    TOUCHED,
    FailedCall,
    Occasion,
    Prompt,
    surface_error,
    surface_file,
    surface_prompt,
)
from subconscious.model import Session
from subconscious.projects import head, latest_commits, within
from subconscious.quoting import CLOSING, OPENING
from subconscious.repute import reputes
from subconscious.search.rewriting import completed
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
from subconscious.summaries import PLAN
from subconscious.surfacing import receipts as receipt
from subconscious.surfacing.files import Touched

from . import past_sessions, typed
from .core import Core
from .entry import Entry, Payload
from .learn import Source, learn
from .output import done, output
from .rendered import made_up
from .reviewing import suspicion_note
from .spool import Spool
from .vouching import NOT_TYPED
from .work import FORGETFUL, note

CATCH_UP = 0.3
"""Seconds a start waits for what the project's other sessions have just handed over."""

TEACHING = ("UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
"""The events whose jobs may bring memories."""

REMINDER_SECONDS = 7 * 86_400.0
"""Seconds between two reminders of a project's queue."""

COMPACT_CATCH_UP = 0.5
"""Seconds a compaction waits for the reading of what it is about to shorten."""

COMPACT_TOKENS = 2000
"""What a compaction may be told to keep: it is read once, and stands in no context."""

PROMPT_LETTERS = 4000
"""Characters of a prompt by which memories are looked for."""

TOLD_FADED = "told-faded"
"""The event by which a project's person was told what has faded."""

TOLD_REJUDGED = "told-rejudged"
"""The event by which a project's person was told what became of captures that were judged anew."""

CHANGING_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})

FIT = "fits the branch and the latest words"
"""Why the engines' hits are given at a start."""


@dataclass(frozen=True, slots=True)
class Before:
    """What a session had been given when something more was asked for it. Numbers, for clocks are set back."""

    session_id: str
    newest: int
    newest_handover: int
    greeted_at: float | None


class Answers:
    """Composes what the hooks print."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self._core = core
        self._spool = spool

    async def answer(self, entry: Entry, doubt: str) -> bytes:
        """The bytes a hook prints, none for silence; ``doubt`` says why a prompt's hook is not believed, or ""."""
        compose = ANSWERS.get(entry.event)
        if compose is None:
            return b""
        project = await self._core.project_of(entry.folder)
        self._core.standings.want(project.id, entry.folder)
        await self._core.notes.know(entry, project.id)
        return await compose(self, entry, project, doubt)

    async def _start(self, entry: Entry, project: Project, doubt: str) -> bytes:
        del doubt
        self._core.embedding.warm_up()
        session_id, source = entry.payload.session_id, entry.payload.source
        before = await sessions.get(self._core.database, session_id) if source == "resume" else None
        async with self._core.database.write() as tx:
            await note(tx, entry, project)
            if source in FORGETFUL:
                await surfaces.reset(tx, session_id)
                self._core.lately.forget(session_id)
        if source in ("resume", "compact"):  # the session has had prompts, though none may be known
            self._core.lately.ask(session_id, self._core.lately.asked(session_id))
        if source == "resume":
            self._core.resumed[project.id] = session_id
        # Whoever wants no memories in sessions still has to know that they may be lost.
        damaged = self._core.damage.message(self._core.home.database) if source == "startup" else ""
        warning = f"Subconscious: {damaged}" if damaged else ""
        if not self._core.mind(entry.options).settings.surface:
            return output("SessionStart", "", warning)
        await self._catch_up(project, session_id)
        context = await self._greeting(entry, project, source, since=before.last_event_at if before else 0.0)
        told = [self._loaded(entry, context), await self._remembered(entry, project)]
        if source == "startup":
            told += [warning, await self._waiting(project), await self._rejudged(project), await self._faded(project)]
            told += [await self._lost(), await past_sessions.offer(self._core, entry, project)]
        return output("SessionStart", context.text, "\n".join(filter(None, told)))

    async def _greeting(
        self, entry: Entry, project: Project, source: str, *, late: bool = False, since: float = 0.0
    ) -> surfacing.Context:
        """What a session starts with, saved in its ledger.

        After a compaction the session's own summary stands for it. What is resumed knows all that ended ``since``.
        """
        session_id, folder = entry.payload.session_id, entry.payload.cwd or entry.folder
        branch, _ = await asyncio.to_thread(head, folder)
        before = await sessions.before(self._core.database, project.id, session_id)
        start = Start(
            session_id=session_id,
            project_id=project.id,
            event=f"start/{source}",
            branch=branch,
            asked=FIT,
            hints=_hints(branch, before),
            extra=_broken_off(before) if source in ("startup", "late") else (),
            late=late,
            folder=folder,
            since=math.inf if source == "compact" else since,
        )
        return await surface_start(await self._mind(entry), start)

    async def _mind(self, entry: Entry) -> Mind:
        """The mind for what a session is given: it repeats nothing that the client tells the session itself."""
        return await self._core.notes.told(self._core.mind(entry.options), entry)

    def _loaded(self, entry: Entry, context: surfacing.Context) -> str:
        """The receipt for what a session was given at its start; "" where receipts are switched off."""
        wanted = self._core.mind(entry.options).settings.receipts
        handed = context.handed[0].session if context.handed else None
        return receipt.loaded(context.groups, handed, time()) if wanted else ""

    def _handed(self, entry: Entry, context: surfacing.Context) -> str:
        """The receipt for the last session's record that came with a prompt; "" where there is none."""
        handed = next((one.session for one in context.handed if one.event == HANDED), None)
        wanted = self._core.mind(entry.options).settings.receipts
        return receipt.loaded((), handed, time()) if wanted else ""

    async def _remembered(self, entry: Entry, project: Project, session_id: str | None = None) -> str:
        """The receipt for what was stored since the last one, in a session or in all of the project's."""
        if not self._core.mind(entry.options).settings.receipts:
            return ""
        stored = await receipts.waiting(self._core.database, project.id, session_id)
        if stored:
            async with self._core.database.write() as tx:
                await receipts.confirm(tx, project.id, session_id)
        return receipt.remembered([one.summary for one in stored])

    async def _catch_up(self, project: Project, session_id: str) -> None:
        """Let what was said a moment ago, in a session that has just ended, be known to the one that begins."""
        self._core.awaited += 1
        try:
            async with asyncio.timeout(CATCH_UP):
                await self._spool.sweep()
                last = await sessions.listing(self._core.database, project.id, 5)
                others = [session.id for session in last if session.id != session_id]
                while await jobs.busy_lanes(self._core.database, others, TEACHING):
                    await asyncio.sleep(0.01)
        except TimeoutError:
            pass  # what is not known yet is known to the next prompt
        finally:
            self._core.awaited -= 1

    async def _waiting(self, project: Project) -> str:
        """One line for the person on the captures that came since the last one, at most once a week."""
        since = await events.last(self._core.database, "told", "project", project.id)
        if abs(time() - since) < REMINDER_SECONDS:
            return ""
        fresh = await captures.waiting(self._core.database, project.id, since)
        apart = await captures.quarantined(self._core.database, project.id, since)
        if not fresh and not apart:
            return ""
        async with self._core.database.write() as tx:
            await events.record(tx, "told", "project", project.id, reason=f"{fresh} captures wait for review")
        waits = await captures.waiting(self._core.database, project.id)
        if not waits:
            statements = "1 captured statement" if apart == 1 else f"{apart} captured statements"
            return f"Subconscious: {statements} may be poisoned (/subconscious:review quarantine)."
        held = f" {apart} more may be poisoned (/subconscious:review quarantine)." if apart else ""
        what = "captured statement waits" if waits == 1 else "captured statements wait"
        where = "/subconscious:review, or `subconscious review` in a terminal"
        note = await suspicion_note(self._core, project.id)
        return f"Subconscious: {waits} {what} for your review ({where}).{f' {note}.' if note else ''}{held}"

    async def _rejudged(self, project: Project) -> str:
        """One line for the person on what became of captures that had waited since before there were unconfirmed."""
        since = await events.last(self._core.database, TOLD_REJUDGED, "project", project.id)
        found = await unconfirmed.told_since(self._core.database, project.id, since)
        if not any(found.values()):
            return ""
        async with self._core.database.write() as tx:
            await events.record(tx, TOLD_REJUDGED, "project", project.id, reason=f"{found}")
        return (
            f"Subconscious: of what waited for your review, {found.get('unconfirmed', 0)} may be given marked as"
            f" unconfirmed now, {found.get('waiting', 0)} wait on, and {found.get('discarded', 0)} were discarded"
            " (`subconscious list --unconfirmed`, `subconscious review --status discarded`)."
        )

    async def _faded(self, project: Project) -> str:
        """One line for the person on what was archived since the last one, unasked as it was."""
        since = await events.last(self._core.database, TOLD_FADED, "project", project.id)
        gone = await fading.gone_since(self._core.database, project.id, since)
        if not gone:
            return ""
        async with self._core.database.write() as tx:
            await events.record(tx, TOLD_FADED, "project", project.id, reason=f"{gone} memories have faded")
        what = "memory that nobody used was" if gone == 1 else "memories that nobody used were"
        seen = "`subconscious decay --log` shows which and why, `subconscious unarchive ID` brings one back"
        return f"Subconscious: {gone} {what} archived ({seen})."

    async def _lost(self) -> str:
        """One line for the person on entries that were dropped, or a disk that was full, since the last one."""
        found = await losses.untold(self._core.database)
        if not found:
            return ""
        async with self._core.database.write() as tx:
            await losses.tell(tx, len(found))
        what = "; ".join(dict.fromkeys(loss.told for loss in found))
        return f"Subconscious: {what} (`subconscious doctor` looks at disk and spool)."

    async def _prompt(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """Carry out a command of ours; give a session what it starts with, should that not have reached it."""
        said = await typed.answer(self._core, entry, project, doubt)
        stored = await self._remembered(entry, project, entry.payload.session_id)
        if said.done:
            return done("\n".join(filter(None, [said.shown, stored])))
        text = said.context
        told = [said.message, stored]
        if not text and self._core.mind(entry.options).settings.surface:
            greeting = await self._late_greeting(entry, project)
            fitting = await self._fitting(entry, project)
            text = _in_one_frame(greeting.text, fitting.text)
            told += [self._loaded(entry, greeting), self._handed(entry, fitting)]
        untold = self._core.lately.untold(entry.payload.session_id)
        return output("UserPromptSubmit", "\n".join([*untold, text]).strip(), "\n".join(filter(None, told)))

    async def _late_greeting(self, entry: Entry, project: Project) -> surfacing.Context:
        """At its start there was no daemon, or a slow one: the first prompt makes up for it."""
        session_id = entry.payload.session_id
        if self._core.resumed.get(project.id) == session_id:
            del self._core.resumed[project.id]  # it was resumed, not forked: it speaks under its own id
        await made_up(self._core, project, session_id)
        if await sessions.greeted_at(self._core.database, session_id) is not None:
            return surfacing.SILENCE
        parent = await self._parent_of_fork(entry, project)
        async with self._core.database.write() as tx:
            await note(tx, entry, project)
            if parent:
                await sessions.greet(tx, session_id, time())
                await surfaces.inherit(tx, parent, session_id)
        return surfacing.SILENCE if parent else await self._greeting(entry, project, "late", late=True)

    async def _fitting(self, entry: Entry, project: Project) -> surfacing.Context:
        """What the prompt is about, as far as it is remembered; a command is about nothing."""
        mind = await self._mind(entry)
        if not mind.settings.surface_prompts:
            return surfacing.SILENCE
        # Cleaned before it is cut: of a secret or a private span that is cut in two, a half would pass for words.
        text = (await asyncio.to_thread(clean, entry.payload.prompt)).strip()[:PROMPT_LETTERS]
        if not text or text.startswith(NOT_TYPED):
            return surfacing.SILENCE
        if mind.settings.prompt_context:
            text = completed(text, self._core.lately.messages(entry.payload.session_id))
        first = not self._core.lately.has_asked(entry.payload.session_id)
        self._core.lately.ask(entry.payload.session_id, text.removeprefix(PLAN).strip())
        folder = entry.payload.cwd or entry.folder
        branch, commits = await asyncio.to_thread(_news, folder)
        prompt = Prompt(entry.payload.session_id, project.id, text, branch, commits, folder, first)
        context = await surface_prompt(mind, prompt)
        self._told(prompt.session_id, PROMPTED, context)
        return context

    def _told(self, session_id: str, event: str, context: surfacing.Context) -> str:
        """What a session is given; what was kept from it is remembered for who asks."""
        self._core.withheld.note(session_id, event, context.held)
        return context.text

    async def _file(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """What is bound to the file that a tool was used on; or, where the tool says that it failed, what knows why."""
        mind, payload = self._core.mind(entry.options), entry.payload
        if payload.error:
            return await self._error(entry, project, doubt)
        if not _listens(entry) or not (mind.settings.surface and mind.settings.surface_files):
            return b""
        root, path = await asyncio.to_thread(within, payload.file, entry.folder)
        if not path:
            return b""
        asked, changed = self._core.lately.asked(payload.session_id), payload.tool_name in CHANGING_TOOLS
        touched = Touched(path, root, payload.words, asked, changed, payload.written)
        context = await surface_file(await self._mind(entry), await _occasion(entry, project, TOUCHED), touched)
        return output(entry.event, self._told(payload.session_id, TOUCHED, context), "")

    async def _error(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """What knows the error that a tool met."""
        del doubt
        mind, payload = self._core.mind(entry.options), entry.payload
        if not payload.error or payload.agent_id or not (mind.settings.surface and mind.settings.surface_errors):
            return b""
        context = await surface_error(
            await self._mind(entry), await _occasion(entry, project, FAILED), _failed(payload)
        )
        return output(entry.event, self._told(payload.session_id, FAILED, context), "")

    async def _parent_of_fork(self, entry: Entry, project: Project) -> str:
        """The session that this one, unknown until this prompt, was forked from, or ""."""
        known = await sessions.get(self._core.database, entry.payload.session_id)
        if known is not None and known.started_at < entry.at:  # the prompt's own job may have been quicker
            return ""
        return self._core.resumed.pop(project.id, "")

    async def before(self, session_id: str) -> Before:
        """What a session has been given, before it is given more."""
        newest = await surfaces.newest(self._core.database)
        handed_over = await handovers.newest(self._core.database)
        return Before(session_id, newest, handed_over, await sessions.greeted_at(self._core.database, session_id))

    async def take_back(self, before: Before) -> None:
        """An answer did not arrive: what it held may be given again."""
        async with self._core.database.write() as tx:
            await surfaces.take_back(tx, before.session_id, before.newest)
            await handovers.take_back(tx, before.session_id, before.newest_handover)
            await sessions.ungreet(tx, before.session_id, before.greeted_at)

    async def _compaction(self, entry: Entry, project: Project, doubt: str) -> bytes:
        """Tell the compaction what must survive: what this session decided, and what is pinned."""
        del doubt
        mind = self._core.mind(entry.options)
        if not mind.settings.surface:
            return b""
        transcript = entry.payload.transcript_path
        source = Source(entry.payload.session_id, project.id, transcript, entry.folder, watched=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(COMPACT_CATCH_UP):
                await self._learn_now(entry, project, source)
        said = await memories.of_session(mind.database, source.session_id)
        pinned = [m for m in await memories.core(mind.database, project.id, 10) if m.pinned and m not in said]
        budget = surfacing.Budget(COMPACT_TOKENS, mind.settings.start_characters, 50)
        known = await reputes(mind.database, pinned + said, mind.settings, time(), project.id)
        return surfacing.survivors(pinned + said, budget, reputes=known).encode()

    async def _learn_now(self, entry: Entry, project: Project, source: Source) -> None:
        async with self._core.database.write() as tx:
            await note(tx, entry, project)
        await learn(self._core, await self._mind(entry), source)


ANSWERS: dict[str, Callable[[Answers, Entry, Project, str], Awaitable[bytes]]] = {
    "SessionStart": Answers._start,
    "UserPromptSubmit": Answers._prompt,
    "PostToolUse": Answers._file,
    "PostToolUseFailure": Answers._error,
    "PreCompact": Answers._compaction,
}


def _listens(entry: Entry) -> bool:
    """Whether what is given reaches the session: what a sub-agent is told stands in no context but its own."""
    return bool(entry.payload.file) and not entry.payload.agent_id


def _failed(payload: Payload) -> FailedCall:
    """The call that failed; compared with what is known, and not stored."""
    given = {"command": payload.command, "file_path": payload.file}
    given |= {"skill": payload.called, "subagent_type": payload.called} if payload.called else {}
    return FailedCall(payload.tool_name, given, payload.error)


async def _occasion(entry: Entry, project: Project, event: str) -> Occasion:
    branch, _ = await asyncio.to_thread(head, entry.payload.cwd or entry.folder)
    return Occasion(entry.payload.session_id, project.id, event, branch)


def _in_one_frame(first: str, second: str) -> str:
    """Two contexts as one; either may be ""."""
    return first.removesuffix(CLOSING) + second.removeprefix(OPENING) if first and second else first or second


def _news(folder: str) -> tuple[str, tuple[tuple[float, str], ...]]:
    """The branch that a folder is on, and the latest commits there."""
    return head(folder)[0], tuple(latest_commits(folder))


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
