"""Requests about memories: storing, finding, showing, taking out of use."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any, ClassVar
from uuid import uuid4

from pydantic import Field

from subconscious import surfacing
from subconscious.errors import RequestError
from subconscious.flow import unconfirmed
from subconscious.flow.mind import Mind
from subconscious.flow.recalling import priorities, recall
from subconscious.flow.remembering import Provenance, clean
from subconscious.flow.spelling import corrections
from subconscious.kinds import KINDS
from subconscious.model import Hit, Memory, Origin
from subconscious.projects import head
from subconscious.quoting import quote
from subconscious.search.dates import moment
from subconscious.search.floor import matches
from subconscious.search.selection import Selection
from subconscious.search.tiers import Tier, Tiers, Told, tell
from subconscious.search.understanding import understand
from subconscious.store import captures, events, memories, merges, projects, sessions, surfaces
from subconscious.store.capture_rows import Place
from subconscious.store.connect import AWAITED
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.surfacing.marks import marks_of

from .. import acts
from ..suspicions import noted, of_memories
from ..typed_lately import typed_lately
from .args import NO_NUL, WORDY, Args, Name
from .finding import FindingArgs, chosen
from .room import Room, checked_out, stood, told

FITS = 0.4
"""Relevance from which an unconfirmed memory is shown by a search."""


class Search(FindingArgs):
    """What narrows a search or a list, and how much is told of what is found."""

    kinds: tuple[Name, ...] = Field(default=(), max_length=100)
    file: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    since: Name = ""
    until: Name = ""
    min_confidence: float = Field(default=0.0, ge=0, le=1)
    project: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    tier: Tier | None = None
    section: Name = ""


class Memories(Room):
    """Requests about memories: storing, finding, showing, taking out of use."""

    arguments: ClassVar[type[Args]] = Search
    at_terminal: ClassVar[frozenset[str]] = frozenset({"remember"})

    async def cmd_remember(self, args: Args) -> dict[str, Any]:
        """Store what a person asks for; queue what the assistant asks for."""
        text = clean(args.text).strip()
        text = text if acts.is_record(text) else " ".join(text.split())
        if not text:
            raise RequestError("there is nothing to remember", "say what: subconscious remember TEXT")
        project = await self.here(args)
        branch, commit = await asyncio.to_thread(head, args.cwd)
        told = acts.Telling(text, args.origin, f"told-{uuid4()}", time(), "", branch, args.kind, args.scope, args.tags)
        user = args.origin is Origin.USER
        told_in = await sessions.successor(self.core.database, args.session_id) if args.session_id else None
        where = Provenance(
            Place(project.id, told_in),
            commit=commit,
            agent="terminal" if user else "claude-code",
            actor="user" if user else "assistant",
            verified=user,
        )
        mind = self.core.mind()
        capture = await acts.remember(self.core, mind, told, where)
        if not user and capture["status"] == "review" and capture["session_id"]:
            # Looked for here, in the turn in which it was asked: later it could be anybody's prompt.
            typed = await typed_lately(self.core, capture["session_id"])
            if await unconfirmed.give_at_once(mind, capture, typed, where):
                self.core.embedding.wake()
                capture = await captures.get(self.core.database, capture["id"])
        found = {name: capture[name] for name in ("decision", "reason", "confidence")}
        if capture["memory_id"] is None:
            return found | {"capture": capture}
        return found | {"memory": asdict(await memories.get(self.core.database, capture["memory_id"]))}

    async def cmd_recall(self, args: Search) -> dict[str, Any]:
        """Answer a question with framed text, as the model is given it."""
        mind = chosen(self.core.mind(asked=True), args)
        wanted = mind.wanted(args.query)
        found = await self._found(mind, args, wanted, everywhere=False)
        hits = found if args.nearest else matches(found)
        tokens = args.tokens if "tokens" in args.model_fields_set else wanted.tokens
        budget = surfacing.Budget(tokens, tokens * surfacing.CHARACTERS_A_TOKEN, args.limit)
        branch, _ = await asyncio.to_thread(head, args.cwd)

        def telling(memory: Memory) -> str:
            return quote(self._told(args, memory).text)

        def marks(memory: Memory) -> tuple[str, ...]:
            return marks_of(memory, branch, mind.standing)

        context = surfacing.compose(hits, budget, branch, marks=marks, tell=telling)
        async with mind.database.write() as tx:
            await memories.touch(tx, [hit.memory.id for hit in context.hits], time())
        far = len(found) - len(hits)
        return {"text": context.text, "hits": told(context.hits), "mode": wanted.mode, "far": far}

    async def cmd_search(self, args: Search) -> dict[str, Any]:
        """Rank memories for a person to look through; with a tier or a section, tell so much of each."""
        mind = chosen(self.core.mind(asked=True), args)
        wanted = mind.wanted(args.query)
        found = await self._found(mind, args, wanted, everywhere=args.everywhere)
        hits = found if args.nearest else matches(found)
        far = len(found) - len(hits)
        hits += await self._unconfirmed(mind, args, args.limit - len(hits))
        branch, _ = await asyncio.to_thread(head, args.cwd) if args.cwd else ("", "")
        suspected = await of_memories(self.core, [hit.memory for hit in hits])
        answers = [
            one | {"marks": list(marks_of(hit.memory, branch, mind.standing))} | noted(suspected.get(hit.memory.id))
            for hit, one in zip(hits, told(hits), strict=True)
        ]
        if args.tier or args.section:
            for hit, answer in zip(hits, answers, strict=True):
                answer["told"] = asdict(self._told(args, hit.memory))
        return {"hits": answers, "mode": wanted.mode, "far": far}

    async def _found(self, mind: Mind, args: Search, wanted: Selection, *, everywhere: bool) -> list[Hit]:
        AWAITED.set(True)  # of this connection's own task
        which = await self._which(args, everywhere=everywhere)
        await self.core.notes.refresh(self.core, which.project_id)
        meant = understand(args.query, which, datetime.now().astimezone())
        lent = await self.core.rewording.lend(meant.text, args.session_id or "")
        # Added and not put in place of what was typed, which may be a word of another language.
        meant_by = await corrections(mind.database, meant.text, which.project_id)
        meant = replace(meant, lent=" ".join(filter(None, (lent, *meant_by.values()))))
        return await recall(mind, meant, which.project_id, args.limit, wanted)

    async def _unconfirmed(self, mind: Mind, args: Search, room: int) -> list[Hit]:
        """What no session has confirmed yet, behind everything else, for a person alone; the cards mark it."""
        which = await self._which(args, everywhere=args.everywhere)
        if args.origin is not Origin.USER or which.narrow or which.out_of_use or not mind.settings.unconfirmed:
            return []
        found = await unconfirmed.found(mind, args.query, which.project_id, max(1, room))
        return [hit for hit in found if hit.relevance >= FITS][: max(0, room)]

    def _told(self, args: Search, memory: Memory) -> Told:
        settings = self.core.mind().settings
        tiers = Tiers(settings.tier_minimal, settings.tier_compact, settings.tier_standard)
        return tell(memory, args.query, tiers.room(args.tier or settings.tier), args.section)

    async def cmd_list(self, args: Search) -> dict[str, Any]:
        """Page through memories."""
        which = await self._which(args, everywhere=args.everywhere)
        await self.core.notes.refresh(self.core, which.project_id)
        if args.archived:  # then it is asked since when they are gone
            which = replace(which, since=None, gone_since=which.since)
        found, total = await memories.listing(self.core.database, which, args.limit, args.offset)
        told_of = await stood(self.core, found, which.project_id)
        return {"memories": told_of, "total": total, "branch": which.branch}

    async def _which(self, args: Search, *, everywhere: bool) -> Filter:
        """Which memories a request means. Raises RequestError where it can't be told."""
        project = await self._meant(args) if args.project or not everywhere else None
        now = datetime.now().astimezone()
        return Filter(
            None if project is None else project.id,
            kinds=_kinds(args),
            archived=args.archived,
            unconfirmed=args.unconfirmed,
            branch="" if args.branch is None else args.branch or await asyncio.to_thread(checked_out, args.cwd),
            file=_within(args.file, project),
            tags=args.tags,
            since=_moment(args.since, now, end=False),
            until=_moment(args.until, now, end=True),
            min_confidence=args.min_confidence,
        )

    async def _meant(self, args: Search) -> Project:
        """The project that a request names, or else the one that it is made in."""
        if not args.project:
            return await self.here(args)
        found = await projects.named(self.core.database, args.project)
        if len(found) == 1:
            return found[0]
        hint = "name its folder instead: " + ", ".join(one.root for one in found) if found else "see --everywhere"
        raise RequestError(f"{'several projects are' if found else 'no project is'} called {args.project}", hint)

    async def cmd_show(self, args: Args) -> dict[str, Any]:
        """One memory with its history and where it was given."""
        memory = await memories.get(self.core.database, args.id or 0)
        if args.origin is not Origin.USER:
            await acts.refuse_held(self.core, [memory.id])
        given = await surfaces.listing(self.core.database, memory_id=memory.id)
        branch, _ = await asyncio.to_thread(head, args.cwd) if args.cwd else ("", "")
        (shown,) = await stood(self.core, [memory], memory.project_id)
        return {
            "memory": shown,
            "marks": list(marks_of(memory, branch, self.core.standings.known)),
            "priority": (await priorities(self.core.mind(), [memory.id])).get(memory.id, 0.0),
            "history": await events.history(self.core.database, "memory", memory.id),
            "surfaces": [asdict(surface) for surface in given],
            "merged_into": await merges.into(self.core.database, memory.id),
            "merged": await merges.earlier(self.core.database, memory.id),
        }

    async def cmd_archive(self, args: Args) -> dict[str, Any]:
        """Take memories out of use."""
        return {"memories": await self._set_archived(args, True)}

    async def cmd_unarchive(self, args: Args) -> dict[str, Any]:
        """Bring memories back."""
        return {"memories": await self._set_archived(args, False)}

    async def _set_archived(self, args: Args, archived: bool) -> list[dict[str, Any]]:
        if args.origin is not Origin.USER:
            # What a person took out of use, by a rollback perhaps, must not come back by the model, nor all go by it.
            raise RequestError(
                "a person takes memories out of use and brings them back, not the assistant",
                "run it in a terminal outside of Claude Code, or type /subconscious:forget or /subconscious:unarchive",
            )
        changed = await acts.set_archived(self.core, args.ids, archived, "user", args.reason)
        return [asdict(memory) for memory in changed]


def _kinds(args: Search) -> tuple[str, ...]:
    """The kinds that a request names. Raises RequestError for one that there is not."""
    named = (*args.kinds, *([args.kind] if args.kind else []))
    for kind in named:
        if kind not in KINDS:
            raise RequestError(f"there is no kind {kind!r}", f"kinds are: {', '.join(KINDS)}")
    return tuple(dict.fromkeys(named))


def _within(file: str, project: Project | None) -> str:
    """A file as memories name it: within its project."""
    path = Path(file)
    if project and path.is_relative_to(project.root):
        return str(path.relative_to(project.root))
    return str(path) if file else ""


def _moment(said: str, now: datetime, *, end: bool) -> float | None:
    """The time that a person gives. Raises RequestError where it can't be read."""
    found = moment(said, now, end=end) if said else None
    if said and found is None:
        raise RequestError(f"{said!r} is no time", "such as 2026-01-31, yesterday, last week, March, 14d")
    return found
