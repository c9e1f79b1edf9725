"""Requests about memories: remember, recall, search, list, show, archive; and about folders that were moved."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import time
from typing import ClassVar
from uuid import uuid4

from pydantic import Field

from subconscious import decay
from subconscious.app import App, TeamSearch
from subconscious.app.request import Handler, checked_out, hit_results, memory_results
from subconscious.authorship.forgery import vouched_for
from subconscious.capture import unconfirmed
from subconscious.capture.admission import Provenance
from subconscious.capture.llm_extraction.grounds import is_typed
from subconscious.context.arguments import NO_NUL, WORDY, Args, FilePath, Name
from subconscious.domain.errors import RequestError, TranscriptError
from subconscious.domain.hits import Hit
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Memory, Origin, Turn
from subconscious.framing import rules
from subconscious.memories import memory_commands
from subconscious.poisoning.quarantine import refuse_held
from subconscious.poisoning.suspicions import of_memories
from subconscious.recall.dates import moment
from subconscious.recall.marks import marks_of
from subconscious.recall.pipeline import recall, with_successors
from subconscious.recall.ranking import priorities
from subconscious.recall.recall_context import RecallContext, SearchOptions, with_options
from subconscious.recall.selection import Selection, matches
from subconscious.recall.spelling import corrections
from subconscious.recall.tiers import ShortenedText, Tier, Tiers, shorten
from subconscious.recall.understanding import understand
from subconscious.redaction.cleaning import clean
from subconscious.store import captures, events, links, memories, merges, projects, sessions, surfaces
from subconscious.store import corrections as feedback
from subconscious.store.capture_rows import SessionRef
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.system.projects import head
from subconscious.system.safe_files import open_regular
from subconscious.text.quoting import quote
from subconscious.transcripts import State, read_turns
from subconscious.transcripts.lines import skip_line
from subconscious.wire import memories as wire
from subconscious.wire.daemon import AttachResult
from subconscious.wire.fields import list_of
from subconscious.wire.page import ProjectsResult

TAIL = 256 * 1024
"""How many bytes at the end of a transcript are searched for the last prompts of its session."""

RECENT_PROMPTS = 3

MIN_UNCONFIRMED_RELEVANCE = 0.4
"""The minimum relevance (0 to 1) of an unconfirmed memory that a search returns."""


TEAM_SECONDS = 0.4
"""Seconds that a search waits for a team's store after the local one has answered."""


class Search(SearchOptions):
    """The filters of a search or list, and how much of each memory's text to return."""

    kinds: tuple[Name, ...] = Field(default=(), max_length=100)
    file: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    since: Name = ""
    until: Name = ""
    min_confidence: float = Field(default=0.0, ge=0, le=1)
    project: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    tier: Tier | None = None
    section: Name = ""


class Memories(Handler):
    """Requests about memories: remember, recall, search, list, show, archive."""

    arguments: ClassVar[type[Args]] = Search
    at_terminal: ClassVar[frozenset[str]] = frozenset({"remember"})

    async def cmd_remember(self, args: Args) -> wire.RememberResult:
        """Store a person's statement; queue a statement of the assistant for review."""
        text = clean(args.text).strip()
        text = text if memory_commands.is_record(text) else " ".join(text.split())
        if not text:
            raise RequestError("there is nothing to remember", "use `subconscious remember TEXT`")
        project = await self.here(args)
        branch, commit = await asyncio.to_thread(head, args.cwd)
        request = memory_commands.RememberRequest(
            text, args.origin, f"told-{uuid4()}", time(), "", branch, args.kind, args.scope, args.tags
        )
        user = args.origin is Origin.USER
        session_id = await sessions.successor(self.app.database, args.session_id) if args.session_id else None
        where = Provenance(
            SessionRef(project.id, session_id),
            commit=commit,
            agent="terminal" if user else "claude-code",
            actor="user" if user else "assistant",
            verified=user,
        )
        ctx = self.app.recall_context()
        capture = await memory_commands.remember(self.app, ctx, request, where)
        if not user and capture["status"] == "review" and capture["session_id"]:
            # The user's prompts are compared now, in the same turn: later prompts could be unrelated to the request.
            typed = await _typed_lately(self.app, capture["session_id"])
            if await unconfirmed.give_at_once(ctx, capture, typed, where):
                self.app.embedding.wake()
                capture = await captures.get(self.app.database, capture["id"])
        result: wire.RememberResult = {
            "decision": capture["decision"],
            "reason": capture["reason"],
            "confidence": capture["confidence"],
        }
        if capture["memory_id"] is None:
            result["capture"] = capture
        else:
            number = capture["memory_id"]
            result["memory"] = wire.memory_fields(await memories.get(self.app.database, number))
            if user:
                replaced = (await links.replaced_by(self.app.database, [number])).get(number, [])
                result["replaced"] = [wire.memory_fields(one) for one in replaced]
        return result

    async def cmd_recall(self, args: Search) -> wire.RecallResult:
        """Return the text of the memories that match a question, as quoted notes for the model; count them as used."""
        return await self._for_search()._recall(args)

    async def cmd_search(self, args: Search) -> wire.SearchResult:
        """Return ranked memories; include the part of each text that ``tier`` (a length) or ``section`` selects."""
        return await self._for_search()._search(args)

    def _for_search(self) -> Memories:
        """Return a handler like this one that reads the database with the priority of searches."""
        return Memories(self.app.on(self.app.database.for_search))

    async def _recall(self, args: Search) -> wire.RecallResult:
        ctx = with_options(self.app.recall_context(asked=True), args)
        selection = ctx.wanted(args.query)
        found = await self._found(ctx, args, selection, everywhere=False)
        matching = matches(found, args.query)
        hits = found if args.nearest else matching
        tokens = args.tokens if "tokens" in args.model_fields_set else selection.tokens
        budget = rules.Budget(tokens, tokens * rules.CHARACTERS_A_TOKEN, args.limit)
        branch, _ = await asyncio.to_thread(head, args.cwd)

        def text_of(memory: Memory) -> str:
            return quote(self._detail(args, memory).text)

        def marks(memory: Memory) -> tuple[str, ...]:
            return marks_of(memory, branch, ctx.worktree_state)

        context = rules.compose(hits, budget, branch, marks=marks, tell=text_of)
        answering = {hit.memory.id for hit in matching}  # with --nearest, some hits are only similar to the question
        async with ctx.database.write() as tx:
            await memories.touch(tx, [hit.memory.id for hit in context.hits if hit.memory.id in answering], time())
        far = len(found) - len(hits)
        return {"text": context.text, "hits": hit_results(context.hits), "mode": selection.mode, "far": far}

    async def _search(self, args: Search) -> wire.SearchResult:
        ctx = with_options(self.app.recall_context(asked=True), args)
        selection = ctx.wanted(args.query)
        of_team = await self._asked_of_team(args)
        found = await self._found(ctx, args, selection, everywhere=args.everywhere)
        hits = found if args.nearest else matches(found, args.query)
        far = len(found) - len(hits)
        hits += await self._unconfirmed(ctx, args, args.limit - len(hits))
        branch, _ = await asyncio.to_thread(head, args.cwd) if args.cwd else ("", "")
        suspected = await of_memories(self.app.database, [hit.memory for hit in hits])
        answers = hit_results(hits)
        for hit, answer in zip(hits, answers, strict=True):
            answer["marks"] = list(marks_of(hit.memory, branch, ctx.worktree_state))
            if why := suspected.get(hit.memory.id):
                answer["suspicion"] = why
            if args.tier or args.section:
                detail = self._detail(args, hit.memory)
                answer["told"] = {"text": detail.text, "cut": detail.cut}
        result: wire.SearchResult = {"hits": answers, "mode": selection.mode, "far": far}
        if of_team is not None:
            shown = {hit.memory.content for hit in hits}
            result["team"] = [one for one in await _in_time(of_team) if one["content"] not in shown]
        return result

    async def _asked_of_team(self, args: Search) -> asyncio.Task[list[wire.TeamHit]] | None:
        """Start a search of the team's store, parallel to the local one; return its task, None without such a store."""
        if self.app.team_search is None or args.everywhere or args.project:
            return None
        if (project := await self.project(args)) is None:
            return None
        return asyncio.create_task(_team_hits(self.app.team_search, project.id, args))

    async def _found(self, ctx: RecallContext, args: Search, selection: Selection, *, everywhere: bool) -> list[Hit]:
        filter_ = await self._filter(args, everywhere=everywhere)
        await self.app.notes.refresh(filter_.project_id, self.app.database)
        query = understand(args.query, filter_, datetime.now().astimezone())
        added_words = await self.app.rewording.words_for(query.text, args.session_id or "")
        # The typed words are kept, because a word that looks misspelled may be of another language.
        spellings = await corrections(ctx.database, query.text, filter_.project_id)
        query = replace(query, lent=" ".join(filter(None, (added_words, *spellings.values()))))
        hits = await recall(ctx, query, filter_.project_id, args.limit, selection)
        return hits if filter_.out_of_use else await with_successors(ctx, hits, filter_.project_id)

    async def _unconfirmed(self, ctx: RecallContext, args: Search, max_hits: int) -> list[Hit]:
        """Return at most ``max_hits`` unconfirmed memories to append to the hits of a search.

        There are none if the assistant made the request, or if the request has filters.
        """
        filter_ = await self._filter(args, everywhere=args.everywhere)
        if args.origin is not Origin.USER or filter_.narrow or filter_.out_of_use or not ctx.settings.unconfirmed:
            return []
        found = await unconfirmed.found(ctx, args.query, filter_.project_id, max(1, max_hits))
        return [hit for hit in found if hit.relevance >= MIN_UNCONFIRMED_RELEVANCE][: max(0, max_hits)]

    def _detail(self, args: Search, memory: Memory) -> ShortenedText:
        settings = self.app.recall_context().settings
        tiers = Tiers(settings.tier_minimal, settings.tier_compact, settings.tier_standard)
        return shorten(memory, args.query, tiers.characters(args.tier or settings.tier), args.section)

    async def cmd_list(self, args: Search) -> wire.ListResult:
        """Return a page of the memories that match the filters, latest first."""
        filter_ = await self._filter(args, everywhere=args.everywhere)
        await self.app.notes.refresh(filter_.project_id)
        if args.archived:  # then ``since`` is the time of archiving
            filter_ = replace(filter_, since=None, gone_since=filter_.since)
        found, total = await memories.listing(self.app.database, filter_, args.limit, args.offset)
        shown = await memory_results(self.app, found, filter_.project_id)
        return {"memories": shown, "total": total, "branch": filter_.branch}

    async def _filter(self, args: Search, *, everywhere: bool) -> Filter:
        """Return the filter of a request. Raises RequestError for an unknown project, kind or date."""
        project = None
        if args.project or not everywhere:
            project = await self.named_project(args, args.project, "`subconscious list --everywhere` shows all")
        now = datetime.now().astimezone()
        return Filter(
            None if project is None else project.id,
            kinds=_kinds(args),
            archived=args.archived,
            unconfirmed=args.unconfirmed,
            branch="" if args.branch is None else args.branch or await asyncio.to_thread(checked_out, args.cwd),
            file=_path_in_project(args.file, project),
            tags=args.tags,
            since=_time(args.since, now, end=False),
            until=_time(args.until, now, end=True),
            min_confidence=args.min_confidence,
        )

    async def cmd_show(self, args: Args) -> wire.ShowResult:
        """Return a memory with its history, the sessions that received it, and the memories merged into it."""
        memory = await memories.get(self.app.database, args.id or 0)
        if args.origin is not Origin.USER:
            await refuse_held(self.app.database, [memory.id])
        given = await surfaces.listing(self.app.database, memory_id=memory.id)
        branch, _ = await asyncio.to_thread(head, args.cwd) if args.cwd else ("", "")
        (shown,) = await memory_results(self.app, [memory], memory.project_id)
        rated = (await feedback.counts(self.app.database, [memory.id])).get(memory.id, {})
        shown["confidence"] = decay.effective_confidence(memory.confidence, rated, pinned=memory.pinned)
        return {
            "memory": shown,
            "marks": list(marks_of(memory, branch, self.app.worktrees.known)),
            "priority": (await priorities(self.app.recall_context(), [memory.id])).get(memory.id, 0.0),
            "history": await events.history(self.app.database, "memory", memory.id),
            "successions": await links.successions(self.app.database, memory.id),
            "surfaces": list_of(wire.Surface, given),
            "merged_into": await merges.target(self.app.database, memory.id),
            "merged": await merges.sources(self.app.database, memory.id),
        }

    async def cmd_archive(self, args: Args) -> wire.MemoriesResult:
        """Archive memories."""
        return {"memories": await self._set_archived(args, True)}

    async def cmd_unarchive(self, args: Args) -> wire.MemoriesResult:
        """Make archived memories active again."""
        return {"memories": await self._set_archived(args, False)}

    async def _set_archived(self, args: Args, archived: bool) -> list[wire.Memory]:
        if args.origin is not Origin.USER:
            # The model must not restore memories that a person has archived or rolled back, nor archive them all.
            raise RequestError(
                "only a person may archive and restore memories, not the assistant",
                "run it in a terminal outside of Claude Code, or type /subconscious:forget or /subconscious:unarchive",
            )
        changed = await memory_commands.set_archived(self.app, args.ids, archived, "user", args.reason)
        return [wire.memory_fields(memory) for memory in changed]


async def _team_hits(search: TeamSearch, project_id: str, args: Search) -> list[wire.TeamHit]:
    return await search(project_id, args.query, args.limit)


async def _in_time(asked: asyncio.Task[list[wire.TeamHit]]) -> list[wire.TeamHit]:
    """Return what the team's store finds within ``TEAM_SECONDS``, or an empty list if it takes longer."""
    done, _ = await asyncio.wait([asked], timeout=TEAM_SECONDS)
    if not done:
        asked.cancel()
    return asked.result() if done else []


def _kinds(args: Search) -> tuple[str, ...]:
    """Return the kinds that a request names. Raises RequestError for an unknown kind."""
    named = (*args.kinds, *([args.kind] if args.kind else []))
    for kind in named:
        if kind not in KINDS:
            raise RequestError(f"there is no memory kind {kind!r}", f"kinds are: {', '.join(KINDS)}")
    return tuple(dict.fromkeys(named))


def _path_in_project(file: str, project: Project | None) -> str:
    """Return a file's path relative to its project, as memories name it."""
    path = Path(file)
    if project and path.is_relative_to(project.root):
        return str(path.relative_to(project.root))
    return str(path) if file else ""


def _time(said: str, now: datetime, *, end: bool) -> float | None:
    """Return the start (with ``end``, the end) of a period that a person typed, such as a day or a month.

    Raises RequestError if the date is not understood.
    """
    found = moment(said, now, end=end) if said else None
    if said and found is None:
        raise RequestError(f"{said!r} is not a date", "give one such as 2026-01-31, yesterday, last week, March or 14d")
    return found


class MovingArgs(Args):
    """Arguments: ``root`` is the old folder, or the name, of the project to assign to the folder ``cwd``."""

    root: FilePath = ""


class Moving(Handler):
    """Requests about projects and their folders."""

    arguments: ClassVar[type[Args]] = MovingArgs
    personal: ClassVar[frozenset[str]] = frozenset({"attach"})
    decides: ClassVar[str] = "which project a folder belongs to"

    async def cmd_projects(self, args: MovingArgs) -> ProjectsResult:
        """Return the projects that have memories, the largest first, and how many captures wait for review."""
        found = await projects.listing(self.app.database, args.limit)
        here = await self.project(args)
        return {
            "projects": [{**projects.fields(one.project), "memories": one.memories} for one in found],
            "review": await captures.waiting(self.app.database, here.id if here else None),
        }

    async def cmd_attach(self, args: MovingArgs) -> AttachResult:
        """Assign a project with a missing folder to the folder of the request."""
        project = await self.here(args)
        own = (await memories.counts(self.app.database, project.id))["project"]
        if own:
            raise RequestError(
                f"no project can be attached to this folder, because it has memories of its own ({own})",
                "to read another project's memories: subconscious list --project NAME",
            )
        chosen = await self._chosen(project, args.root)
        await projects.move(self.app.database, chosen.project, project)
        return {"project": {**projects.fields(chosen.project), "root": project.root}, "memories": chosen.memories}

    async def _chosen(self, project: projects.Project, wanted: str) -> projects.Lost:
        """Return the project that has a missing folder, and the name or folder ``wanted``.

        Raises RequestError if there is no such project, or several.
        """
        known = await projects.lost(self.app.database, project)
        found = [one for one in known if wanted in (one.project.root, one.project.name)]
        if len(found) == 1:
            return found[0]
        roots = ", ".join(one.project.root for one in (found or known))
        what = (
            f"several projects are called {wanted}" if found else f"no project with a missing folder is called {wanted}"
        )
        raise RequestError(what, f"these can be attached: {roots}" if roots else "subconscious list --everywhere")


async def _typed_lately(app: App, session_id: str) -> list[str]:
    """Return the last prompts of a session that a hook confirmed as typed: anybody can write to a transcript."""
    session = await sessions.get(app.database, session_id) if session_id else None
    if session is None:
        return []
    turns = await asyncio.to_thread(_last_turns, Path(session.transcript))
    typed = [turn for turn in turns if is_typed(turn)]
    vouched = await vouched_for(app, session_id, typed)
    return [turn.text for turn in typed if turn.id in vouched][-RECENT_PROMPTS:]


def _last_turns(path: Path) -> tuple[Turn, ...]:
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            begin = skip_line(file, file.seek(size - TAIL)) if size > TAIL else 0
        return read_turns(path, begin, State(), clean=clean, final=True).turns
    except (OSError, TranscriptError):
        return ()
