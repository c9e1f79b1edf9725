"""How much a search may cost: each budget says how far it looks, and how much text an answer has."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.search.graph import Reach


@dataclass(frozen=True, slots=True)
class Depth:
    """One budget: hits asked of each engine, whether a second look is taken, how far links are followed, tokens."""

    hits: int
    again: bool
    reach: Reach
    tokens: int


DEPTHS = {
    "lean": Depth(hits=30, again=False, reach=Reach(hops=0, nodes=0), tokens=500),
    "balanced": Depth(hits=75, again=True, reach=Reach(hops=2, nodes=300), tokens=2000),
    "deep": Depth(hits=200, again=True, reach=Reach(hops=3, nodes=1000), tokens=6000),
}
BALANCED = DEPTHS["balanced"]
