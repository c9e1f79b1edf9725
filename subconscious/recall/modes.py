"""Search budgets, and search modes by purpose.

A budget is how many hits each engine returns, how far links are followed, and how long a result may be.

A mode sets the maximum number of hits, their minimum relevance and the tokens of the result: execution needs a few
certain memories, planning and brainstorming need many. The mode is chosen by name, or detected from the query's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from subconscious.recall.graph import Reach

CORE = 5
"""The number of hits that every mode shows; EXTENDED is the number of further hits by mode."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A search mode: maximum number of hits, minimum relevance, tokens to return (0: the budget sets the limit)."""

    name: str
    hits: int
    relevance: float = 0.0
    tokens: int = 0


ANY = Mode("any", hits=1000)
EXTENDED = {"execution": 0, "planning": 15, "brainstorming": 25}
TOKENS = {"execution": 5_000, "planning": 10_000, "brainstorming": 20_000}

_CUES = {
    "brainstorming": r"brainstorm\w*|ideas?|what if|explor\w+|possibilit\w+|alternatives?|inspir\w+|imagine|everything",
    "planning": r"plan(?:s|ned|ning)?|design\w*|architect\w*|strateg\w+|roadmap|approach\w*|trade-?offs?|compar\w+"
    r"|options?|why|should (?:we|i)|how (?:should|could|would)|pros and cons|decide\w*|decisions?",
}


def mode_of(name: str, text: str, least: Mapping[str, float]) -> Mode:
    """Return the mode called ``name``; `auto` detects it from ``text``. ``least`` has the minimum relevance by mode."""
    if name == "any":
        return ANY
    chosen = _detected(text) if name == "auto" else name
    return Mode(chosen, CORE + EXTENDED[chosen], least[chosen], TOKENS[chosen])


def _detected(text: str) -> str:
    """Return the name of the mode that the words of a query suggest; execution if they suggest none."""
    found = (name for name, cues in _CUES.items() if re.search(rf"\b(?:{cues})\b", text, re.IGNORECASE))
    return next(found, "execution")


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
