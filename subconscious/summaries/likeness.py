"""Which earlier session worked on what a prompt is about, by words in common; rare ones weigh more. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from subconscious.search.words import STOP_WORDS, names, stem, terms
from subconscious.store.codewords import code_parts
from subconscious.summaries.handover import Handover

MUCH = 20.0
"""Summed weight of shared words from which more says no more."""

MANY_NAMES = 3

LONGEST_GIST = 500

LENGTH = 0.5
"""How much a longer story than usual has to share more, as in BM25."""

CONSTANT = -5.05
COSINE, STRENGTH, NAMES, MARGIN, REQUESTS = 3.93, 2.92, 2.04, 0.47, 0.5
"""Weights of a logistic regression on labelled pairs of real prompts and stories of earlier sessions."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What a prompt and the story of a session have in common, in words. ``place`` is the session's place."""

    place: int
    strength: float
    names: float
    margin: float
    requests: float

    def probability(self, cosine: float) -> float:
        """How likely the story helps with the prompt; ``cosine`` is how near its requests and deeds are by meaning."""
        raw = CONSTANT + COSINE * cosine + STRENGTH * self.strength + NAMES * self.names
        return 1.0 / (1.0 + math.exp(-raw - MARGIN * self.margin - REQUESTS * self.requests))


def words_of(text: str) -> frozenset[str]:
    """The words by which texts are compared: stems, and the parts of names in code."""
    found = re.findall(r"\w+", f"{text} {code_parts(text)}".casefold())
    return frozenset(stem(word) for word in found if len(word) > 1 and word not in STOP_WORDS)


@lru_cache(maxsize=500)
def _words(text: str) -> frozenset[str]:
    return words_of(text)


def _story(left: Handover) -> str:
    return " ".join((left.asked, left.done, left.decided, left.open, left.reported, *left.files))


def gist(left: Handover) -> str:
    """What a session was about, in a few words: its requests and deeds."""
    return f"{left.asked} {left.done}"[:LONGEST_GIST]


def likest(prompt: str, sessions: Sequence[Handover], most: int) -> list[Likeness]:
    """The sessions whose stories share the most with a prompt, the best first."""
    asked = frozenset(stem(term) for term in terms(prompt))
    told = [_words(_story(left)) for left in sessions]
    rarity = rarity_of(asked, told)
    usual = sum(map(len, told)) / max(1, len(told)) or 1.0
    strengths = [strength_of(asked & words, rarity) / _length(words, usual) for words in told]
    ranked = sorted(range(len(told)), key=lambda place: (-strengths[place], place))
    whole, named = strength_of(asked, rarity) or 1.0, names(prompt)
    return [
        Likeness(
            place,
            strength=min(1.0, strengths[place] / MUCH),
            names=min(1.0, len(named & names(_story(sessions[place]))) / MANY_NAMES),
            margin=(strengths[place] - (strengths[behind] if behind is not None else 0.0)) / whole,
            requests=strength_of(asked & _words(sessions[place].asked), rarity) / whole,
        )
        for place, behind in zip(ranked[:most], [*ranked[1:], None], strict=False)
    ]


def _length(words: frozenset[str], usual: float) -> float:
    return 1 - LENGTH + LENGTH * len(words) / usual


def rarity_of(asked: frozenset[str], told: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much each word that is asked for tells: the fewer texts have it, the more."""
    counts = Counter(word for words in told for word in words & asked)
    return {word: math.log(1 + (len(told) - counts[word] + 0.5) / (counts[word] + 0.5)) for word in asked}


def strength_of(words: frozenset[str], rarity: Mapping[str, float]) -> float:
    """The summed weight of words."""
    return sum(rarity[word] for word in sorted(words))
