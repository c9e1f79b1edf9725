"""A small linear model that estimates how much a text reads like an attack, by words and pairs of words.

``bench/poison_train.py`` makes its weights. It flags texts, and never blocks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise

from subconscious.text.linear import hashed, load_model, logistic, scaled_sum

SIZE = 1 << 15
"""Size of the table of hashed features."""

FLAGS = 0.6
"""Probability from which a text is flagged (medium)."""

DOUBTS = 0.45
"""Probability from which a text is doubtful (low)."""

_TOKEN = re.compile(r"[^\W\d_]{1,24}(?:'[a-z]{1,3})?|\d{1,12}|[@!?:<>#\[\]{}$|`\"]")
_MOST_TOKENS = 250


def features(text: str) -> Iterator[str]:
    """Yield the words of a text, pairs of neighbours, and its first words; all numbers are one word."""
    found = ["0" if token[0].isdigit() else token for token in _TOKEN.findall(text[:4000].lower())][:_MOST_TOKENS]
    yield from found
    for left, right in pairwise(found):
        yield f"{left} {right}"
    yield f"^{' '.join(found[:1])}"
    yield f"^{' '.join(found[:2])}"


def places(text: str) -> list[int]:
    """Return the indexes of a text's features, each once."""
    return hashed(features(text), SIZE)


def probability(text: str) -> float:
    """Return how much a text reads like an attack, 0..1."""
    at = places(text)
    if not at:
        return 0.0
    table, bias = load_model("subconscious.poisoning", "attack")
    return logistic(scaled_sum(table, at) + bias)


def weights() -> bytes:
    """Return the shipped file of weights."""
    return files("subconscious.poisoning").joinpath("weights.npz").read_bytes()
