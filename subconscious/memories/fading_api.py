"""Requests about decay: preview it, run it, reset it, list faded memories, set importance, pin and unpin."""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import ClassVar, Literal

from pydantic import Field

from subconscious.app.request import Handler
from subconscious.context.arguments import Args
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Memory, Origin, Session
from subconscious.memories import corrections, fading_preview
from subconscious.memories import fading as fades
from subconscious.poisoning.quarantine import refuse_held
from subconscious.poisoning.suspicions import noted, of_ids, with_suspicions
from subconscious.store import fading, memories, sessions
from subconscious.store.filters import Filter
from subconscious.wire.decay import DecayPreview, FadedResult, FadeResult, MemoryDecay, ResetDecayResult
from subconscious.wire.fields import fields_of, list_of
from subconscious.wire.memories import MemoriesResult
from subconscious.wire.memories import Memory as WireMemory


class FadingArgs(Args):
    """Arguments: ``since`` is the time from which faded memories are listed, ``importance`` the importance to set."""

    since: float = Field(default=0.0, ge=0)
    importance: Literal["constitutional", "critical", "important", "normal", "temporary", "deprecated"] = "normal"


class Fading(Handler):
    """Requests about decay: preview it, run it, reset it, list faded memories, set importance, pin and unpin."""

    arguments: ClassVar[type[Args]] = FadingArgs
    personal: ClassVar[frozenset[str]] = frozenset({"fade", "importance", "pin", "reset_decay", "unpin"})
    decides: ClassVar[str] = "what fades and what stays"

    async def cmd_decay(self, args: FadingArgs) -> MemoryDecay | DecayPreview:
        """Return the decay of one memory, or what a run would archive now. Read-only."""
        if args.id is not None:
            if args.origin is not Origin.USER:
                await refuse_held(self.app.database, [args.id])
            return await fades.memory_decay(self.app, await memories.get(self.app.database, args.id), time())
        project = None if args.everywhere else (await self.here(args)).id
        settings = self.app.recall_context().settings
        preview = await fading_preview.preview(self.app, project, time(), args.limit)
        suspected = await of_ids(self.app.database, [row["memory"]["id"] for row in preview["due"]])
        for row in preview["due"]:
            row["memory"] = {**row["memory"], **noted(suspected.get(row["memory"]["id"]))}
        return {**preview, "policy": settings.archive_policy, "below": settings.archive_below}

    async def cmd_faded(self, args: FadingArgs) -> FadedResult:
        """Return memories that were archived because they had faded."""
        project = None if args.everywhere else (await self.here(args)).id
        found = await fading.faded(self.app.database, project, args.since, args.limit)
        suspected = await of_ids(self.app.database, [row["id"] for row in found])
        return {"memories": [{**row, **noted(suspected.get(row["id"]))} for row in found]}

    async def cmd_fade(self, args: FadingArgs) -> FadeResult:
        """Run the daily archiving now."""
        del args
        return fields_of(FadeResult, await fades.archive_faded(self.app, time()))

    async def cmd_reset_decay(self, args: FadingArgs) -> ResetDecayResult:
        """Restart the decay of memories, or of all memories of a project."""
        ids = list(args.ids)
        if args.all:
            ids = await memories.active_ids(self.app.database, (await self.here(args)).id)
        for memory_id in args.ids:
            await memories.get(self.app.database, memory_id)
        return {"reset": await corrections.reset_decay(self.app, ids, args.reason)}

    async def cmd_importance(self, args: FadingArgs) -> MemoriesResult:
        """Set the importance of memories."""
        return _changed(await corrections.set_importance(self.app, args.ids, args.importance))

    async def cmd_pin(self, args: FadingArgs) -> MemoriesResult:
        """Pin memories: they never fade, and each session starts with them."""
        return _changed(await corrections.pin(self.app, args.ids, True))

    async def cmd_unpin(self, args: FadingArgs) -> MemoriesResult:
        """Unpin memories."""
        return _changed(await corrections.pin(self.app, args.ids, False))

    async def cmd_archive_plan(self, args: FadingArgs) -> MemoriesResult:
        """Return the memories that a request to archive or restore would change.

        These are the memories of a session, or those that contain all words of a query.
        """
        project = None if args.everywhere or args.session_id else (await self.here(args)).id
        session = (await self._session(args.session_id)).id if args.session_id else ""
        if not session and not args.query.split():
            raise RequestError("the request names no memories", "name ids, --session ID or --query WORDS")
        which = Filter(project, (args.kind,) if args.kind else (), args.archived, session_id=session)
        found = await memories.containing(self.app.database, which, args.query.split(), args.limit)
        return {"memories": await with_suspicions(self.app.database, found)}

    async def _session(self, beginning: str) -> Session:
        found = await sessions.with_prefix(self.app.database, beginning)
        if len(found) != 1:
            what = "no session" if not found else "more than one session"
            raise RequestError(
                f"{what} has an id that begins with {beginning!r}", "`subconscious sessions` lists the sessions"
            )
        return found[0]


def _changed(found: Sequence[Memory]) -> MemoriesResult:
    return {"memories": list_of(WireMemory, found)}
