"""Requests about sessions: reading those of before, telling what they were given."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import Any, ClassVar

from subconscious.errors import RequestError
from subconscious.model import Origin, Surface
from subconscious.store import captures, handovers, memories, responses, sessions, surfaces

from .. import explaining, import_model, importing, reviewing
from .args import Args
from .room import Room, refuse_forgery

ASKED = "mcp"
"""The event of what a session asked for through the MCP server."""


TOOL_NAME = re.compile(r"memory_[a-z]+")
"""What a surface that was asked for may say of its reason: no free words of the model's."""


class Past(Room):
    """Requests about sessions: reading those of before, telling what they were given."""

    # A file can claim that a person said anything, so one is read at a person's word alone.
    at_terminal: ClassVar[frozenset[str]] = frozenset({"capture", "import_file", "import_read"})

    async def cmd_capture(self, args: Args) -> dict[str, Any]:
        """Learn from a transcript file now; a person's deed, like an import."""
        refuse_forgery(args)
        path = Path(args.transcript)
        if not path.is_absolute() or not await asyncio.to_thread(path.is_file):
            raise RequestError(f"there is no transcript {args.transcript!r}", "give the path of a .jsonl file")
        session_id, new = await importing.capture(self.core, path, args.cwd)
        session = await sessions.get(self.core.database, session_id)
        return {
            "session_id": session_id,
            "turns": session.turns if session else 0,
            "captures": await captures.many(self.core.database, new),
        }

    async def cmd_explain(self, args: Args) -> dict[str, Any]:
        """Say what became of each sentence of a session or transcript, or would of one that is typed; changes nothing.

        A person's request: the answer has the words of what no person has approved.
        """
        if args.origin is not Origin.USER:
            message = "a person asks for this, not the assistant: it shows what nobody has approved yet"
            raise RequestError(message, "run `subconscious explain` in a terminal outside of Claude Code")
        if args.text:
            return await explaining.explain_sentence(self.core, await self.here(args), args.text)
        if args.transcript:
            return await explaining.explain_transcript(self.core, Path(args.transcript), everything=args.all)
        session = (
            await explaining.session_named(self.core, args.session_id)
            if args.session_id
            else await explaining.last_of(self.core, await self.here(args))
        )
        return await explaining.explain_session(self.core, session, everything=args.all)

    async def cmd_import_plan(self, args: Args) -> dict[str, Any]:
        """Say what an import would read, changing nothing."""
        project = "" if args.everywhere or not args.cwd else args.cwd
        files = await importing.plan(self.core, args.paths, project)
        return {"files": files, "model": await import_model.price_tags(self.core, files, whole=args.with_model)}

    async def cmd_import_file(self, args: Args) -> dict[str, Any]:
        """Read one file on by a batch; a person's deed, for what stands in a file they vouch for."""
        refuse_forgery(args)
        if not self.core.settings.capture:
            raise RequestError("learning is switched off", "set capture = true in config.toml, then import")
        return asdict(await importing.import_file(self.core, Path(args.transcript), args.cwd, vouched=args.vouched))

    async def cmd_import_read(self, args: Args) -> dict[str, Any]:
        """Have a model read an imported session; a person's deed, for it costs their money."""
        refuse_forgery(args)
        return asdict(await import_model.order(self.core, Path(args.transcript)))

    async def cmd_sessions(self, args: Args) -> dict[str, Any]:
        """Sessions, the latest first, or the one whose id begins as is asked."""
        if args.session_id:
            return {"sessions": [asdict(s) for s in await sessions.beginning(self.core.database, args.session_id)]}
        project = None if args.everywhere else (await self.here(args)).id
        return {"sessions": [asdict(s) for s in await sessions.listing(self.core.database, project, args.limit)]}

    async def cmd_given(self, args: Args) -> dict[str, Any]:
        """A session is about to be told of memories that it asked for: what it repeats of them is no news."""
        project = await self.here(args)
        found = await memories.get_many(self.core.database, args.ids)
        known = {number: memory for number, memory in found.items() if memory.project_id in (None, project.id)}
        reason = args.reason if TOOL_NAME.fullmatch(args.reason) else ""
        session_id = await sessions.successor(self.core.database, args.session_id or "")
        given = [
            Surface(session_id, ASKED, time(), memory.id, memory.content_hash, place, reason, 1.0, 1.0)
            for place, memory in enumerate(known.values(), start=1)
        ]
        # A hook's answer that did not arrive is taken back by numbers: none of ours may come among them.
        async with self.core.answering[session_id], self.core.database.write() as tx:
            await surfaces.record(tx, project.id, given)
        return {"session_id": session_id, "given": len(given)}

    async def cmd_why_surfaced(self, args: Args) -> dict[str, Any]:
        """What was given to sessions, and why, and what became of it."""
        project = (await self.here(args)).id if args.cwd and args.id is None and not args.session_id else None
        session_id = await self._session(args.session_id) if args.session_id else None
        found = await surfaces.listing(
            self.core.database,
            memory_id=args.id,
            session_id=session_id,
            project_id=project,
            limit=args.limit,
        )
        became = await responses.of_surfaces(self.core.database, found)
        handed = await handovers.of_session(self.core.database, session_id) if session_id else []
        held = self.core.withheld.of(session_id, args.id) if session_id or args.id is not None else []
        known = await memories.get_many(self.core.database, [surface.memory_id for surface in found])
        names = {number: memory.summary for number, memory in known.items()}
        if args.origin is not Origin.USER:
            async with self.core.database.write() as tx:
                names |= dict.fromkeys(await captures.in_quarantine(tx, list(names)), reviewing.APART)
            names |= {number: reviewing.APART for number, memory in known.items() if memory.archived_at is not None}
        told = [
            asdict(s) | {"summary": names[s.memory_id], "limits": json.loads(s.limits), "response": response}
            for s, response in zip(found, became, strict=True)
        ]
        return {"surfaces": told, "held": held, "handovers": [asdict(one) for one in handed]} | await self._heeded(args)

    async def _session(self, prefix: str) -> str:
        """The id of the session that begins so; what no or more than one session begins with stays as it is."""
        found = await sessions.beginning(self.core.database, prefix)
        return found[0].id if len(found) == 1 else prefix

    async def _heeded(self, args: Args) -> dict[str, Any]:
        """How often one memory was used, repeated, violated, and given in vain since."""
        if args.id is None:
            return {}
        known = await responses.of_memories(self.core.database, [args.id])
        return {"responses": asdict(known.get(args.id, responses.NONE))}
