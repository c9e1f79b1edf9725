"""Requests about captures: what waits for a person, and what they decide."""

from __future__ import annotations

from typing import Any, ClassVar

from subconscious.errors import RequestError
from subconscious.model import Origin
from subconscious.store import captures, poison, sessions

from .. import reviewing
from ..reviewing import Wish
from .args import Args
from .room import Room


class Deciding(Room):
    """Requests about captures: what waits for a person, and what they decide."""

    personal: ClassVar[frozenset[str]] = frozenset(
        {"approve", "codes", "edit", "forget_lesson", "reject", "release", "restore", "rollback", "undo"}
    )
    decides_on: ClassVar[str] = "captures"

    async def cmd_captures(self, args: Args) -> dict[str, Any]:
        """What was judged, and what waits for a person."""
        project = (await self.here(args)).id if args.cwd and not args.everywhere else None
        if args.offered and args.origin is Origin.USER:
            return await self._offered(project, args.limit)
        found = await captures.listing(
            self.core.database,
            project_id=project,
            session_id=args.session_id,
            status=args.status,
            limit=args.limit,
        )
        told = await reviewing.looked_at(self.core, found) if args.details else found
        return {"captures": told if args.origin is Origin.USER else [reviewing.withheld(capture) for capture in told]}

    async def _offered(self, project_id: str | None, limit: int) -> dict[str, Any]:
        """What a person is offered of the queue, and how much waits in all."""
        found = await reviewing.offered(self.core, project_id, limit)
        return {"captures": found, "waiting": await captures.waiting(self.core.database, project_id)}

    async def cmd_approve(self, args: Args) -> dict[str, Any]:
        """A person says yes to waiting captures, or to all that wait and do not look poisoned."""
        ids = args.ids
        if args.all:
            project = None if args.everywhere else (await self.here(args)).id
            ids, number = await reviewing.unsuspected(self.core, project, args.limit)
            note = reviewing.left_out(number)
            return await self._decide(Wish("approve", ids, args.reason)) | ({"left_out": note} if note else {})
        return await self._decide(Wish("approve", ids, args.reason))

    async def cmd_edit(self, args: Args) -> dict[str, Any]:
        """A person approves a waiting capture in words of their own."""
        return await self._decide(Wish("edit", args.ids, args.reason, args.text, args.kind))

    async def cmd_reject(self, args: Args) -> dict[str, Any]:
        """A person says no to captures that wait or are in quarantine, and perhaps to whatever says the same."""
        return await self._decide(Wish("teach" if args.teach else "reject", args.ids, args.reason))

    async def cmd_release(self, args: Args) -> dict[str, Any]:
        """A person lets captures out of quarantine."""
        return await self._decide(Wish("release", args.ids, args.reason))

    async def cmd_codes(self, args: Args) -> dict[str, Any]:
        """The decisions that sessions asked for and that wait for a code, each with its code."""
        del args
        return {"decisions": await reviewing.with_codes(self.core)}

    async def cmd_lessons(self, args: Args) -> dict[str, Any]:
        """What refusals have taught."""
        del args
        return {"lessons": await poison.listing(self.core.database)}

    async def cmd_forget_lesson(self, args: Args) -> dict[str, Any]:
        """A person takes lessons back."""
        async with self.core.database.write() as tx:
            for lesson_id in args.ids:
                await poison.forget(tx, lesson_id, args.reason)
        return await self.cmd_lessons(args)

    async def cmd_rollback(self, args: Args) -> dict[str, Any]:
        """A person withdraws all that a session added, or puts it back."""
        found = await sessions.beginning(self.core.database, args.session_id or "")
        if len(found) != 1 or not args.session_id:
            what = "no session" if not found else "more than one session"
            raise RequestError(f"{what} begins with {args.session_id!r}", "`subconscious sessions` lists them")
        return await reviewing.rollback(self.core, found[0].id, args.reason, back=args.back, preview=args.preview)

    async def cmd_restore(self, args: Args) -> dict[str, Any]:
        """A person wants closed captures back in the queue."""
        return await self._decide(Wish("restore", args.ids, args.reason))

    async def cmd_undo(self, args: Args) -> dict[str, Any]:
        """A person takes their latest decision on captures back."""
        return await self._decide(Wish("undo", args.ids))

    async def _decide(self, wish: Wish) -> dict[str, Any]:
        return {"captures": await reviewing.carry_out(self.core, wish)}

    async def cmd_stats(self, args: Args) -> dict[str, Any]:
        """Counts of captures, decisions and surfaces; what stated confidences are worth."""
        project = None if args.everywhere else (await self.here(args)).id
        return await reviewing.stats(self.core, project)
