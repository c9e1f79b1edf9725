"""How likely a memory is what a text asks for, as a number that means the same for every query.

Fused scores order the hits of one query and say nothing between queries: the best of a bad lot has score 1 too. What is
given unasked needs an absolute measure. It is a logistic function of what is absolute: the cosine, the share of the
query's terms that a memory has, their weight (BM25), whether it has the things that the query names, and how much was
asked at all. The coefficients are rounded; `bench/surfacing.py` measures what .6 lets through, wrongly and rightly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.model import EngineHit
from subconscious.search.words import names, stem, terms

CONSTANT = -5.4
COSINE = 2.0
UNSEEN = 0.4
"""The cosine of what the words alone found: that of an ordinary hit, for nobody has measured it."""
SHARE = 3.3
WEIGHT, MOST_WEIGHT = 0.09, 20.0
NAMES = 1.5
SIZE, LARGE = 1.3, 6
"""What a query of so many terms is worth: one or two words are shared by accident."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it is compared with memories: stems of its terms, and what it names."""

    stems: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Asked:
        """Read a query once for all its hits."""
        return cls(frozenset(stem(term) for term in terms(text)), names(text))

    def met(self, text: str) -> float:
        """Share of the names that a text has, 0..1."""
        if not self.names:
            return 0.0
        lowered = text.casefold()
        return sum(_stands_in(name, lowered) for name in self.names) / len(self.names)

    def share(self, text: str) -> float:
        """Share of the terms that a text has, 0..1."""
        if not self.stems:
            return 0.0
        words = {stem(word) for word in re.findall(r"\w+", text.casefold())}
        return len(self.stems & words) / len(self.stems)


def relevance(asked: Asked, text: str, engines: Sequence[EngineHit]) -> float:
    """Calibrated relevance, 0..1, of a memory's whole text to a query, before any decay."""
    score = {hit.engine: hit.score for hit in engines}
    raw = (
        CONSTANT
        + COSINE * score.get("vector", UNSEEN)
        + SHARE * asked.share(text)
        + WEIGHT * min(MOST_WEIGHT, score.get("text", 0.0))
        + NAMES * asked.met(text)
        + SIZE * min(LARGE, len(asked.stems)) / LARGE
    )
    return 1.0 / (1.0 + math.exp(-raw))


def _stands_in(name: str, text: str) -> bool:
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False
