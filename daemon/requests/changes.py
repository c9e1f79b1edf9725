"""Requests about what was changed: its history, and taking it back."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from subconscious.errors import RequestError
from subconscious.model import Origin
from subconscious.store import event_projects, events, reversal, sessions, titles

from .. import acts, undoing
from ..suspicions import noted, of_events
from ..undoing import Wish
from .args import Args, Name
from .room import Room

NEWEST = 2**62
PAGE = 200
JUDGED = ("surface_outcome",)
"""What every answer judges, a dozen times a session: it is told of a session that is asked about."""


class ChangesArgs(Args):
    """``about`` is the id of the ``subject`` whose history is wanted; ``daemon`` lets the daemon's own acts count."""

    subject: Literal["memory", "capture", "link", "session", "event", ""] = ""
    about: Name = ""
    daemon: bool = False


class Changes(Room):
    """Requests about what was changed: its history, and taking it back."""

    arguments = ChangesArgs
    decides_on: ClassVar[str] = "what is taken back"
    personal: ClassVar[frozenset[str]] = frozenset({"undo_acts"})

    async def cmd_history(self, args: ChangesArgs) -> dict[str, Any]:
        """What happened to one thing, oldest first, or, the latest first, to everything."""
        person = args.origin is Origin.USER
        if args.subject == "memory" and not person:
            await acts.refuse_held(self.core, [int(args.about)])
        found = await self._found(args)
        known = await titles.of_events(self.core.database, found) if person else {}
        suspected = await of_events(self.core, found) if person else {}
        told = [
            event
            | {"about": known.get((event["subject"], event["subject_id"]), ""), "change": reversal.is_change(event)}
            | noted(suspected.get((event["subject"], event["subject_id"])))
            | {"speaker": undoing.speaker_of([event])}
            # Words of what is in quarantine may stand there, which are for nobody else to read.
            | ({} if person else {"before": None, "after": None, "reason": ""})
            for event in found
        ]
        return {"events": told}

    async def _found(self, args: ChangesArgs) -> list[dict[str, Any]]:
        database = self.core.database
        if not args.subject:
            return await self._latest(args)
        if args.subject == "session":
            return await events.of_session(database, await self._session(args.about))
        if args.subject == "event":
            async with database.write() as tx:
                return await events.of_act(tx, await events.held(tx, int(args.about)))
        return await events.history(database, args.subject, int(args.about))

    async def _latest(self, args: ChangesArgs) -> list[dict[str, Any]]:
        """The latest events of everything; without those of other projects where the request names a folder."""
        project = None if args.everywhere else await self.project(args)
        if project is None:
            return await events.page(self.core.database, NEWEST, args.limit, but=JUDGED)
        found: list[dict[str, Any]] = []
        before = NEWEST
        while len(found) < args.limit and (page := await events.page(self.core.database, before, PAGE, but=JUDGED)):
            found += await event_projects.here_or_everywhere(self.core.database, page, project.id)
            before = page[-1]["id"]
        return found[: args.limit]

    async def _session(self, beginning: str) -> str:
        found = await sessions.beginning(self.core.database, beginning)
        if len(found) != 1 or not beginning:
            what = "no session" if not found else "more than one session"
            raise RequestError(f"{what} begins with {beginning!r}", "`subconscious sessions` lists them")
        return found[0].id

    async def cmd_undo_acts(self, args: ChangesArgs) -> dict[str, Any]:
        """A person takes acts back, or with ``preview`` sees what that would do; only the project's at ``cwd``."""
        project = None if args.everywhere else await self.project(args)
        wish = Wish(
            args.ids, args.limit, args.daemon, args.reason, args.preview, project_id=project.id if project else None
        )
        return await undoing.take_back(self.core, wish)
