"""The page Review: a card for each capture that waits for review, and the decisions on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from subconscious.domain.errors import RequestError
from subconscious.page.site import Notice, Site, form_of, is_part, site_of
from subconscious.page.wording import status

SHOWN = 8
"""The most captures listed at once: each needs a search for similar memories, and a person reviews few at a time."""

DECISIONS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "approve": ("approve", {}),
    "edit": ("edit", {}),
    "reject": ("reject", {}),
    "teach": ("reject", {"teach": True}),
    "release": ("release", {}),
    "undo": ("undo", {}),
}
"""For each button, the request to the daemon and its arguments."""


async def _review(request: Request) -> Response:
    site = site_of(request)
    quarantine = request.query_params.get("tab") == "quarantine"
    if quarantine:
        found = await site.ask_here("captures", status="quarantined", details=True, limit=SHOWN)
        return await site.page("review.html", quarantine=True, left=0, **await _cards(site, found["captures"]))
    found = await site.ask_here("captures", offered=True, limit=SHOWN)
    left = max(0, found["waiting"] - len(found["captures"]))
    return await site.page("review.html", quarantine=False, left=left, **await _cards(site, found["captures"]))


async def _cards(site: Site, captures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"captures": captures, "titles": await site.titles(one["session_id"] for one in captures)}


async def _decide(request: Request) -> Response:
    site, form = site_of(request), await form_of(request)
    decision = form.first("do")
    if decision not in DECISIONS:
        raise RequestError("the form sent an unknown decision on a capture", "use the buttons of the web page")
    cmd, args = DECISIONS[decision]
    if decision == "edit":
        args = {"text": form.first("text").strip()}
    (capture,) = (await site.ask(cmd, ids=form.numbers("id")[:1], **args))["captures"]
    if not is_part(request):
        return site.done(Notice(f"Capture {capture['id']} is {status(capture['status'])}."), form)
    if decision == "undo":
        return site.part("review_card.html", capture=capture, titles=await site.titles([capture["session_id"]]))
    return site.part("review_decided.html", capture=capture, words=args.get("text") or capture["summary"])


ROUTES = [Route("/review", _review), Route("/review", _decide, methods=["POST"])]
