"""Parts that all pages share: the first page, the choice of a project, undo, closing, and live updates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from subconscious.page.changes import memories_of, takes_back, undone
from subconscious.page.site import MOST_PROJECTS, Notice, Site, form_of, site_of

LOOK_SECONDS = 1.0
"""Seconds between two checks for changes, each of which needs two queries."""

LOOKS_PER_SIGN = 15
"""A line is sent after this many checks without a change, to detect a disconnected browser."""


async def _first(request: Request) -> Response:
    return RedirectResponse(f"{site_of(request).base}timeline")


async def _choose(request: Request) -> Response:
    site, form = site_of(request), await form_of(request)
    wanted = form.first("folder")
    known = (await site.ask("projects", limit=MOST_PROJECTS))["projects"]
    site.folder = next((one["root"] for one in known if one["root"] == wanted), "")
    back = form.first("back").partition("?")[0].partition("/")[0]
    return RedirectResponse(site.base + (back if back.isalpha() else ""), status_code=303)


async def _undo(request: Request) -> Response:
    site, form = site_of(request), await form_of(request)
    done = await site.ask("undo_acts", ids=form.numbers("event"))
    changed = [step for act in done["acts"] for step in act["steps"]]
    if not changed:
        return site.done(Notice("Nothing had to be changed."), form)
    latest = (await site.ask("history", limit=1, everywhere=True))["events"][0]
    label = takes_back(latest)
    return site.done(Notice(undone(changed), latest["id"], about=memories_of(changed), undo=label), form)


async def _close(request: Request) -> Response:
    site = site_of(request)
    answer = site.part("closed.html")
    # Only after this response has been sent, because closing waits for running requests.
    asyncio.get_running_loop().call_later(0.1, site.closing.set)
    return answer


async def _live(request: Request) -> Response:
    return StreamingResponse(_news(site_of(request)), media_type="text/event-stream")


async def _news(site: Site) -> AsyncIterator[str]:
    """Yield an event whenever a memory was changed or shown to a session, and an event when the page closes."""
    known, looks = await site.ask("latest"), 0
    yield ": open\n\n"
    while not site.closing.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(site.closing.wait(), LOOK_SECONDS)
        latest, looks = await site.ask("latest"), looks + 1
        if latest != known:
            known = latest
            yield "event: changed\ndata: \n\n"
        elif looks % LOOKS_PER_SIGN == 0:
            yield ": here\n\n"
    yield "event: closed\ndata: \n\n"


ROUTES = [
    Route("/", _first),
    Route("/project", _choose, methods=["POST"]),
    Route("/undo", _undo, methods=["POST"]),
    Route("/close", _close, methods=["POST"]),
    Route("/live", _live),
]
