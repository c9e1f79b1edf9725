"""Search budgets: how many hits each engine returns, how far links are followed, and how long a result may be."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.recall.graph import Reach


@dataclass(frozen=True, slots=True)
class Depth:
    """One budget: hits per engine, whether there is a second search, how far links are followed, tokens to return."""

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
