"""The neighbourhood of a memory: a bounded walk over links in both directions, as a tree and a drawing. Pure.

The caller provides a function that returns links, which is called once for each distance from the start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from subconscious.domain.link_types import LINK_TYPES, directed_name
from subconscious.domain.model import Link
from subconscious.text.quoting import visible

Neighbours = Callable[[Sequence[int]], Awaitable[Sequence[Link]]]
"""A function that returns the links that start or end at some memories, the most confident first."""

MOST = 100
"""The most memories that one walk reaches."""

LONGEST_LABEL = 60
"""The most characters of a memory's text in a drawing."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The result of a walk over links: the distance of each memory in links, and the links that were followed.

    ``via`` maps the id of each memory to the id of the link by which it was first reached. ``left_out`` counts the
    links that were not followed because the walk had reached its maximum number of memories.
    """

    root: int
    distances: dict[int, int]
    links: tuple[Link, ...] = ()
    via: dict[int, int] = field(default_factory=dict)
    left_out: int = 0


async def walk(root: int, neighbours: Neighbours, depth: int = 3, most: int = MOST) -> Graph:
    """Return the neighbourhood of a memory: at most ``most`` memories, each at most ``depth`` links away."""
    distances, via = {root: 0}, {}
    taken: dict[int, Link] = {}
    left_out: set[int] = set()
    reached = [root]
    for distance in range(1, depth + 1):
        previous, reached = reached, []
        for link in await neighbours(previous) if previous else ():
            new = [end for end in (link.source_id, link.target_id) if end not in distances]
            if new and len(distances) >= most:
                left_out.add(link.id)
                continue
            taken.setdefault(link.id, link)
            for end in new:
                distances[end], via[end] = distance, link.id
                reached.append(end)
    return Graph(root, distances, tuple(taken.values()), via, len(left_out))


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of the tree: a memory, and the link from the memory above.

    ``again`` means that the memory's own links are shown below another line.
    """

    depth: int
    memory_id: int
    name: str
    link: Link
    again: bool = False


def tree(graph: Graph) -> list[Branch]:
    """Return the graph as the lines of a tree below its root: each memory is expanded once, each link occurs once."""
    links_of: dict[int, list[Link]] = {number: [] for number in graph.distances}
    for link in graph.links:
        links_of[link.source_id].append(link)
        links_of[link.target_id].append(link)
    return list(_below(graph, links_of, graph.root, 1, set()))


def _below(
    graph: Graph, links_of: Mapping[int, Sequence[Link]], memory_id: int, depth: int, listed: set[int]
) -> Iterator[Branch]:
    for link in links_of[memory_id]:
        other = link.other(memory_id)
        if link.id in listed:
            continue
        listed.add(link.id)
        again = graph.via.get(other) != link.id
        yield Branch(depth, other, directed_name(link.type, source=link.source_id == memory_id), link, again)
        if not again:
            yield from _below(graph, links_of, other, depth + 1, listed)


def mermaid(graph: Graph, names: Mapping[int, str]) -> str:
    """Return the graph as a Mermaid drawing; proposed links are dotted."""
    nodes = [f'  m{number}["{_label(number, names.get(number, ""))}"]' for number in graph.distances]
    return "\n".join(["flowchart LR", *nodes, *map(_edge, graph.links)]) + "\n"


def _edge(link: Link) -> str:
    known = LINK_TYPES.get(link.type)
    back = "<" if known is not None and known.symmetric else ""
    line = "--" if link.status == "active" else "-.-"
    return f'  m{link.source_id} {back}{line}>|"{escaped(link.type)}"| m{link.target_id}'


def _label(number: int, name: str) -> str:
    text = " ".join(visible(name).split())
    return f"{number} {escaped(text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + '…')}".rstrip()


def escaped(text: str) -> str:
    """Return a text for Mermaid: all characters except letters, digits and a few harmless ones are encoded.

    A list of dangerous characters would never be complete: Mermaid parses quotes, HTML, Markdown, comments and
    directives.
    """
    return "".join(sign if sign.isalnum() or sign in " .,_" else f"#{ord(sign)};" for sign in text)
