"""What somebody is about who asks: to do something needs a few sure memories, to think wants many.

A mode bounds how many hits there are and how relevant each must be, by the calibrated relevance, and how
much text they may take. It is named by hand or read off the question's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

CORE = 5
"""Hits of every mode; the others extend them."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One mode: how many hits at most, how relevant at least, tokens of an answer (0: as it is asked)."""

    name: str
    hits: int
    relevance: float = 0.0
    tokens: int = 0


ANY = Mode("any", hits=1000)
EXTENDED = {"execution": 0, "planning": 15, "brainstorming": 25}
TOKENS = {"execution": 5_000, "planning": 10_000, "brainstorming": 20_000}
NAMES = ("any", "auto", *EXTENDED)

_CUES = {
    "brainstorming": r"brainstorm\w*|ideas?|what if|explor\w+|possibilit\w+|alternatives?|inspir\w+|imagine|everything",
    "planning": r"plan(?:s|ned|ning)?|design\w*|architect\w*|strateg\w+|roadmap|approach\w*|trade-?offs?|compar\w+"
    r"|options?|why|should (?:we|i)|how (?:should|could|would)|pros and cons|decide\w*|decisions?",
}


def mode_of(name: str, text: str, least: Mapping[str, float]) -> Mode:
    """The mode called ``name``; `auto` reads it off ``text``. ``least`` says how relevant a hit of each must be."""
    if name == "any":
        return ANY
    chosen = _told(text) if name == "auto" else name
    return Mode(chosen, CORE + EXTENDED[chosen], least[chosen], TOKENS[chosen])


def _told(text: str) -> str:
    """What the words of a question say it is for; whoever says nothing wants to get on."""
    found = (name for name, cues in _CUES.items() if re.search(rf"\b(?:{cues})\b", text, re.IGNORECASE))
    return next(found, "execution")
