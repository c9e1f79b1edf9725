"""Requests about fading: what would go and why, what has gone, what shall stay."""

from __future__ import annotations

from dataclasses import asdict
from time import time
from typing import Any, ClassVar, Literal

from pydantic import Field

from subconscious.errors import RequestError
from subconscious.model import Origin, Session
from subconscious.store import fading, memories, sessions
from subconscious.store.filters import Filter

from .. import acts, correcting
from .. import fading as fades
from ..suspicions import noted, of_memories
from .args import Args
from .room import Room


class FadingArgs(Args):
    """The arguments of these requests."""

    since: float = Field(default=0.0, ge=0)
    importance: Literal["constitutional", "critical", "important", "normal", "temporary", "deprecated"] = "normal"


class Fading(Room):
    """Requests about fading: what would go and why, what has gone, what shall stay."""

    arguments: ClassVar[type[Args]] = FadingArgs
    personal: ClassVar[frozenset[str]] = frozenset({"fade", "importance", "pin", "reset_decay", "unpin"})
    decides_on: ClassVar[str] = "what fades and what stays"

    async def cmd_decay(self, args: FadingArgs) -> dict[str, Any]:
        """What is left of one memory; or what a run would archive now. Changes nothing."""
        if args.id is not None:
            if args.origin is not Origin.USER:
                await acts.refuse_held(self.core, [args.id])
            return await fades.one(self.core, await memories.get(self.core.database, args.id), time())
        project = None if args.everywhere else (await self.here(args)).id
        settings = self.core.mind().settings
        told = await fades.preview(self.core, project, time(), args.limit)
        return told | {"policy": settings.archive_policy, "below": settings.archive_below}

    async def cmd_faded(self, args: FadingArgs) -> dict[str, Any]:
        """What was archived because it had faded."""
        project = None if args.everywhere else (await self.here(args)).id
        return {"memories": await fading.gone(self.core.database, project, args.since, args.limit)}

    async def cmd_fade(self, args: FadingArgs) -> dict[str, Any]:
        """A person has the daily run done now."""
        del args
        report = await fades.archive_faded(self.core, time())
        return asdict(report) | {"archived": list(report.archived)}

    async def cmd_reset_decay(self, args: FadingArgs) -> dict[str, Any]:
        """A person lets memories, or all of a project, be as fresh as new."""
        ids = list(args.ids)
        if args.all:
            ids = await memories.active_ids(self.core.database, (await self.here(args)).id)
        for memory_id in args.ids:
            await memories.get(self.core.database, memory_id)
        return {"reset": await correcting.reset(self.core, ids, args.reason)}

    async def cmd_importance(self, args: FadingArgs) -> dict[str, Any]:
        """A person says how important memories are."""
        changed = await correcting.rate(self.core, args.ids, args.importance)
        return {"memories": [asdict(memory) for memory in changed]}

    async def cmd_pin(self, args: FadingArgs) -> dict[str, Any]:
        """A person pins memories: they never fade, and every start is given them first."""
        return {"memories": [asdict(memory) for memory in await correcting.pin(self.core, args.ids, True)]}

    async def cmd_unpin(self, args: FadingArgs) -> dict[str, Any]:
        """A person unpins memories."""
        return {"memories": [asdict(memory) for memory in await correcting.pin(self.core, args.ids, False)]}

    async def cmd_archive_plan(self, args: FadingArgs) -> dict[str, Any]:
        """Which memories a session brought, or hold every word of a query: for who would move many at once."""
        project = None if args.everywhere or args.session_id else (await self.here(args)).id
        session = (await self._session(args.session_id)).id if args.session_id else ""
        if not session and not args.query.split():
            raise RequestError("it does not say which memories", "name ids, --session ID or --query WORDS")
        which = Filter(project, (args.kind,) if args.kind else (), args.archived, session_id=session)
        found = await memories.containing(self.core.database, which, args.query.split(), args.limit)
        suspected = await of_memories(self.core, found)
        return {"memories": [asdict(memory) | noted(suspected.get(memory.id)) for memory in found]}

    async def _session(self, beginning: str) -> Session:
        found = await sessions.beginning(self.core.database, beginning)
        if len(found) != 1:
            what = "no session" if not found else "more than one session"
            raise RequestError(f"{what} begins with {beginning!r}", "`subconscious sessions` lists them")
        return found[0]
