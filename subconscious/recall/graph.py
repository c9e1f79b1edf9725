"""The link engines: a bounded graph around the first hits, ranked by personalised PageRank or noisy-or beliefs.

A random walk starts at the hits of the other engines and returns to them half of the time (damping .5, as in HippoRAG).
So a memory gains from links to these hits, and not from having many links. Links are followed in both directions: a
memory that supports a decision helps with a query about the decision, and the other way round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from subconscious.domain.link_types import LINK_TYPES
from subconscious.domain.model import Link
from subconscious.recall.fusion import Fused, Ranking
from subconscious.store import links, memories
from subconscious.store.connect import Database

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vector = NDArray[numpy.float32]

SEEDS = 5
"""The number of hits at which a walk starts; few, because a starting hit outranks the memories linked to it."""

NEIGHBOURS = 5
"""The number of other hits, those most similar in meaning, to which each hit gets an edge."""

PARENTS = 4
"""The number of linked memories (parents) that a belief is computed from, strongest first; more hardly change it."""

TOLERANCE = 1e-9
STEPS = 3000
"""The most steps of the power iteration. A damping of .99 needs that many; a damping of .5 needs 30."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Two memories, and the share of relevance that passes between them."""

    one: int
    other: int
    weight: float


@dataclass(frozen=True, slots=True)
class Reach:
    """Limits of the graph: ``hops`` from the first hits (0: no graph), and the total number of ``nodes``."""

    hops: int
    nodes: int


async def linked(database: Database, seeds: Sequence[int], projects: Sequence[str], reach: Reach) -> list[Edge]:
    """Return the active links around ``seeds`` within ``projects``; if there are too many, the most confident ones."""
    edges: dict[int, Edge] = {}
    known, border = set(seeds), list(seeds)
    for _ in range(reach.hops):
        found = [link for link in await links.of(database, border) if link.id not in edges]
        new = {end for link in found for end in (link.source_id, link.target_id)} - known
        allowed = await memories.active_within(database, sorted(new), projects) if new else set()
        border = _nearest(found, allowed)[: max(0, reach.nodes - len(known))]
        known |= set(border)
        edges |= {link.id: _edge(link) for link in found if {link.source_id, link.target_id} <= known}
        if not border:
            break
    return list(edges.values())


def _nearest(found: Iterable[Link], allowed: set[int]) -> list[int]:
    """Return the ids in ``allowed`` that the links connect, in the order of the links' confidence."""
    ends = (end for link in found for end in (link.source_id, link.target_id) if end in allowed)
    return list(dict.fromkeys(ends))


def _edge(link: Link) -> Edge:
    return Edge(link.source_id, link.target_id, link.confidence * LINK_TYPES[link.type].weight)


def similarity_edges(vectors: Mapping[int, Vector], weight: float) -> list[Edge]:
    """Return edges between each hit and the most similar ones, by cosine after the mean vector has been subtracted."""
    ids = sorted(vectors)
    if weight <= 0 or len(ids) < 2:
        return []
    import numpy  # would delay the daemon's start by a tenth of a second

    matrix = numpy.stack([vectors[one] for one in ids])
    own = matrix - matrix.mean(axis=0)
    own /= numpy.maximum(numpy.linalg.norm(own, axis=1, keepdims=True), 1e-9)
    cosines = own @ own.T
    numpy.fill_diagonal(cosines, -1.0)
    nearest = numpy.argsort(-cosines, axis=1, kind="stable")[:, :NEIGHBOURS].tolist()
    pairs = {(min(i, j), max(i, j)) for i, near in enumerate(nearest) for j in near if cosines[i, j] > 0}
    return [Edge(ids[i], ids[j], weight * float(cosines[i, j])) for i, j in sorted(pairs)]


def pagerank(edges: Sequence[Edge], seeds: Mapping[int, float], damping: float) -> dict[int, float]:
    """Return the personalised PageRank of each id in ``edges`` and ``seeds`` (id -> weight); the ranks sum to 1."""
    import rustworkx  # takes 20 ms, and is needed only if there are links

    ids = sorted({end for edge in edges for end in (edge.one, edge.other)} | seeds.keys())
    index = {one: number for number, one in enumerate(ids)}
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(ids)
    directed = [(index[edge.one], index[edge.other], edge.weight) for edge in edges]
    graph.add_edges_from([*directed, *((other, one, weight) for one, other, weight in directed)])
    starts = {index[one]: weight for one, weight in seeds.items()}
    found = rustworkx.pagerank(
        graph, alpha=damping, weight_fn=float, personalization=starts, tol=TOLERANCE, max_iter=STEPS
    )
    return {one: found[index[one]] for one in ids}


def by_links(first: Sequence[Fused], edges: Sequence[Edge], damping: float, limit: int) -> Ranking:
    """Return the first hits and the memories linked with them, best first; [] if there are no links."""
    seeds = {hit.id: hit.relevance for hit in first[:SEEDS] if hit.relevance > 0}
    if not edges or not seeds:
        return []
    ranks = pagerank(edges, seeds, damping)
    reached = [(one, rank) for one, rank in ranks.items() if rank > TOLERANCE]
    return sorted(reached, key=lambda hit: (-hit[1], hit[0]))[:limit]


def noisy_or(own: float, parents: Iterable[tuple[float, float]]) -> float:
    """Return the probability of an effect with independent causes.

    The effect is that a memory is relevant. ``own`` is the probability from the memory's own evidence; ``parents`` are
    the linked memories, each with its probability of being relevant and the strength of the link. A relevant parent
    makes the memory relevant with a probability equal to that strength.
    """
    causes = sorted((probability * strength for probability, strength in parents), reverse=True)[:PARENTS]
    return 1.0 - (1.0 - own) * prod(1.0 - cause for cause in causes)


def by_belief(priors: Mapping[int, float], edges: Sequence[Edge], limit: int) -> Ranking:
    """Return linked memories by their probability of being relevant, best first.

    ``priors`` are the probabilities, by id, without the links.
    """
    parents: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for edge in edges:
        for child, parent in ((edge.one, edge.other), (edge.other, edge.one)):
            if priors.get(parent, 0.0) > 0:
                parents[child].append((priors[parent], min(1.0, edge.weight)))
    beliefs = ((child, noisy_or(priors.get(child, 0.0), causes)) for child, causes in parents.items())
    return sorted(beliefs, key=lambda hit: (-hit[1], hit[0]))[:limit]
