"""What is linked with what was found: a bounded neighbourhood, and personalised PageRank over it.

The walk begins at the hits of the other engines and returns to them half of the time (damping .5, as HippoRAG has it),
so that a memory gains from being linked with what was found, and not from having many links. Links are walked both
ways: what supports a decision answers a question about it, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from subconscious.link_types import LINK_TYPES
from subconscious.model import Link
from subconscious.search.fusion import Fused, Ranking
from subconscious.store import links, memories
from subconscious.store.connect import Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[numpy.float32]

SEEDS = 5
"""Hits that a walk begins at: few, for whoever is one outranks what is linked with it."""

KIN = 5
"""Hits that each hit is nearest to by meaning."""

TOLERANCE = 1e-9
STEPS = 3000
"""Enough for a walk that hardly ever returns (damping .99); one that returns half of the time takes 30."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Two memories and how much relevance passes between them."""

    one: int
    other: int
    weight: float


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a neighbourhood goes. No ``hops``: there is none."""

    hops: int
    nodes: int


async def linked(database: Database, seeds: Sequence[int], projects: Sequence[str], reach: Reach) -> list[Edge]:
    """The active links around ``seeds`` within what may be recalled; the surest, where there are more than fit."""
    edges: dict[int, Edge] = {}
    known, border = set(seeds), list(seeds)
    for _ in range(reach.hops):
        found = [link for link in await links.of(database, border) if link.id not in edges]
        new = {end for link in found for end in (link.source_id, link.target_id)} - known
        allowed = await memories.within(database, sorted(new), projects) if new else set()
        border = _nearest(found, allowed)[: max(0, reach.nodes - len(known))]
        known |= set(border)
        edges |= {link.id: _edge(link) for link in found if {link.source_id, link.target_id} <= known}
        if not border:
            break
    return list(edges.values())


def _nearest(found: Iterable[Link], allowed: set[int]) -> list[int]:
    """The new ends of links, those of the surest links first."""
    ends = (end for link in found for end in (link.source_id, link.target_id) if end in allowed)
    return list(dict.fromkeys(ends))


def _edge(link: Link) -> Edge:
    return Edge(link.source_id, link.target_id, link.confidence * LINK_TYPES[link.type].weight)


def kin(vectors: Mapping[int, Vector], weight: float) -> list[Edge]:
    """Edges between each hit and its ``KIN`` nearest by meaning; what all of them have in common counts for nothing."""
    ids = sorted(vectors)
    if weight <= 0 or len(ids) < 2:
        return []
    matrix = numpy.stack([vectors[one] for one in ids])
    own = matrix - matrix.mean(axis=0)
    own /= numpy.maximum(numpy.linalg.norm(own, axis=1, keepdims=True), 1e-9)
    cosines = own @ own.T
    numpy.fill_diagonal(cosines, -1.0)
    nearest = numpy.argsort(-cosines, axis=1, kind="stable")[:, :KIN].tolist()
    pairs = {(min(i, j), max(i, j)) for i, near in enumerate(nearest) for j in near if cosines[i, j] > 0}
    return [Edge(ids[i], ids[j], weight * float(cosines[i, j])) for i, j in sorted(pairs)]


def pagerank(edges: Sequence[Edge], seeds: Mapping[int, float], damping: float) -> dict[int, float]:
    """Personalised PageRank of all that the edges and seeds name; it sums to 1. ``seeds`` say where a walk begins."""
    import rustworkx  # takes 20 ms: only who has links needs it

    ids = sorted({end for edge in edges for end in (edge.one, edge.other)} | seeds.keys())
    place = {one: number for number, one in enumerate(ids)}
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(ids)
    ways = [(place[edge.one], place[edge.other], edge.weight) for edge in edges]
    graph.add_edges_from([*ways, *((other, one, weight) for one, other, weight in ways)])
    starts = {place[one]: worth for one, worth in seeds.items()}
    found = rustworkx.pagerank(
        graph, alpha=damping, weight_fn=float, personalization=starts, tol=TOLERANCE, max_iter=STEPS
    )
    return {one: found[place[one]] for one in ids}


def by_links(first: Sequence[Fused], edges: Sequence[Edge], damping: float, limit: int) -> Ranking:
    """What is linked with the first hits, best first; nothing where no link is known."""
    seeds = {hit.id: hit.relevance for hit in first[:SEEDS] if hit.relevance > 0}
    if not edges or not seeds:
        return []
    ranks = pagerank(edges, seeds, damping)
    reached = [(one, rank) for one, rank in ranks.items() if rank > TOLERANCE]
    return sorted(reached, key=lambda hit: (-hit[1], hit[0]))[:limit]
