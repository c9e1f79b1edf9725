"""The page Graph: the links around a memory, and chains of memories that replaced each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from subconscious.page.site import Site, site_of
from subconscious.page.wording import plain
from subconscious.text.quoting import visible

DEPTH = 3
MOST = 50
MOST_CHOICES = 8
LONGEST_LABEL = 60


async def _graph(request: Request) -> Response:
    site = site_of(request)
    wanted = request.query_params.get("id", "").strip()
    number = wanted.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 16:
        return await _around(site, int(number))
    if wanted:
        return await _choice(site, wanted)
    replaced = await site.ask_here("links", types=["SUPERSEDES"], status="active", limit=MOST)
    against = await site.ask_here("conflicts", limit=MOST)
    return await site.page(
        "graph.html", root=None, hits=None, chains=chains(replaced["links"]), conflicts=against["links"], wanted=wanted
    )


def chains(replaced: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Return each memory that replaced others and was not replaced itself, with all memories that it replaced.

    Memories that it replaced indirectly are included. Each is listed once, after a memory that replaced it. A memory
    that two others replaced appears in the chains of both. If memories replaced each other in a cycle, they are listed
    only in the chain of a memory outside the cycle that replaced one of them.
    """
    older: dict[int, list[Mapping[str, Any]]] = {}
    known: dict[int, Mapping[str, Any]] = {}
    for link in replaced:
        older.setdefault(link["source"]["id"], []).append(link["target"])
        known[link["source"]["id"]] = link["source"]
    over = {link["target"]["id"] for link in replaced}
    return [(memory, _before(number, older)) for number, memory in known.items() if number not in over]


def _before(number: int, older: Mapping[int, Sequence[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """Return the memories that a memory replaced, directly or indirectly, each once."""
    found: dict[int, Mapping[str, Any]] = {}
    left = list(older.get(number, ()))[::-1]
    while left:
        memory = left.pop()
        if memory["id"] not in found and memory["id"] != number:
            found[memory["id"]] = memory
            left += list(older.get(memory["id"], ()))[::-1]
    return list(found.values())


async def _choice(site: Site, words: str) -> Response:
    """Return a list of the memories with these words; the user chooses a memory to draw."""
    hits = (await site.ask_here("search", query=words, limit=MOST_CHOICES))["hits"]
    return await site.page("graph.html", root=None, hits=[hit["memory"] for hit in hits], wanted=words)


async def _around(site: Site, number: int) -> Response:
    found = await site.ask_here("graph", id=number, depth=DEPTH)
    by_id = {memory["id"]: memory for memory in found["memories"]}
    return await site.page(
        "graph.html",
        root=by_id[found["root"]],
        depth=DEPTH,
        tree=[{**branch, "memory": by_id[branch["memory_id"]]} for branch in found["tree"]],
        left_out=found["left_out"],
        wanted=str(number),
    )


async def _data(request: Request) -> Response:
    """Return the nodes and edges of a drawing."""
    site = site_of(request)
    found = await site.ask_here("graph", id=request.path_params["id"], depth=DEPTH)
    return JSONResponse({"nodes": _nodes(found), "edges": _edges(found["links"])})


def _nodes(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(memory["id"]),
            "label": _label(memory["summary"]),
            "kind": memory["kind"],
            "root": memory["id"] == found["root"],
            "distance": memory["distance"],
            "old": bool(memory.get("superseded_by") or memory["archived_at"]),
        }
        for memory in found["memories"]
    ]


def _edges(links: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"link{row['id']}",
            "source": str(row["source_id"]),
            "target": str(row["target_id"]),
            "label": plain(row["type"]),
            "type": row["type"],
            "proposed": row["status"] != "active",
        }
        for row in links
    ]


def _label(text: str) -> str:
    words = " ".join(visible(text).split())
    return words if len(words) <= LONGEST_LABEL else f"{words[: LONGEST_LABEL - 1]}…"


ROUTES = [Route("/graph", _graph), Route("/graph/{id:int}", _data)]
