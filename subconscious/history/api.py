"""Requests for the history of changes and for undo."""

from __future__ import annotations

from typing import ClassVar, Literal, cast

from subconscious.app.request import Handler
from subconscious.context.arguments import Args, Name, Number
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Origin
from subconscious.history import timeline, undoing
from subconscious.history.timeline import Cursor
from subconscious.history.undoing import UndoRequest
from subconscious.poisoning.quarantine import refuse_held
from subconscious.poisoning.suspicions import of_events
from subconscious.store import events, reversal, sessions, subjects, surfaces
from subconscious.wire.history import DescribedEvent, Event, HistoryResult
from subconscious.wire.page import LatestResult, TimelineResult
from subconscious.wire.undo import UndoResult

NEWEST = 2**53
PAGE = 200
HIDDEN_FROM_PAGES = ("surface_outcome",)
"""Subjects with a dozen events per session; their events are listed only if a session is requested."""

INTERNAL = ("capture bind", "project told", "project offered-import")
"""Subjects and actions of internal bookkeeping, which the latest events leave out."""


class ChangesArgs(Args):
    """Arguments. ``subject`` is the type and ``about`` the id of the thing whose history is requested.

    With ``daemon``, the latest changes to undo include changes by the daemon.

    A page of the timeline contains only events with ids below ``before_event``, and surfaces (memories shown to
    sessions) with ids below ``before_surface``.
    """

    subject: Literal["memory", "capture", "link", "session", "event", ""] = ""
    about: Name = ""
    daemon: bool = False
    before_event: Number = NEWEST
    before_surface: Number = NEWEST


class Changes(Handler):
    """Requests for the history of changes and for undo."""

    arguments = ChangesArgs
    decides: ClassVar[str] = "which changes are undone"
    personal: ClassVar[frozenset[str]] = frozenset({"undo_acts"})

    async def cmd_history(self, args: ChangesArgs) -> HistoryResult:
        """Return the events of one subject, the oldest first, or the latest events of all subjects."""
        person = args.origin is Origin.USER
        if args.subject == "memory" and not person:
            await refuse_held(self.app.database, [int(args.about)])
        found = await self._events(args)
        known = await subjects.titles(self.app.database, found) if person else {}
        suspected = await of_events(self.app.database, found) if person else {}
        return {
            "events": [
                _described(event, known.get(thing, ""), suspected.get(thing, ""), person=person)
                for event in found
                for thing in [(event["subject"], event["subject_id"])]
            ]
        }

    async def _events(self, args: ChangesArgs) -> list[Event]:
        database = self.app.database
        if not args.subject:
            return await self._latest(args)
        if args.subject == "session":
            return await events.of_session(database, await self._session(args.about))
        if args.subject == "event":
            async with database.write() as tx:
                return await events.of_act(tx, await events.require(tx, int(args.about)))
        return await events.history(database, args.subject, int(args.about))

    async def _latest(self, args: ChangesArgs) -> list[Event]:
        """Return the latest events; if the request names a folder, events of other projects are left out."""
        project = None if args.everywhere else await self.project(args)
        if project is None:
            return await events.page(
                self.app.database, NEWEST, args.limit, excluded=HIDDEN_FROM_PAGES, internal=INTERNAL
            )
        found: list[Event] = []
        before = NEWEST
        while len(found) < args.limit and (page := await self._page(before, PAGE)):
            found += await subjects.events_of_project(self.app.database, page, project.id)
            before = page[-1]["id"]
        return found[: args.limit]

    async def _page(self, before: int, limit: int) -> list[Event]:
        return await events.page(self.app.database, before, limit, excluded=HIDDEN_FROM_PAGES, internal=INTERNAL)

    async def _session(self, beginning: str) -> str:
        found = await sessions.with_prefix(self.app.database, beginning)
        if len(found) != 1 or not beginning:
            what = "no session" if not found else "more than one session"
            raise RequestError(
                f"{what} has an id that begins with {beginning!r}", "`subconscious sessions` lists the sessions"
            )
        return found[0].id

    async def cmd_timeline(self, args: ChangesArgs) -> TimelineResult:
        """Return a page of changes (acts) and memories shown to sessions, latest first. Only a person may read it."""
        if args.origin is not Origin.USER:
            # The timeline quotes captures that are in quarantine.
            raise RequestError("only a person may read the timeline, not the assistant", "run `subconscious ui`")
        project = None if args.everywhere else await self.project(args)
        start = Cursor(args.before_event, args.before_surface)
        return await timeline.page(self.app, start, args.limit, project.id if project else None)

    async def cmd_latest(self, args: ChangesArgs) -> LatestResult:
        """Return the ids of the newest event and of the newest surface (memory shown to a session).

        A client compares them with earlier ids to notice new rows.
        """
        del args
        database = self.app.database
        return {"event": await events.latest_id(database), "surface": await surfaces.latest_id(database)}

    async def cmd_undo_acts(self, args: ChangesArgs) -> UndoResult:
        """Undo changes at a person's request, in one project unless ``everywhere``.

        With ``preview``, change nothing, and only return what would change.
        """
        return await undoing.undo_acts(self.app, await self._undo_request(args))

    async def allowed_to_script(self, cmd: str, args: Args) -> Args | None:
        """Allow an undo that only takes back what the user archived or restored: a script may do that without an undo.

        The undo is of these events, and of none that came since. If there are none, only a preview is allowed.
        """
        if cmd != "undo_acts" or not isinstance(args, ChangesArgs):
            return None
        moves = await undoing.only_moves(self.app, await self._undo_request(args))
        if moves is None:
            return None
        return args.model_copy(update={"ids": moves} if moves else {"preview": True})

    async def _undo_request(self, args: ChangesArgs) -> UndoRequest:
        project = None if args.everywhere else await self.project(args)
        return UndoRequest(
            args.ids, args.limit, args.daemon, args.reason, args.preview, project_id=project.id if project else None
        )


def _described(event: Event, about: str, suspicion: str, *, person: bool) -> DescribedEvent:
    more = {"about": about, "change": reversal.is_change(event), "speaker": undoing.speaker_of([event])}
    described = cast("DescribedEvent", {**event, **more})
    if suspicion:
        described["suspicion"] = suspicion
    if not person:
        # These fields may contain text from the quarantine, which only a person may read.
        described |= {"before": None, "after": None, "reason": ""}
    return described
