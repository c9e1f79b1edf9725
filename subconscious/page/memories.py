"""Memories: searching, filtering, one in full, editing, archiving, many at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from subconscious.page.site import Notice, Site, form_of, is_part, site_of
from subconscious.page.wording import counted

PAGE = 50
SURFACES_SHOWN = 20
LIKELY = 0.2
"""Share of the best hit's relevance from which a hit without any of the words still counts as a match."""
STATES = {"active": "In use", "archived": "Archived", "unconfirmed": "Not confirmed"}
SPANS = {"": "Any time", "yesterday": "Since yesterday", "7d": "Last 7 days", "30d": "Last 30 days"}

CHANGES: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "archive": ("archive", {}, "archived"),
    "unarchive": ("unarchive", {}, "in use again"),
    "pin": ("pin", {}, "pinned"),
    "unpin": ("unpin", {}, "unpinned"),
    "useful": ("feedback", {"outcome": "accepted"}, "marked as useful"),
    "wrong": ("feedback", {"outcome": "rejected"}, "marked as wrong"),
}
"""The buttons: the request with its arguments, and what was done."""


async def _memories(request: Request) -> Response:
    site = site_of(request)
    chosen = _chosen(request)
    values = await _found(site, chosen)
    values |= {"chosen": chosen, "states": STATES, "spans": SPANS, "query": urlencode(_kept(chosen))}
    if is_part(request):
        return site.part("memories_part.html", **values)
    return await site.page("memories.html", **values)


def _chosen(request: Request) -> dict[str, Any]:
    """Return the filters that a request names, with defaults for the others."""
    given = request.query_params
    page = given.get("page", "1")
    return {
        "q": given.get("q", "").strip(),
        "kind": given.get("kind", ""),
        "state": given.get("state") if given.get("state") in STATES else "active",
        "since": given.get("since", ""),
        "page": max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 6 else 1,
    }


def _kept(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters that differ from the defaults, as an address has them."""
    defaults = {"q": "", "kind": "", "state": "active", "since": "", "page": 1}
    return {name: value for name, value in chosen.items() if value != defaults[name]}


async def _found(site: Site, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the memories that match, a page of them, and how many there are."""
    which = {
        "kinds": [chosen["kind"]] if chosen["kind"] else None,
        "since": chosen["since"] or None,
        "archived": chosen["state"] == "archived",
        "unconfirmed": chosen["state"] == "unconfirmed",
    }
    if chosen["q"]:
        hits = (await site.ask_here("search", query=chosen["q"], limit=PAGE, **which))["hits"]
        found = [_of_hit(hit) for hit in hits]
        return {
            "memories": found,
            "names": await _names(site, found),
            "likely": likely(hits),
            "total": None,
            "pages": 1,
        }
    found = await site.ask_here("list", limit=PAGE, offset=PAGE * (chosen["page"] - 1), **which)
    return {
        "memories": found["memories"],
        "names": await _names(site, found["memories"]),
        "likely": 0,
        "total": found["total"],
        "pages": -(-found["total"] // PAGE),
    }


def likely(hits: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of leading hits that match; those behind them have none of the words and little in common."""
    least = LIKELY * max((hit["relevance"] for hit in hits), default=0.0)
    matching = [_has_words(hit) or hit["relevance"] >= least for hit in hits]
    return next((place for place in range(len(hits), 0, -1) if matching[place - 1]), 0)


def _has_words(hit: Mapping[str, Any]) -> bool:
    return any(one["engine"] == "text" for one in hit["engines"])


async def _names(site: Site, found: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    return await site.names(number for memory in found for number in _named(memory))


def _named(memory: Mapping[str, Any]) -> list[int]:
    """Return the memories that a list names beside a memory."""
    return [*memory.get("superseded_by", ()), *memory.get("conflicts", ())[:3]]


def _of_hit(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the memory of a hit, with its suspicion where a list has it."""
    return {**hit["memory"], "suspicion": hit.get("suspicion"), "marks": hit.get("marks", [])}


async def _memory(request: Request) -> Response:
    site, number = site_of(request), request.path_params["id"]
    shown = await site.ask("show", id=number, cwd=site.folder)
    given = await site.ask("why_surfaced", id=number, limit=SURFACES_SHOWN)
    found = await site.ask_here("links", id=number, limit=PAGE)
    replaced = [link for link in found["links"] if link["type"] == "SUPERSEDES"]
    return await site.page(
        "memory.html",
        memory=shown["memory"],
        titles=await site.titles([shown["memory"]["session_id"], *(one["session_id"] for one in given["surfaces"])]),
        names=await site.names([*_named(shown["memory"]), *shown["merged"], shown["merged_into"] or 0]),
        marks=shown["marks"],
        history=shown["history"][::-1],
        merged=shown["merged"],
        merged_into=shown["merged_into"],
        surfaces=given["surfaces"],
        responses=given["responses"],
        fade=await site.ask("decay", id=number),
        links=[link for link in found["links"] if link not in replaced],
        replaced=replaced,
        is_replaced=any(link["name"] != "SUPERSEDES" and link["status"] == "active" for link in replaced),
    )


async def _edit(request: Request) -> Response:
    site, form = site_of(request), await form_of(request)
    number = request.path_params["id"]
    done, event = await site.change("correct", id=number, way="refined", text=form.first("text").strip())
    if done["replacement"]:
        form["back"] = [f"memory/{done['replacement']['id']}"]
    return site.done(Notice("The new words are stored; the old ones stay in the history.", event), form)


async def _change(request: Request) -> Response:
    site, form = site_of(request), await form_of(request)
    ids = list(dict.fromkeys(form.numbers("id")))
    if form.first("do") not in CHANGES or not ids:
        return site.done(Notice("Nothing was chosen.", problem=True), form)
    cmd, args, words = CHANGES[form.first("do")]
    _, event = await site.change(cmd, ids=ids, **args)
    what = counted(len(ids), "memory", "memories")
    return site.done(Notice(f"{what} {words}." if event else "Nothing had to be changed.", event), form)


ROUTES = [
    Route("/memories", _memories),
    Route("/memories/change", _change, methods=["POST"]),
    Route("/memory/{id:int}", _memory),
    Route("/memory/{id:int}", _edit, methods=["POST"]),
]
