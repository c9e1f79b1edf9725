"""The JSON requests of docs/protocol.md: a `cmd_*` each. Adding a command is adding a method."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import Annotated, Any
from uuid import uuid4

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from subconscious import __version__, surfacing
from subconscious.client import Request, newer
from subconscious.errors import RequestError
from subconscious.flow import Provenance, clean, recall
from subconscious.kinds import KINDS
from subconscious.model import Hit, Origin, Scope
from subconscious.projects import head
from subconscious.settings import load_settings
from subconscious.store import (
    asked,
    captures,
    events,
    jobs,
    memories,
    model_readings,
    poison,
    redactions,
    sessions,
    surfaces,
)
from subconscious.store.captures import Place
from subconscious.store.memories import Filter
from subconscious.store.projects import Project

from . import acts, import_model, importing, peers, purging, redacting, reviewing
from .accepted import accept
from .core import Core
from .purging import Choice
from .reviewing import Wish
from .spool import Spool, entry_names

log = logging.getLogger("subconscious.daemon")

WORDY = 10_000
"""Characters a text argument may have."""


LONGEST_NAME = 200
MANY = 1000
"""Things that one request may name; of paths ten times as many, for a shell may have listed them."""

Number = Annotated[int, Field(ge=0, le=2**53)]
NO_NUL = r"^[^\x00]*$"
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
FilePath = Annotated[str, Field(max_length=WORDY, pattern=NO_NUL)]


def _storable(text: object) -> object:
    """Half an emoji can't be stored, nor can NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "") if isinstance(text, str) else text


Words = Annotated[str, BeforeValidator(_storable)]


class Args(BaseModel):
    """Every argument any command takes; a command reads those of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cwd: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    text: Words = Field(default="", max_length=WORDY)
    query: Words = Field(default="", max_length=WORDY)
    origin: Origin = Origin.ASSISTANT
    kind: Name | None = None
    branch: Words | None = Field(default=None, max_length=1000)
    scope: Scope | None = None
    tags: tuple[Name, ...] = Field(default=(), max_length=MANY)
    transcript: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    paths: tuple[FilePath, ...] = Field(default=(), max_length=10 * MANY)
    vouched: bool = False
    with_model: bool = False
    tokens: int = Field(default=2000, ge=50, le=20_000)
    limit: int = Field(default=20, ge=1, le=1000)
    offset: Number = 0
    id: Number | None = None
    ids: tuple[Number, ...] = Field(default=(), max_length=MANY)
    status: Name | None = None
    session_id: Name | None = None
    archived: bool = False
    everywhere: bool = False
    reason: Words = Field(default="", max_length=1000)
    timeout: float = Field(default=30.0, ge=0, le=600)
    version: Name = ""
    all: bool = False
    details: bool = False
    check: bool = False
    digest: str = Field(default="", max_length=64)
    teach: bool = False
    preview: bool = False
    back: bool = False


REVIEWING = frozenset({"approve", "edit", "forget_lesson", "reject", "release", "restore", "rollback", "undo"})
"""Requests about captures."""

PERSONAL = REVIEWING | {"accept_settings", "purge", "redact_stored", "allow_finding", "disallow_finding"}
"""Requests that only a person may make (SPEC N13)."""

AT_TERMINAL = PERSONAL | {"remember"}
"""Requests of which a person's word is only believed from a terminal; for others it may be a script of theirs."""


class Commands:
    """Carries requests out against the store."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self._core = core
        self._spool = spool

    async def run(self, request: Request, caller: int) -> dict[str, Any]:
        """Carry out a request of process ``caller``. Raises SubconsciousError; RequestError for what makes no sense."""
        command = getattr(self, f"cmd_{request.cmd}", None)
        if command is None:
            unknown = request.cmd[:LONGEST_NAME]
            raise RequestError(f"the daemon ({__version__}) knows no request {unknown!r}", "update the plugin")
        try:
            args = Args(**{name: value for name, value in request.args.items() if value is not None})
        except ValidationError as error:
            first = error.errors()[0]
            raise RequestError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", "see docs/protocol.md") from error
        if args.kind is not None and args.kind not in KINDS:
            raise RequestError(f"there is no kind {args.kind!r}", f"kinds are: {', '.join(KINDS)}")
        result: dict[str, Any] = await command(await self._believed(request.cmd, args, caller))
        return result

    async def _believed(self, cmd: str, args: Args, caller: int) -> Args:
        """The arguments with the origin that we believe: a person's only if the caller looks like one."""
        doubt = "the assistant asked"
        if args.origin is Origin.USER:
            doubt = await asyncio.to_thread(peers.doubt_of_person, caller, at_terminal=cmd in AT_TERMINAL)
        if cmd in PERSONAL and doubt:
            log.warning("%s refused to process %d: %s", cmd, caller, doubt)
            raise RequestError(
                f"a person decides on {_on_what(cmd)}, not the assistant ({doubt})",
                f"run {_where(cmd)}",
            )
        return args.model_copy(update={"origin": Origin.ASSISTANT}) if doubt else args

    async def cmd_status(self, args: Args) -> dict[str, Any]:
        """Say how the daemon and its store are."""
        core = self._core
        project = await self._project(args)
        return {
            "version": __version__,
            "pid": os.getpid(),
            "home": str(core.home.root),
            "started_at": core.started_at,
            "project": asdict(project) if project else None,
            "memories": await memories.counts(core.database, project.id if project else None),
            "review": await captures.waiting(core.database),
            "quarantined": await captures.quarantined(core.database),
            "jobs": await jobs.counts(core.database),
            "refining": await model_readings.counts(core.database),
            "spool": len(await asyncio.to_thread(entry_names, core.home.spool)),
            "sessions": await sessions.counts(core.database),
            "embedder": await self._embedder(),
            "provider": await self._provider(),
            "vector_index": core.embedding.index.name if core.embedding.index else "none",
            "warnings": await self._warnings(),
            "settings": core.mind().settings.model_dump(mode="json"),
            "unaccepted": sorted(core.refused(core.settings)),
        }

    async def _embedder(self) -> dict[str, Any]:
        backlog = await memories.embedding_backlog(self._core.database)
        counted = {name: backlog.get(name, 0) for name in ("pending", "failed")}
        return self._core.embedding.told | counted

    async def _provider(self) -> dict[str, Any]:
        return await self._core.llm.state() | {"waiting": await asked.counts(self._core.database)}

    async def cmd_provider(self, args: Args) -> dict[str, Any]:
        """Say how the providers are; with ``check`` try them first."""
        found = await self._core.llm.check() if args.check else {}
        state = await self._provider()
        for provider in state["providers"] if args.check else ():
            provider["reachable"] = found.get(provider["name"]) is None
        return state

    async def _warnings(self) -> list[str]:
        buried = (await jobs.counts(self._core.database))["buried"]
        found = [f"{buried} jobs failed for good: `subconscious doctor` says why"] if buried else []
        wanted = self._core.refused(self._core.settings)
        found += [f"{name} = {value} is not in force: `subconscious accept-settings`" for name, value in wanted.items()]
        found += [self._core.embedding.error] if self._core.embedding.error else []
        return found + await self._of_providers()

    async def _of_providers(self) -> list[str]:
        state = await self._core.llm.state()
        refused = [provider["error"] for provider in state["providers"] if provider["refused"]]
        found = [f"{error['code']} {error['message']}: {error['remedy']}" for error in refused]
        spending = state["spending"]
        if state["providers"] and spending["state"] != "free":
            found.append(f"${spending['spent_today']:.2f} of today's ${spending['cap']:g} for models are spent")
        return found

    async def cmd_accept_settings(self, args: Args) -> dict[str, Any]:
        """A person lets what stands in config.toml, or in the daemon's environment, take effect."""
        wanted = load_settings(self._core.home.root)
        before = self._core.accepted
        self._core.accepted = await accept(self._core.database, wanted, args.reason)
        self._core.settings = wanted
        await redacting.adopt(self._core)
        await self._core.calibrate()
        self._core.reconfigure()
        after = self._core.accepted
        changed = {name: [before.get(name), after[name]] for name in after if after[name] != before.get(name)}
        if any(name.startswith("embedder") for name in changed):
            self._core.stopping.set()  # embedders are opened by the next daemon, which the next hook or command starts
        return {"changed": changed}

    async def cmd_remember(self, args: Args) -> dict[str, Any]:
        """Store what a person asks for; queue what the assistant asks for (SPEC N13)."""
        text = " ".join(clean(args.text).split())
        if not text:
            raise RequestError("there is nothing to remember", "say what: subconscious remember TEXT")
        project = await self._here(args)
        branch, commit = head(args.cwd)
        told = acts.Telling(text, args.origin, f"told-{uuid4()}", time(), "", branch, args.kind, args.scope, args.tags)
        user = args.origin is Origin.USER
        where = Provenance(
            Place(project.id, None),
            commit=commit,
            agent="terminal" if user else "claude-code",
            actor="user" if user else "assistant",
            verified=user,
        )
        capture = await acts.remember(self._core, self._core.mind(), told, where)
        found = {name: capture[name] for name in ("decision", "reason", "confidence")}
        if capture["memory_id"] is None:
            return found | {"capture": capture}
        return found | {"memory": asdict(await memories.get(self._core.database, capture["memory_id"]))}

    async def cmd_capture(self, args: Args) -> dict[str, Any]:
        """Learn from a transcript file now; a person's deed, like an import."""
        self._refuse_forgery(args)
        path = Path(args.transcript)
        if not path.is_absolute() or not path.is_file():
            raise RequestError(f"there is no transcript {args.transcript!r}", "give the path of a .jsonl file")
        session_id, new = await importing.capture(self._core, path, args.cwd)
        session = await sessions.get(self._core.database, session_id)
        return {
            "session_id": session_id,
            "turns": session.turns if session else 0,
            "captures": await captures.many(self._core.database, new),
        }

    async def cmd_import_plan(self, args: Args) -> dict[str, Any]:
        """Say what an import would read, changing nothing."""
        project = "" if args.everywhere or not args.cwd else args.cwd
        files = await importing.plan(self._core, args.paths, project)
        return {"files": files, "model": await import_model.price_tags(self._core, files, whole=args.with_model)}

    async def cmd_import_file(self, args: Args) -> dict[str, Any]:
        """Read one file on by a batch; a person's deed, for what stands in a file they vouch for."""
        self._refuse_forgery(args)
        if not self._core.settings.capture:
            raise RequestError("learning is switched off", "set capture = true in config.toml, then import")
        return asdict(await importing.import_file(self._core, Path(args.transcript), args.cwd, vouched=args.vouched))

    async def cmd_import_read(self, args: Args) -> dict[str, Any]:
        """Have a model read an imported session; a person's deed, for it costs their money."""
        self._refuse_forgery(args)
        return asdict(await import_model.order(self._core, Path(args.transcript)))

    async def cmd_recall(self, args: Args) -> dict[str, Any]:
        """Answer a question with framed text, as the model is given it."""
        project = await self._here(args)
        mind = self._core.mind(asked=True)
        hits = await recall(mind, args.query, project.id, args.limit)
        budget = surfacing.Budget(args.tokens, args.tokens * surfacing.CHARACTERS_A_TOKEN, args.limit)
        branch, _ = head(args.cwd)
        context = surfacing.compose(hits, budget, branch)
        async with mind.database.write() as tx:
            await memories.touch(tx, [hit.memory.id for hit in context.hits], time())
        return {"text": context.text, "hits": _hits(context.hits)}

    async def cmd_search(self, args: Args) -> dict[str, Any]:
        """Rank memories for a person to look through."""
        if args.archived:
            return {"hits": await self._search_archived(args)}
        project = None if args.everywhere else (await self._here(args)).id
        # The kind is filtered after the engines answered: ask them for everything they would rank.
        return {"hits": _hits(await recall(self._core.mind(asked=True), args.query, project, args.limit, args.kind))}

    async def _search_archived(self, args: Args) -> list[dict[str, Any]]:
        """Archived memories stand in no index: every word of the query must stand in the text."""
        which = Filter(None if args.everywhere else (await self._here(args)).id, args.kind, archived=True)
        found = await memories.containing(self._core.database, which, args.query.split(), args.limit)
        return _hits([Hit(memory, 1.0, 1.0, rank=1.0) for memory in found])

    async def cmd_list(self, args: Args) -> dict[str, Any]:
        """Page through memories."""
        project = None if args.everywhere else (await self._here(args)).id
        branch = "" if args.branch is None else args.branch or _checked_out(args.cwd)
        which = Filter(project, args.kind, args.archived, branch)
        found, total = await memories.listing(self._core.database, which, args.limit, args.offset)
        return {"memories": [asdict(memory) for memory in found], "total": total, "branch": branch}

    async def cmd_show(self, args: Args) -> dict[str, Any]:
        """One memory with its history and where it was given."""
        memory = await memories.get(self._core.database, args.id or 0)
        if args.origin is not Origin.USER:
            await acts.refuse_held(self._core, [memory.id])
        given = await surfaces.listing(self._core.database, memory_id=memory.id)
        return {
            "memory": asdict(memory),
            "history": await events.history(self._core.database, "memory", memory.id),
            "surfaces": [asdict(surface) for surface in given],
        }

    async def cmd_captures(self, args: Args) -> dict[str, Any]:
        """What was judged, and what waits for a person."""
        project = (await self._here(args)).id if args.cwd and not args.everywhere else None
        found = await captures.listing(
            self._core.database,
            project_id=project,
            session_id=args.session_id,
            status=args.status,
            limit=args.limit,
        )
        told = await reviewing.looked_at(self._core, found) if args.details else found
        return {"captures": told if args.origin is Origin.USER else [reviewing.withheld(capture) for capture in told]}

    async def cmd_approve(self, args: Args) -> dict[str, Any]:
        """A person says yes to waiting captures, or to all that wait."""
        ids = args.ids
        if args.all:
            project = None if args.everywhere else (await self._here(args)).id
            waiting = await captures.listing(self._core.database, project_id=project, status="review", limit=args.limit)
            ids = tuple(capture["id"] for capture in waiting)
        return await self._decide(Wish("approve", ids, args.reason))

    async def cmd_edit(self, args: Args) -> dict[str, Any]:
        """A person approves a waiting capture in words of their own."""
        return await self._decide(Wish("edit", args.ids, args.reason, args.text, args.kind))

    async def cmd_reject(self, args: Args) -> dict[str, Any]:
        """A person says no to captures that wait or are in quarantine, and perhaps to whatever says the same."""
        return await self._decide(Wish("teach" if args.teach else "reject", args.ids, args.reason))

    async def cmd_release(self, args: Args) -> dict[str, Any]:
        """A person lets captures out of quarantine (SPEC N13)."""
        return await self._decide(Wish("release", args.ids, args.reason))

    async def cmd_lessons(self, args: Args) -> dict[str, Any]:
        """What refusals have taught."""
        del args
        return {"lessons": await poison.listing(self._core.database)}

    async def cmd_forget_lesson(self, args: Args) -> dict[str, Any]:
        """A person takes lessons back."""
        async with self._core.database.write() as tx:
            for lesson_id in args.ids:
                if await poison.forget(tx, lesson_id, time()):
                    await events.record(tx, "forgotten", "lesson", lesson_id, actor="user", reason=args.reason)
        return await self.cmd_lessons(args)

    async def cmd_rollback(self, args: Args) -> dict[str, Any]:
        """A person withdraws all that a session added, or puts it back (SPEC N6)."""
        found = await sessions.beginning(self._core.database, args.session_id or "")
        if len(found) != 1 or not args.session_id:
            what = "no session" if not found else "more than one session"
            raise RequestError(f"{what} begins with {args.session_id!r}", "`subconscious sessions` lists them")
        return await reviewing.rollback(self._core, found[0].id, args.reason, back=args.back, preview=args.preview)

    async def cmd_restore(self, args: Args) -> dict[str, Any]:
        """A person wants closed captures back in the queue."""
        return await self._decide(Wish("restore", args.ids, args.reason))

    async def cmd_undo(self, args: Args) -> dict[str, Any]:
        """A person takes their latest decision on captures back."""
        return await self._decide(Wish("undo", args.ids))

    async def _decide(self, wish: Wish) -> dict[str, Any]:
        return {"captures": await reviewing.carry_out(self._core, wish)}

    async def cmd_stats(self, args: Args) -> dict[str, Any]:
        """Counts of captures, decisions and surfaces; what stated confidences are worth."""
        project = None if args.everywhere else (await self._here(args)).id
        return await reviewing.stats(self._core, project)

    async def cmd_sessions(self, args: Args) -> dict[str, Any]:
        """Sessions, the latest first, or the one whose id begins as is asked."""
        if args.session_id:
            return {"sessions": [asdict(s) for s in await sessions.beginning(self._core.database, args.session_id)]}
        project = None if args.everywhere else (await self._here(args)).id
        return {"sessions": [asdict(s) for s in await sessions.listing(self._core.database, project, args.limit)]}

    async def cmd_archive(self, args: Args) -> dict[str, Any]:
        """Take memories out of use."""
        return {"memories": await self._set_archived(args, True)}

    async def cmd_unarchive(self, args: Args) -> dict[str, Any]:
        """Bring memories back."""
        return {"memories": await self._set_archived(args, False)}

    async def _set_archived(self, args: Args, archived: bool) -> list[dict[str, Any]]:
        actor = "user" if args.origin is Origin.USER else "assistant"
        if actor != "user":
            await acts.refuse_held(self._core, args.ids)  # the answer has the words
        changed = await acts.set_archived(self._core, args.ids, archived, actor, args.reason)
        return [asdict(memory) for memory in changed]

    async def cmd_why_surfaced(self, args: Args) -> dict[str, Any]:
        """What was given to sessions, and why."""
        project = (await self._here(args)).id if args.cwd and args.id is None and not args.session_id else None
        found = await surfaces.listing(
            self._core.database,
            memory_id=args.id,
            session_id=args.session_id,
            project_id=project,
            limit=args.limit,
        )
        known = await memories.get_many(self._core.database, [surface.memory_id for surface in found])
        told = {number: memory.summary for number, memory in known.items()}
        if args.origin is not Origin.USER:
            async with self._core.database.write() as tx:
                told |= dict.fromkeys(await captures.in_quarantine(tx, list(told)), reviewing.APART)
        return {"surfaces": [asdict(s) | {"summary": told[s.memory_id]} for s in found]}

    async def cmd_redactions(self, args: Args) -> dict[str, Any]:
        """What was taken out of texts, without itself."""
        await redacting.write_down(self._core)
        return {"findings": await redactions.listing(self._core.database, args.limit)}

    async def cmd_allow_finding(self, args: Args) -> dict[str, Any]:
        """A person lets a finding pass."""
        await redacting.allow(self._core, args.digest, args.reason)
        return {"hash": args.digest, "allowed": True}

    async def cmd_disallow_finding(self, args: Args) -> dict[str, Any]:
        """A person wants it taken out again."""
        await redacting.disallow(self._core, args.digest)
        return {"hash": args.digest, "allowed": False}

    async def cmd_scan(self, args: Args) -> dict[str, Any]:
        """What today's rules find in what is stored; changes nothing."""
        return {"findings": await redacting.scan(self._core, args.limit)}

    async def cmd_redact_stored(self, args: Args) -> dict[str, Any]:
        """A person wants that taken out, for good."""
        del args
        return await redacting.redact_stored(self._core)

    async def cmd_purge_plan(self, args: Args) -> dict[str, Any]:
        """Say what a purge would delete; changes nothing."""
        return purging.counted(await purging.choose(self._core, await self._choice(args)))

    async def cmd_purge(self, args: Args) -> dict[str, Any]:
        """A person wants something gone for good."""
        return await purging.carry_out(self._core, await self._choice(args))

    async def _choice(self, args: Args) -> Choice:
        everything = args.all and args.everywhere
        project = (await self._here(args)).id if args.all and not everything else ""
        return Choice(args.ids, args.session_id or "", project, everything)

    async def cmd_drain(self, args: Args) -> dict[str, Any]:
        """Wait until everything that was handed over is worked off and embedded."""
        deadline = time() + args.timeout
        while True:
            drained, embedded = await self._drained()
            if (drained and embedded) or time() > deadline:
                return {"drained": drained, "embedded": embedded}
            await asyncio.sleep(0.02)

    async def _drained(self) -> tuple[bool, bool]:
        await self._spool.sweep()
        left = await jobs.counts(self._core.database)
        names = await asyncio.to_thread(entry_names, self._core.home.spool)
        backlog = await memories.embedding_backlog(self._core.database)
        waits = backlog.get("pending", 0) > 0 and self._core.embedding.state in ("loading", "ready", "fallback")
        return left["ready"] + left["leased"] + len(names) == 0, not waits

    async def cmd_embed(self, args: Args) -> dict[str, Any]:
        """Try again, now, to embed what could not be embedded (SPEC B25)."""
        del args
        return {"pending": await self._core.embedding.retry()}

    async def cmd_stop(self, args: Args) -> dict[str, Any]:
        """Finish what is under way and leave."""
        del args
        self._core.stopping.set()
        return {"stopping": True}

    async def cmd_yield(self, args: Args) -> dict[str, Any]:
        """Leave for a strictly newer version, and only for that."""
        if newer(args.version, __version__):
            self._core.stopping.set()
        return {"stopping": self._core.stopping.is_set()}

    def _refuse_forgery(self, args: Args) -> None:
        if args.origin is not Origin.USER:
            raise RequestError(
                "a person imports, not the assistant: a file could claim anybody's words",
                "run it in a terminal outside of Claude Code",
            )

    async def _here(self, args: Args) -> Project:
        project = await self._project(args)
        if project is None:
            raise RequestError("the request does not say for which folder it is", "run it inside your project")
        return project

    async def _project(self, args: Args) -> Project | None:
        return await self._core.project_of(args.cwd) if args.cwd.startswith("/") else None


def _on_what(cmd: str) -> str:
    return "captures" if cmd in REVIEWING else "what is deleted and what is let pass"


def _where(cmd: str) -> str:
    """Where a person may do what was refused."""
    outside = "in a terminal outside of Claude Code (over ssh: ssh -t)"
    if cmd in REVIEWING:
        return f"`subconscious review` {outside}, or type /subconscious:review in it"
    return f"it {outside}"


def _checked_out(folder: str) -> str:
    """The branch checked out in ``folder``. Raises RequestError where there is none."""
    branch, commit = head(folder)
    if not branch:
        what = "a commit, not a branch, is checked out here" if commit else "there is no Git repository here"
        raise RequestError(what, "name the branch: subconscious show --branch NAME")
    return branch


def _hits(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [asdict(hit) | {"score": hit.score} for hit in hits]
