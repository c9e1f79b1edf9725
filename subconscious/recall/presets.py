"""Search presets: rows in PRESETS that say how the engines' rankings are fused.

`relative` measures best (docs/figures.md); `rrf` and `nexus` are published formulas, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from subconscious.recall.fusion import Fused, Ranking, relative, rrf, weighted

Rankings = Mapping[str, Ranking]


@dataclass(frozen=True, slots=True)
class Fusion:
    """The settings of the fusion. ``shares`` are the weights of `nexus`: vector, graph, belief."""

    preset: str = "relative"
    alpha: float = 0.5
    feedback: float = 0.5
    graph: float = 0.3
    kin: float = 0.0
    damping: float = 0.5
    k: int = 60
    agreement: float = 1.1
    rrf_graph: float = 1.5
    shares: tuple[float, float, float] = (0.4, 0.4, 0.2)


@dataclass(frozen=True, slots=True)
class Preset:
    """One way to fuse: its function, whether there is a second search, whether beliefs are computed.

    ``hits`` are requested from each engine; 0 means as many as the budget allows. ``mode`` is the default search mode.
    """

    fuse: Callable[[Rankings, Fusion], list[Fused]]
    again: bool = False
    beliefs: bool = False
    hits: int = 0
    mode: str = "any"


def _relative(rankings: Rankings, fusion: Fusion) -> list[Fused]:
    # The second vector search is the better one and replaces the first, which still reports the cosine of a hit.
    again = bool(rankings.get("feedback"))
    weights = {
        "text": 1.0 - fusion.alpha,
        "vector": 0.0 if again else fusion.alpha,
        "feedback": fusion.alpha,
        "graph": fusion.graph,
    }
    return relative(rankings, weights)


def _rrf(rankings: Rankings, fusion: Fusion) -> list[Fused]:
    return rrf(rankings, fusion.k, fusion.agreement, {"graph": fusion.rrf_graph})


def _nexus(rankings: Rankings, fusion: Fusion) -> list[Fused]:
    # Without vectors, full text takes their weight: the formula has none for it.
    vector, graph, belief = fusion.shares
    words = 0.0 if rankings.get("vector") else vector
    weights = {"text": words, "vector": vector, "graph": graph, "belief": belief}
    return weighted(rankings, weights, by_best=("text", "graph"))


PRESETS = {
    "relative": Preset(_relative, again=True),
    "rrf": Preset(_rrf),
    "nexus": Preset(_nexus, beliefs=True, hits=50, mode="auto"),
}
