"""The page Sessions: what each session was about, which memories it got and used, and what was learned from it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from subconscious.domain.errors import NotFoundError
from subconscious.domain.model import Memory
from subconscious.page.site import Site, site_of
from subconscious.page.wording import day
from subconscious.store import memories
from subconscious.store.filters import Filter

PAGE = 50
MOST = 200


async def _sessions(request: Request) -> Response:
    site = site_of(request)
    found = await site.ask_here("sessions", limit=PAGE)
    days = groupby(found["sessions"], key=lambda one: day(one["last_event_at"]))
    return await site.page("sessions.html", days=[(name, list(of_day)) for name, of_day in days])


async def _session(request: Request) -> Response:
    site, session_id = site_of(request), request.path_params["id"]
    found = (await site.ask("sessions", session_id=session_id))["sessions"]
    session = next((one for one in found if one["id"] == session_id), None)
    if session is None:
        raise NotFoundError(f"there is no session {session_id}", "open Sessions in the menu to see all sessions")
    given = await site.ask("why_surfaced", session_id=session_id, limit=MOST)
    captures = (await site.ask("captures", session_id=session_id, limit=MOST))["captures"]
    in_order = sorted(given["surfaces"], key=lambda row: (row["at"], row["position"]))
    occasions = [
        {"at": at, "event": event, "surfaces": list(rows)}
        for (at, event), rows in groupby(in_order, key=lambda row: (row["at"], row["event"]))
    ]
    return await site.page(
        "session.html",
        session=session,
        occasions=occasions,
        held=given["held"],
        handovers=given["handovers"],
        names=await site.names(one["memory_id"] for one in given["held"]),
        titles=await site.titles(one["from_id"] for one in given["handovers"]),
        captures=[one for one in captures if one["status"] != "discarded"],
        learned=await _learned(site, session_id, {one["memory_id"] for one in captures}),
        discarded=sum(one["status"] == "discarded" for one in captures),
    )


async def _learned(site: Site, session_id: str, known: Collection[int | None]) -> list[Memory]:
    """Return the memories of a session that were stored without a capture, such as corrections."""
    database, found = site.app.database.interactive, list[Memory]()
    for archived in (False, True):
        found += await memories.latest(database, Filter(session_id=session_id, archived=archived), MOST)
    return sorted((one for one in found if one.id not in known), key=lambda one: one.id)


ROUTES = [Route("/sessions", _sessions), Route("/session/{id:str}", _session)]
