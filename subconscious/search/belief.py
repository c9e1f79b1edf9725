"""The Bayesian tier: how probable a memory is, given how probable those are that bear on it.

A noisy-or: each of at most four parents that is relevant makes the memory relevant by itself with the probability of
its link, and its own evidence counts as one cause more. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from subconscious.search.fusion import Ranking
from subconscious.search.graph import Edge

PARENTS = 4
"""Parents that count, the strongest; a table of more would say nothing that these don't."""


def noisy_or(own: float, parents: Iterable[tuple[float, float]]) -> float:
    """Probability of an effect of independent causes: ``own`` evidence, and (probability, strength) of its parents."""
    causes = sorted((probability * strength for probability, strength in parents), reverse=True)[:PARENTS]
    return 1.0 - (1.0 - own) * prod(1.0 - cause for cause in causes)


def by_belief(priors: Mapping[int, float], edges: Sequence[Edge], limit: int) -> Ranking:
    """Memories that something bears on, by their probability, best first; ``priors`` are of the evidence alone."""
    parents: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for edge in edges:
        for child, parent in ((edge.one, edge.other), (edge.other, edge.one)):
            if priors.get(parent, 0.0) > 0:
                parents[child].append((priors[parent], min(1.0, edge.weight)))
    beliefs = ((child, noisy_or(priors.get(child, 0.0), causes)) for child, causes in parents.items())
    return sorted(beliefs, key=lambda hit: (-hit[1], hit[0]))[:limit]
