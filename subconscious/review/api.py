"""Handlers of requests about captures: list those that wait for a person, and record decisions."""

from __future__ import annotations

from typing import ClassVar

from subconscious.app.request import Handler
from subconscious.context.arguments import Args
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Origin
from subconscious.review import decisions
from subconscious.review.decisions import Wish
from subconscious.store import captures, poison, sessions
from subconscious.store.capture_rows import UNCONFIRMED
from subconscious.wire import captures as wire
from subconscious.wire.stats import StatsResult
from subconscious.wire.undo import RollbackResult


class Deciding(Handler):
    """Requests about captures: list those that wait for a person, and record decisions."""

    personal: ClassVar[frozenset[str]] = frozenset(
        {"approve", "codes", "edit", "forget_lesson", "reject", "release", "restore", "rollback", "undo"}
    )
    decides: ClassVar[str] = "what becomes of captures"

    async def cmd_captures(self, args: Args) -> wire.CapturesResult:
        """Return captures. Only a person gets the text of those in quarantine."""
        project = (await self.here(args)).id if args.cwd and not args.everywhere else None
        if args.offered and args.origin is Origin.USER:
            return await self._offered(project, args.limit)
        found = await self._named(args, project)
        shown = await decisions.with_details(self.app, found) if args.details else wire.reviewed(found)
        if args.origin is not Origin.USER:
            shown = [decisions.without_text(capture) for capture in shown]
        return {"captures": shown}

    async def _named(self, args: Args, project_id: str | None) -> list[wire.Capture]:
        """Return the captures with the requested ids; without ids, those of a project, session and status."""
        if args.ids:
            return await captures.get_many(self.app.database, args.ids)
        return await captures.listing(
            self.app.database,
            project_id=project_id,
            session_id=args.session_id,
            status=args.status,
            limit=args.limit,
        )

    async def _offered(self, project_id: str | None, limit: int) -> wire.CapturesResult:
        """Return the captures to review next, and how many wait, including the returned unconfirmed ones."""
        found = await decisions.offered(self.app, project_id, limit)
        unconfirmed = sum(capture["status"] == UNCONFIRMED for capture in found)
        return {"captures": found, "waiting": await captures.waiting(self.app.database, project_id) + unconfirmed}

    async def cmd_approve(self, args: Args) -> wire.CapturesResult:
        """Approve the captures with these ids; with ``all``, every waiting capture that does not look poisoned."""
        ids = args.ids
        if args.all:
            project = None if args.everywhere else (await self.here(args)).id
            ids, number = await decisions.approvable(self.app, project, args.limit)
            result = await self._decide(Wish("approve", ids, args.reason))
            if note := decisions.left_out(number):
                result["left_out"] = note
            return result
        return await self._decide(Wish("approve", ids, args.reason))

    async def cmd_edit(self, args: Args) -> wire.CapturesResult:
        """Approve a waiting capture in the person's own words."""
        return await self._decide(Wish("edit", args.ids, args.reason, args.text, args.kind))

    async def cmd_reject(self, args: Args) -> wire.CapturesResult:
        """Reject captures that wait or are in quarantine; with ``teach``, flag later statements that say the same."""
        return await self._decide(Wish("teach" if args.teach else "reject", args.ids, args.reason))

    async def cmd_release(self, args: Args) -> wire.CapturesResult:
        """Release captures from quarantine."""
        return await self._decide(Wish("release", args.ids, args.reason))

    async def cmd_codes(self, args: Args) -> wire.CodesResult:
        """Return the decisions that the user typed in sessions and must confirm with a code, each with its code."""
        del args
        return {"decisions": await decisions.with_codes(self.app)}

    async def cmd_lessons(self, args: Args) -> wire.LessonsResult:
        """Return the lessons: rejected statements whose later repetitions are flagged."""
        del args
        return {"lessons": await poison.listing(self.app.database)}

    async def cmd_forget_lesson(self, args: Args) -> wire.LessonsResult:
        """Delete lessons."""
        async with self.app.database.write() as tx:
            for lesson_id in args.ids:
                await poison.remove_lesson(tx, lesson_id, args.reason)
        return await self.cmd_lessons(args)

    async def cmd_rollback(self, args: Args) -> RollbackResult:
        """Withdraw everything that a session added; with ``back``, restore what was withdrawn."""
        found = await sessions.with_prefix(self.app.database, args.session_id or "")
        if len(found) != 1 or not args.session_id:
            what = "no session" if not found else "more than one session"
            why = f"{what} has an id that begins with {args.session_id!r}"
            raise RequestError(why, "`subconscious sessions` lists the sessions")
        return await decisions.rollback(self.app, found[0].id, args.reason, back=args.back, preview=args.preview)

    async def cmd_restore(self, args: Args) -> wire.CapturesResult:
        """Put expired, rejected or discarded captures back into the queue."""
        return await self._decide(Wish("restore", args.ids, args.reason))

    async def cmd_undo(self, args: Args) -> wire.CapturesResult:
        """Undo the latest decision on captures."""
        return await self._decide(Wish("undo", args.ids))

    async def _decide(self, decision: Wish) -> wire.CapturesResult:
        return {"captures": await decisions.apply_decision(self.app, decision)}

    async def cmd_stats(self, args: Args) -> StatsResult:
        """Return counts of captures, decisions and memories shown to sessions, and the calibration of confidence."""
        project = None if args.everywhere else (await self.here(args)).id
        return await decisions.stats(self.app, project)
