"""Finds earlier sessions on the subject of a prompt by shared words. Rare words count more. No I/O."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from subconscious.sessions.handover import Handover
from subconscious.text.codewords import code_parts
from subconscious.text.terms import STOP_WORDS, names, stem, terms

MUCH = 20.0
"""The summed weight of shared words above which further words add nothing."""

MANY_NAMES = 3

LONGEST_GIST = 500

LENGTH = 0.5
"""How strongly the length of a text lowers its score, from 0 (not at all) to 1: the parameter b of BM25."""

CONSTANT = -5.05
COSINE, STRENGTH, NAMES, MARGIN, REQUESTS = 3.93, 2.92, 2.04, 0.47, 0.5
"""Weights of a logistic regression, fitted to labelled pairs of real prompts and hand-overs of earlier sessions."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Scores for the words that a prompt and a session's hand-over share. ``place`` is the index of the session."""

    place: int
    strength: float
    names: float
    margin: float
    requests: float

    def probability(self, cosine: float) -> float:
        """Return the probability that the hand-over helps, from the cosine of the prompt and the hand-over's `gist`."""
        raw = CONSTANT + COSINE * cosine + STRENGTH * self.strength + NAMES * self.names
        return 1.0 / (1.0 + math.exp(-raw - MARGIN * self.margin - REQUESTS * self.requests))


def words_of(text: str) -> frozenset[str]:
    """Return the words by which texts are compared: stems, and the parts of names in code."""
    found = re.findall(r"\w+", f"{text} {code_parts(text)}".casefold())
    return frozenset(stem(word) for word in found if len(word) > 1 and word not in STOP_WORDS)


@lru_cache(maxsize=500)
def _words(text: str) -> frozenset[str]:
    return words_of(text)


def story_words(left: Handover) -> frozenset[str]:
    """Return the words of a session's hand-over, and of the requests before its kept answers."""
    return _words(" ".join((_story(left), *(answer.asked for answer in left.answers))))


def _story(left: Handover) -> str:
    return " ".join((left.asked, left.done, left.decided, left.open, left.reported, *left.files))


def gist(left: Handover) -> str:
    """Return the part of a hand-over's text that is compared by meaning: the session's requests and what it did."""
    return f"{left.asked} {left.done}"[:LONGEST_GIST]


def likest(prompt: str, sessions: Sequence[Handover], most: int) -> list[Likeness]:
    """Return how well a prompt matches the ``most`` hand-overs that share the most words with it, the best first."""
    asked = frozenset(stem(term) for term in terms(prompt))
    texts = [_words(_story(left)) for left in sessions]
    rarity = rarity_of(asked, texts)
    usual = sum(map(len, texts)) / max(1, len(texts)) or 1.0
    strengths = [strength_of(asked & words, rarity) / _length(words, usual) for words in texts]
    ranked = sorted(range(len(texts)), key=lambda place: (-strengths[place], place))
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


def rarity_of(asked: frozenset[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the weight of each word in ``asked``: the fewer texts contain the word, the higher."""
    counts = Counter(word for words in texts for word in words & asked)
    return {word: math.log(1 + (len(texts) - counts[word] + 0.5) / (counts[word] + 0.5)) for word in asked}


def strength_of(words: frozenset[str], rarity: Mapping[str, float]) -> float:
    """Return the sum of the weights of some words."""
    return sum(rarity[word] for word in sorted(words))
