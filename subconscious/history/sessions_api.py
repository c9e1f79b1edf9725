"""Requests about sessions: import transcripts, explain captures, list sessions and the memories shown to them."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from time import time
from typing import ClassVar

from pydantic import Field

from subconscious.app.request import Handler, refuse_forgery
from subconscious.capture import explain
from subconscious.context.arguments import Args
from subconscious.domain.errors import NotFoundError, RequestError
from subconscious.domain.hits import Surface
from subconscious.domain.model import Origin
from subconscious.imports import importing, with_model
from subconscious.poisoning.quarantine import IN_QUARANTINE
from subconscious.poisoning.suspicions import noted, of_memories
from subconscious.store import captures, events, handovers, memories, responses, sessions, surfaces
from subconscious.store.connect import shared_act
from subconscious.surfacing.eligibility import is_heard, paused
from subconscious.wire import imports as wire_imports
from subconscious.wire import sessions as wire
from subconscious.wire.captures import reviewed
from subconscious.wire.fields import fields_of, list_of

MCP_EVENT = "mcp"
"""The event name that is recorded for memories that the model requested through the MCP server."""

TOOL_NAME = re.compile(r"memory_[a-z]+")
"""The names of MCP tools. Only such a name is stored as the reason, so that the model can't store free text."""


class PastArgs(Args):
    """Arguments: requests with the same ``act`` are one import, and are undone together."""

    act: str = Field(default="", max_length=32, pattern=r"^[0-9a-f]*$")


class Past(Handler):
    """Requests about sessions: import transcripts, explain captures, list sessions and the memories shown to them."""

    arguments: ClassVar[type[Args]] = PastArgs
    # A file can attribute any words to a person, so files are read only when a person asks for it.
    at_terminal: ClassVar[frozenset[str]] = frozenset({"capture", "import_file", "import_read"})

    async def cmd_capture(self, args: Args) -> wire.LearnResult:
        """Capture memories from a transcript file now. Only a person may request it, as with an import."""
        refuse_forgery(args)
        path = Path(args.transcript)
        if not path.is_absolute() or not await asyncio.to_thread(path.is_file):
            raise RequestError(
                f"there is no transcript {args.transcript!r}", "give the full path of a transcript (.jsonl)"
            )
        session_id, new = await importing.capture(self.app, path, args.cwd)
        session = await sessions.get(self.app.database, session_id)
        return {
            "session_id": session_id,
            "turns": session.turns if session else 0,
            "captures": reviewed(await captures.get_many(self.app.database, new)),
        }

    async def cmd_explain(self, args: Args) -> wire.ExplainResult:
        """Return what became of each sentence of a session or transcript, or what would become of one sentence.

        It changes nothing. Only a person may request it, because the response contains text that has not been approved.
        """
        if args.origin is not Origin.USER:
            message = "only a person may ask for this, not the assistant: it shows text that has not been approved yet"
            raise RequestError(message, "run `subconscious explain` in a terminal outside of Claude Code")
        if args.text:
            return await explain.explain_sentence(self.app, await self.here(args), args.text)
        if args.transcript:
            return await explain.explain_transcript(self.app, Path(args.transcript), everything=args.all)
        session = (
            await explain.session_named(self.app, args.session_id)
            if args.session_id
            else await explain.last_of(self.app, await self.here(args))
        )
        return await explain.explain_session(self.app, session, everything=args.all)

    async def cmd_import_plan(self, args: Args) -> wire_imports.ImportPlanResult:
        """Return the files that an import would read, and what it would cost if a model also read them."""
        project = "" if args.everywhere or not args.cwd else args.cwd
        files = await importing.plan(self.app, args.paths, project)
        return {"files": files, "model": await with_model.price_tags(self.app, files, whole=args.with_model)}

    async def cmd_import_file(self, args: PastArgs) -> wire_imports.ImportFileResult:
        """Import the next batch of a transcript, or a note. Only a person may request it.

        With ``vouched``, the statements of a note count as the person's own words.
        """
        refuse_forgery(args)
        if not self.app.settings.capture:
            raise RequestError("learning is switched off", "set capture = true in config.toml, then import")
        with shared_act(args.act):
            result = await importing.import_file(self.app, Path(args.transcript), args.cwd, vouched=args.vouched)
        newest = await events.newest_of_act(self.app.database, args.act)
        return fields_of(wire_imports.ImportFileResult, replace(result, event=newest))

    async def cmd_import_read(self, args: Args) -> wire_imports.ImportReadResult:
        """Queue an imported session to be read by a model. Only a person may request it, because it costs money."""
        refuse_forgery(args)
        queued = await with_model.queue_reading(self.app, Path(args.transcript))
        return fields_of(wire_imports.ImportReadResult, queued)

    async def cmd_sessions(self, args: Args) -> wire.SessionsResult:
        """Return sessions, latest first; with a ``session_id``, only sessions with an id that starts with it."""
        if args.session_id:
            found = await sessions.with_prefix(self.app.database, args.session_id)
        else:
            project = None if args.everywhere else (await self.here(args)).id
            found = await sessions.listing(self.app.database, project, args.limit)
        return {"sessions": list_of(wire.Session, found)}

    async def cmd_given(self, args: Args) -> wire.GivenResult:
        """Record which memories the model requested, so that nothing new is captured when the model repeats them."""
        project = await self.here(args)
        found = await memories.get_many(self.app.database, args.ids)
        known = {number: memory for number, memory in found.items() if memory.project_id in (None, project.id)}
        reason = args.reason if TOOL_NAME.fullmatch(args.reason) else ""
        session_id = await sessions.successor(self.app.database, args.session_id or "")
        given = [
            Surface(session_id, MCP_EVENT, time(), memory.id, memory.content_hash, place, reason, 1.0, 1.0)
            for place, memory in enumerate(known.values(), start=1)
        ]
        # If a hook's answer does not arrive, its rows are withdrawn as a range of ids: keep other rows out of it.
        async with self.app.signals.answering[session_id], self.app.database.write() as tx:
            await surfaces.record(tx, project.id, given)
        return {"session_id": session_id, "given": len(given)}

    async def cmd_why_surfaced(self, args: Args) -> wire.WhySurfacedResult:
        """Return the memories that sessions were shown, each with the reason and how the session responded to it."""
        project = (await self.here(args)).id if args.cwd and args.id is None and not args.session_id else None
        session_id = await self._session(args.session_id) if args.session_id else None
        found = await surfaces.listing(
            self.app.database,
            memory_id=args.id,
            session_id=session_id,
            project_id=project,
            limit=args.limit,
        )
        became = await responses.of_surfaces(self.app.database, found)
        handed = await handovers.of_session(self.app.database, session_id) if session_id else []
        held = self.app.sessions.suppressed.of(session_id, args.id) if session_id or args.id is not None else []
        if not (found or handed or held):
            await self._require_known(args.id, session_id)
        known = await memories.get_many(self.app.database, [surface.memory_id for surface in found])
        names = {number: memory.summary for number, memory in known.items()}
        person = args.origin is Origin.USER
        # The reason for a suspicion may quote what is in quarantine, which only a person may read.
        suspected = await of_memories(self.app.database, list(known.values())) if person else {}
        if not person:
            async with self.app.database.write() as tx:
                names |= dict.fromkeys(await captures.in_quarantine(tx, list(names)), IN_QUARANTINE)
            names |= {number: IN_QUARANTINE for number, memory in known.items() if memory.archived_at is not None}
        result: wire.WhySurfacedResult = {
            "surfaces": [
                _explained(surface, names[surface.memory_id], response, suspected.get(surface.memory_id, ""))
                for surface, response in zip(found, became, strict=True)
            ],
            "held": held,
            "handovers": list_of(wire.Handover, handed),
        }
        if args.id is not None:
            counted = (await responses.of_memories(self.app.database, [args.id])).get(args.id, responses.NONE)
            result["responses"] = fields_of(wire.Responses, counted)
            memory = (await memories.get_many(self.app.database, [args.id])).get(args.id)
            result["left_out"] = memory is not None and not is_heard(memory, counted)
        if args.ids:
            result["paused"] = await paused(self.app.database, args.ids)
        return result

    async def _require_known(self, memory_id: int | None, session_id: str | None) -> None:
        """Raise NotFoundError if there is no such memory or session."""
        if memory_id is not None:
            await memories.get(self.app.database, memory_id)
        if session_id and not await sessions.with_prefix(self.app.database, session_id):
            raise NotFoundError(f"there is no session {session_id}", "`subconscious sessions` shows those that exist")

    async def _session(self, prefix: str) -> str:
        """Return the id of the only session with an id that starts with ``prefix``; otherwise the prefix itself."""
        found = await sessions.with_prefix(self.app.database, prefix)
        return found[0].id if len(found) == 1 else prefix


def _explained(surface: Surface, summary: str, response: str, suspicion: str) -> wire.ExplainedSurface:
    limits = json.loads(surface.limits)
    return fields_of(
        wire.ExplainedSurface, surface, limits=limits, summary=summary, response=response, **noted(suspicion)
    )
