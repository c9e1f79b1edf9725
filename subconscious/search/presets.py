"""How the engines' answers become one ranking: a row in PRESETS each.

`relative` measures best (docs/figures.md); `rrf` and `nexus` are the formulas of others, for who wants to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from subconscious.search.fusion import Fused, Ranking, relative, rrf, weighted

Rankings = Mapping[str, Ranking]


@dataclass(frozen=True, slots=True)
class Fusion:
    """The settings that say how engines are fused. ``shares`` are those of `nexus`: vector, graph, belief."""

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
    """One way to fuse: what it does with the rankings, whether it looks twice, and whether it asks for beliefs.

    ``hits`` are asked of each engine, 0 means as many as the budget has. ``mode`` is the mode unless one is named.
    """

    fuse: Callable[[Rankings, Fusion], list[Fused]]
    again: bool = False
    beliefs: bool = False
    hits: int = 0
    mode: str = "any"


def _relative(rankings: Rankings, fusion: Fusion) -> list[Fused]:
    # The second look is the better first one: it takes its place, and the first only tells how near a hit is.
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
    # Words stand in where there is no meaning to go by: the formula has no place for them.
    vector, graph, belief = fusion.shares
    words = 0.0 if rankings.get("vector") else vector
    weights = {"text": words, "vector": vector, "graph": graph, "belief": belief}
    return weighted(rankings, weights, by_best=("text", "graph"))


PRESETS = {
    "relative": Preset(_relative, again=True),
    "rrf": Preset(_rrf),
    "nexus": Preset(_nexus, beliefs=True, hits=50, mode="auto"),
}
