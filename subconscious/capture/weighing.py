"""Computes the raw confidence of a draft: the prior of its strength, refined by small linear models.

``bench/capture_train.py`` makes the weights of the models.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from subconscious.capture.draft import Draft
from subconscious.capture.looks import looks
from subconscious.text import wording
from subconscious.text.linear import hashed, load_model, logistic, scaled_sum

if TYPE_CHECKING:
    import numpy

PACKAGE = "subconscious.capture"

SIZE = 1 << 13
"""Number of weights of the hashed features."""

WORDS, SIGNS = 1 << 14, 1 << 12
"""Number of weights of words and of signs in a model that separates them."""

SIGNS_COUNT = 2.0
"""Initial weight of a sign relative to a word."""

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!:;`\"]")
_MOST_TOKENS = 200

_SETTLED = {"answer", "approved"}
"""Sources that a person decided by an act; the model is not asked."""

QUEUE = 0.38
"""Least probability of a draft that waits for a person."""

_BELOW, _ABOVE = ((0.0, 0.3), (0.2, 0.5)), ((0.60, 0.75), (0.72, 0.80), (0.90, 0.86), (1.0, 0.89))
"""Maps the model's probability to a confidence, which ends just below the threshold for storing."""

_STRUGGLE = 0.9
"""Least value of a failure with its repair; readers found 50 of 61 right."""


def signs(draft: Draft) -> Iterator[str]:
    """Yield the features of a draft's position and source, beside its words."""
    yield from (f"s:{sign}" for sign in draft.signs)
    yield f"src:{draft.source}"
    yield f"origin:{draft.turn.origin}"


def confidence(draft: Draft) -> float:
    """Return a draft's raw confidence, 0..1."""
    if draft.source in _SETTLED:
        named = bool(wording.tags(draft.content))
        return draft.strength.prior + 0.02 * named
    return climb(worth(draft))


def worth(draft: Draft) -> float:
    """Return the value of a draft for a reviewer, 0..1."""
    chance = joint_probability("worth", words_and_pairs(draft.content), signs(draft), looks(draft))
    return lifted(draft, chance)


def lifted(draft: Draft, chance: float) -> float:
    """Rank observed failures and repairs above statements."""
    return max(chance, _STRUGGLE) if draft.source == "struggle" else chance


def climb(chance: float, queue: float = QUEUE) -> float:
    """Map a probability to a confidence, piecewise linear; the queue begins at ``queue``."""
    ladder = (*_BELOW, (queue, 0.70), *_ABOVE)
    for (low, bottom), (high, top) in pairwise(ladder):
        if chance <= high:
            return bottom + (top - bottom) * (chance - low) / (high - low)
    return ladder[-1][1]


def tokens(text: str) -> list[str]:
    """Return the words and punctuation marks of a text; all numbers are one word."""
    found = _TOKEN.findall(text.lower().replace("\u2019", "'"))[:_MOST_TOKENS]
    return ["#" if token.isdigit() else token for token in found]


def words_and_pairs(text: str) -> Iterator[str]:
    """Yield the features of a text: words, pairs of neighbours, beginning, end and length."""
    found = tokens(text)
    yield from (f"w:{token}" for token in found)
    yield from (f"p:{left} {right}" for left, right in pairwise(found))
    yield f"first:{' '.join(found[:1])}"
    yield f"first2:{' '.join(found[:2])}"
    yield f"last:{' '.join(found[-1:])}"
    yield f"size:{min(int(math.log2(len(found) + 1)), 7)}"
    if "\n" in text.strip():
        yield "lines"
    if "http" in text:
        yield "link"
    if re.search(r"\w_\w|[a-z][A-Z]|\w\.\w|/\w", text):
        yield "code"


def probability(model: str, features: Sequence[str] | Iterator[str]) -> float:
    """Return a model's probability for some features, 0..1."""
    weights, bias = load_model(PACKAGE, model)
    return logistic(scaled_sum(weights, hashed(features, SIZE)) + bias)


def joint_probability(model: str, words: Iterable[str], signs: Iterable[str], numbers: Sequence[float]) -> float:
    """Return a model's probability for words, signs and numbers, which have separate weights."""
    return jointly(*load_model(PACKAGE, model), words, signs, numbers)


def jointly(
    weights: numpy.ndarray, bias: float, words: Iterable[str], signs: Iterable[str], numbers: Sequence[float]
) -> float:
    """Return the probability of words, signs and numbers with the given weights, 0..1."""
    said, shown = weights[:WORDS], weights[WORDS : WORDS + SIGNS]
    score = scaled_sum(said, hashed(words, WORDS)) + SIGNS_COUNT * scaled_sum(shown, hashed(signs, SIGNS))
    return logistic(score + float(weights[WORDS + SIGNS :] @ numbers) + bias)
