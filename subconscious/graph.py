"""A memory's surroundings: a bounded walk over links, both ways, and how it is drawn. Pure.

Whoever walks says where the links come from; a walk asks once for every step outwards, so that it is a query each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from subconscious.link_types import LINK_TYPES, told_from
from subconscious.model import Link
from subconscious.quoting import visible

Neighbours = Callable[[Sequence[int]], Awaitable[Sequence[Link]]]
"""The links of some memories, at either end, the surest first."""

MOST = 100
"""Memories that one walk may reach."""

LONGEST_LABEL = 60
"""Characters of a memory in a drawing."""


@dataclass(frozen=True, slots=True)
class Graph:
    """What a walk found: memories by their distance, the links among them, and by which of those each was reached.

    ``left_out`` counts the links that were not followed because the walk was full.
    """

    root: int
    distances: dict[int, int]
    links: tuple[Link, ...] = ()
    via: dict[int, int] = field(default_factory=dict)
    left_out: int = 0


async def walk(root: int, neighbours: Neighbours, depth: int = 3, most: int = MOST) -> Graph:
    """Walk outwards from a memory, at most ``depth`` steps and ``most`` memories far; cycles end where they close."""
    distances, via = {root: 0}, {}
    taken: dict[int, Link] = {}
    left_out: set[int] = set()
    reached = [root]
    for distance in range(1, depth + 1):
        met, reached = reached, []
        for link in await neighbours(met) if met else ():
            beyond = [end for end in (link.source_id, link.target_id) if end not in distances]
            if beyond and len(distances) >= most:
                left_out.add(link.id)
                continue
            taken.setdefault(link.id, link)
            for end in beyond:
                distances[end], via[end] = distance, link.id
                reached.append(end)
    return Graph(root, distances, tuple(taken.values()), via, len(left_out))


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of the tree: the memory above it NAME this memory. ``again``: this one stands elsewhere with its own."""

    depth: int
    memory_id: int
    name: str
    link: Link
    again: bool = False


def tree(graph: Graph) -> list[Branch]:
    """Return the graph as a tree below its root: every memory is expanded once, every link occurs once."""
    links_of: dict[int, list[Link]] = {number: [] for number in graph.distances}
    for link in graph.links:
        links_of[link.source_id].append(link)
        links_of[link.target_id].append(link)
    return list(_below(graph, links_of, graph.root, 1, set()))


def _below(
    graph: Graph, links_of: Mapping[int, Sequence[Link]], memory_id: int, depth: int, told: set[int]
) -> Iterator[Branch]:
    for link in links_of[memory_id]:
        other = link.other(memory_id)
        if link.id in told:
            continue
        told.add(link.id)
        again = graph.via.get(other) != link.id
        yield Branch(depth, other, told_from(link.type, source=link.source_id == memory_id), link, again)
        if not again:
            yield from _below(graph, links_of, other, depth + 1, told)


def mermaid(graph: Graph, names: Mapping[int, str]) -> str:
    """The graph as a Mermaid drawing; what is only proposed is dotted."""
    nodes = [f'  m{number}["{_label(number, names.get(number, ""))}"]' for number in graph.distances]
    return "\n".join(["flowchart LR", *nodes, *map(_edge, graph.links)]) + "\n"


def _edge(link: Link) -> str:
    known = LINK_TYPES.get(link.type)
    back = "<" if known is not None and known.symmetric else ""
    line = "--" if link.status == "active" else "-.-"
    return f'  m{link.source_id} {back}{line}>|"{escaped(link.type)}"| m{link.target_id}'


def _label(number: int, name: str) -> str:
    told = " ".join(visible(name).split())
    return f"{number} {escaped(told if len(told) <= LONGEST_LABEL else told[: LONGEST_LABEL - 1] + '…')}".rstrip()


def escaped(text: str) -> str:
    """A text that means itself within Mermaid's quotes: all but letters, digits and harmless points is encoded.

    A list of what is dangerous would never be complete: besides quotes there are HTML, Markdown, comments and
    directives, some of which are looked for before the quotes are.
    """
    return "".join(sign if sign.isalnum() or sign in " .,_" else f"#{ord(sign)};" for sign in text)
