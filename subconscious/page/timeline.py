"""The page Timeline: which memories were stored, changed, given to sessions and used, by day and session."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from subconscious.page.changes import EVENT, UNDOING, replaced
from subconscious.page.site import is_part, site_of
from subconscious.page.wording import day
from subconscious.wire.page import ActItem, GivenItem

Item = ActItem | GivenItem
"""One entry of the timeline."""

PAGE = 40
SEARCHED = 200
"""The number of entries that are read at a time for a search; it is large, because few of them match."""
MOST_READ = 5
"""The maximum number of reads to fill one page of a filtered timeline."""

SHOWN = {"all": "Everything", "remembered": "Remembered", "given": "Given", "changed": "Changed"}


async def _timeline(request: Request) -> Response:
    site = site_of(request)
    shown = request.query_params.get("show", "all")
    values = await _page(request, shown if shown in SHOWN else "all")
    if is_part(request):
        return site.part("timeline_items.html", **values)
    return await site.page("timeline.html", **values)


async def _page(request: Request, shown: str) -> dict[str, Any]:
    """Return the values for the template: one page of matching items, and where the next page begins.

    An item matches if the filter ``shown``, a key of ``SHOWN``, shows it, and if it has all words of the search.
    """
    site = site_of(request)
    items: list[Item] = []
    read: list[Item] = []
    titles: dict[str, str] = {}
    query = request.query_params.get("q", "").strip()
    start = {name: int(request.query_params[name]) for name in ("event", "surface") if name in request.query_params}
    first = not start
    for _ in range(MOST_READ):
        before = {f"before_{name}": number for name, number in start.items()}
        found = await site.ask_here("timeline", limit=SEARCHED if query else PAGE, **before)
        titles |= found["sessions"]
        read += found["items"]
        items += [
            item
            for item in found["items"]
            if (shown == "all" or shown in _sorts(item))
            and has_words(item, query, titles.get(item["session_id"] or "", ""))
        ]
        start = found["next"]
        if start is None or len(items) >= PAGE:
            break
    return {
        "days": _by_day(items),
        "undone": undone_changes(read),
        "titles": titles,
        "next": start,
        "show": shown,
        "sorts": SHOWN,
        "first": first,
        "part": is_part(request),
        "q": query,
        "words": urlencode({"q": query}) if query else "",
    }


def has_words(item: Item, query: str, title: str) -> bool:
    """Whether an item, its memories or the title of its session have all words of a query."""
    texts = [title, item["about"]]
    if item["sort"] == "given":
        texts += [memory["summary"] for memory in item["memories"]]
    else:
        linked = ((link["summary"], link["other_summary"]) for link in item["linked"])
        texts += [item["reason"], *chain.from_iterable(linked)]
    whole = "\n".join(filter(None, texts)).casefold()
    return all(word in whole for word in query.casefold().split())


def undone_changes(items: Sequence[Item]) -> set[int]:
    """Return the ids of the changes that other items undid; ``items`` begins with the newest."""
    undone: set[int] = set()
    for item in items:
        # An undo that was itself undone has no effect.
        if item["sort"] != "given" and item["action"] in UNDOING and item["id"] not in undone:
            undone |= {int(number) for number in EVENT.findall(item["reason"] or "")}
    return undone


def _sorts(item: Item) -> set[str]:
    """Return the names of the filters that show an item. A new memory that replaced another is under two filters."""
    if item["sort"] == "given":
        return {"given"}
    is_new = (item["subject"], item["action"]) == ("memory", "create")
    return {"remembered" if is_new else "changed", *(["changed"] if replaced(item) else [])}


def _by_day(items: Sequence[Item]) -> list[tuple[str, list[tuple[str, list[Item]]]]]:
    """Return items by day, and within a day in groups of successive items of the same session."""
    days = groupby(items, key=lambda item: day(item["at"]))
    return [
        (
            name,
            [(session or "", list(group)) for session, group in groupby(of_day, key=lambda item: item["session_id"])],
        )
        for name, of_day in days
    ]


ROUTES = [Route("/timeline", _timeline)]
