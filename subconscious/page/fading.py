"""The page Fading: how memories age, and which memories are archived next."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from subconscious.decay import Facts, patience
from subconscious.memories.fading import terms_of
from subconscious.page.site import site_of

LISTED = 30


async def _fading(request: Request) -> Response:
    return await site_of(request).page("fading.html")


async def _list(request: Request) -> Response:
    """Return the list of fading memories. It is loaded after the page, because all memories have to be assessed."""
    site = site_of(request)
    found = await site.ask_here("decay", limit=LISTED)
    gone = await site.ask_here("faded", limit=LISTED)
    return site.part(
        "fading_part.html",
        due=found["due"],
        total=found["total"],
        coming=found["next"],
        active=found["active"],
        states=found["states"],
        curve=found["curve"],
        policy=found["policy"],
        below=found["below"],
        patience=patience(Facts("decision", 0.0), terms_of(site.app.recall_context().settings)),
        gone=gone["memories"],
    )


ROUTES = [Route("/fading", _fading), Route("/fading/list", _list)]
