"""The page Memories: search and filter, show one in full, edit, archive, and change many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from subconscious.page.changes import effect
from subconscious.page.site import Notice, Site, form_of, is_part, site_of
from subconscious.page.wording import counted
from subconscious.store import events, links, memories
from subconscious.store.filters import Filter

PAGE = 50
SURFACES_SHOWN = 20
LIKELY = 0.2
"""A hit without any word of the query matches only with this share of the best hit's relevance."""
STATES = {"active": "In use", "archived": "Archived", "unconfirmed": "Not confirmed"}
SPANS = {"": "Any time", "yesterday": "Since yesterday", "7d": "Last 7 days", "30d": "Last 30 days"}


@dataclass(frozen=True, slots=True)
class Change:
    """A button: its request with the arguments, the words for what was done, and the label of the undo button."""

    cmd: str
    done: str
    undo: str
    args: Mapping[str, Any] = field(default_factory=dict)


CHANGES: Mapping[str, Change] = {
    "archive": Change("archive", "Archived", "Bring back"),
    "unarchive": Change("unarchive", "Brought back", "Archive again"),
    "pin": Change("pin", "Pinned", "Unpin"),
    "unpin": Change("unpin", "Unpinned", "Pin again"),
    "useful": Change("feedback", "Marked as useful", "Take the rating back", {"outcome": "accepted"}),
    "wrong": Change("feedback", "Marked as wrong", "Take the rating back", {"outcome": "rejected"}),
}


async def _memories(request: Request) -> Response:
    site = site_of(request)
    chosen = _chosen(request)
    others = [state for state in STATES if state != chosen["state"]]
    values, *counts = await asyncio.gather(
        _found(site, chosen), *(_count(site, {**chosen, "state": state}) for state in others)
    )
    values["counts"] = {chosen["state"]: values["count"], **dict(zip(others, counts, strict=True))}
    values |= await _details(site, values["memories"], chosen["state"])
    values |= {"chosen": chosen, "states": STATES, "spans": SPANS, "query": urlencode(_kept(chosen))}
    values["tabs"] = {state: urlencode(_kept({**chosen, "state": state, "page": 1})) for state in STATES}
    if is_part(request):
        return site.part("memories_part.html", **values)
    return await site.page("memories.html", **values)


def _chosen(request: Request) -> dict[str, Any]:
    """Return the filters of a browser's request, with the defaults for filters that it does not set."""
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
    """Return the filters that differ from their defaults, as query parameters of a URL."""
    defaults = {"q": "", "kind": "", "state": "active", "since": "", "page": 1}
    return {name: value for name, value in chosen.items() if value != defaults[name]}


def _which(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters as arguments of a request to the daemon."""
    return {
        "kinds": [chosen["kind"]] if chosen["kind"] else None,
        "since": chosen["since"] or None,
        "archived": chosen["state"] == "archived",
        "unconfirmed": chosen["state"] == "unconfirmed",
    }


async def _found(site: Site, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return one page of the memories that match, and how many match in total."""
    if chosen["q"]:
        hits = await _hits(site, chosen)
        return {"memories": [_of_hit(hit) for hit in hits], "likely": likely(hits), "count": likely(hits), "pages": 1}
    found = await site.ask_here("list", limit=PAGE, offset=PAGE * (chosen["page"] - 1), **_which(chosen))
    total = found["total"]
    return {"memories": found["memories"], "likely": len(found["memories"]), "count": total, "pages": -(-total // PAGE)}


async def _count(site: Site, chosen: Mapping[str, Any]) -> int:
    """Return how many memories match the filters."""
    which = _which(chosen)
    if chosen["since"]:  # the request resolves words such as "yesterday"
        total = int((await site.ask_here("list", limit=1, **which))["total"])
    else:
        project = await site.app.project_of(site.folder) if site.folder else None
        kinds, archived, unconfirmed = which["kinds"] or (), which["archived"], which["unconfirmed"]
        filter_ = Filter(project.id if project else None, tuple(kinds), archived=archived, unconfirmed=unconfirmed)
        total = await memories.count(site.app.database.interactive, filter_)
    return likely(await _hits(site, chosen)) if total and chosen["q"] else total


async def _hits(site: Site, chosen: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = await site.ask_here("search", query=chosen["q"], limit=PAGE, **_which(chosen))
    return list(found["hits"])


async def _details(site: Site, found: Sequence[Mapping[str, Any]], state: str) -> dict[str, Any]:
    """Return details of listed memories: what they replaced, when and why they were archived, related summaries."""
    ids = [int(memory["id"]) for memory in found]
    database = site.app.database.interactive
    replaces = await links.replaced(database, ids)
    wanted = [number for memory in found for number in (*_named(memory), *replaces.get(memory["id"], ()))]
    return {
        "replaces": replaces,
        "names": await site.names(wanted),
        "archivals": await events.archivals(database, ids) if state == "archived" else {},
    }


def likely(hits: Sequence[Mapping[str, Any]]) -> int:
    """Return how many of the first hits match. Later hits have none of the query's words, and low relevance."""
    least = LIKELY * max((hit["relevance"] for hit in hits), default=0.0)
    matching = [_has_words(hit) or hit["relevance"] >= least for hit in hits]
    return next((place for place in range(len(hits), 0, -1) if matching[place - 1]), 0)


def _has_words(hit: Mapping[str, Any]) -> bool:
    return any(one["engine"] == "text" for one in hit["engines"])


def _named(memory: Mapping[str, Any]) -> list[int]:
    """Return the ids of other memories that a list mentions beside a memory: its successors and some conflicts."""
    return [*memory.get("superseded_by", ()), *memory.get("conflicts", ())[:3]]


def _of_hit(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the memory of a hit with the hit's suspicion and marks, in the form of an entry of a memory list."""
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
        history=[_held(event, shown["memory"]) for event in shown["history"][::-1]],
        merged=shown["merged"],
        merged_into=shown["merged_into"],
        surfaces=given["surfaces"],
        responses=given["responses"],
        fade=await site.ask("decay", id=number),
        links=[link for link in found["links"] if link not in replaced],
        replaced=replaced,
        is_replaced=any(link["name"] != "SUPERSEDES" and link["status"] == "active" for link in replaced),
        archival=next((one for one in shown["history"][::-1] if effect(one) == "archived"), None),
    )


def _held(event: Mapping[str, Any], memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event with ``holds``: whether the memory is still as the event left it, archived or active."""
    concerned = bool(effect(event)) or event["action"] == "create"
    holds = not concerned or (event["after"] or {}).get("archived_at") == memory["archived_at"]
    return {**event, "holds": holds}


async def _edit(request: Request) -> Response:
    site, form = site_of(request), await form_of(request)
    number = request.path_params["id"]
    done, event = await site.change("correct", id=number, way="refined", text=form.first("text").strip())
    if done["replacement"]:
        form["back"] = [f"memory/{done['replacement']['id']}"]
    text = "The new words are stored; the old ones stay in the history."
    return site.done(Notice(text, event, undo="Put the earlier words back"), form)


async def _change(request: Request) -> Response:
    site, form = site_of(request), await form_of(request)
    # The button in a row sends the row's memory as ``only``; selected memories are then left alone.
    ids = list(dict.fromkeys(form.numbers("only") or form.numbers("id")))
    change = CHANGES.get("unarchive" if form.numbers("only") else form.first("do"))
    if change is None or not ids:
        return site.done(Notice("No memory was selected.", problem=True), form)
    _, event = await site.change(change.cmd, ids=ids, **change.args)
    if not event:
        return site.done(Notice("Nothing had to be changed."), form)
    what = "" if len(ids) == 1 else f" {counted(len(ids), 'memory', 'memories')}"
    return site.done(Notice(f"{change.done}{what}:", event, about=tuple(ids), undo=change.undo), form)


ROUTES = [
    Route("/memories", _memories),
    Route("/memories/change", _change, methods=["POST"]),
    Route("/memory/{id:int}", _memory),
    Route("/memory/{id:int}", _edit, methods=["POST"]),
]
