"""Small linear models over hashed words: weights from a file, no library but numpy.

A feature's place is the CRC of its name: the same on every machine and in every version of Python.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy


SIZE = 1 << 13
"""Places of the hashed features."""

WORDS, SIGNS = 1 << 14, 1 << 12
"""Places of words and of signs in a model that keeps them apart."""

SIGNS_COUNT = 2.0
"""How much more a sign counts than a word before anything is learned."""

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!:;`\"]")
_MOST_TOKENS = 200


def tokens(text: str) -> list[str]:
    """Return the words and telling signs of ``text``, numbers all alike."""
    found = _TOKEN.findall(text.lower().replace("\u2019", "'"))[:_MOST_TOKENS]
    return ["#" if token.isdigit() else token for token in found]


def words_and_pairs(text: str) -> Iterator[str]:
    """Give the features of a text: its words, pairs of neighbours, how it begins and ends, how long it is."""
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


def places(features: Iterable[str], size: int = SIZE) -> list[int]:
    """Return the places of features among ``size``, each once."""
    return sorted({zlib.crc32(feature.encode("utf-8", "replace")) % size for feature in features})


def probability(model: str, features: Sequence[str] | Iterator[str]) -> float:
    """Return what a model thinks of something with these features, 0..1."""
    weights, bias = _model(model)
    return _logistic(_sum(weights, places(features)) + bias)


def joint_probability(model: str, words: Iterable[str], signs: Iterable[str], numbers: Sequence[float]) -> float:
    """Return what a model thinks of words, signs and numbers: each of the three has weights of its own."""
    return jointly(*_model(model), words, signs, numbers)


def jointly(
    weights: numpy.ndarray, bias: float, words: Iterable[str], signs: Iterable[str], numbers: Sequence[float]
) -> float:
    """Return what a model with these weights thinks of words, signs and numbers, 0..1."""
    said, shown = weights[:WORDS], weights[WORDS : WORDS + SIGNS]
    score = _sum(said, places(words, WORDS)) + SIGNS_COUNT * _sum(shown, places(signs, SIGNS))
    return _logistic(score + float(weights[WORDS + SIGNS :] @ numbers) + bias)


def _sum(weights: numpy.ndarray, at: Sequence[int]) -> float:
    return float(weights[at].sum()) / math.sqrt(max(len(at), 1))


def _logistic(score: float) -> float:
    return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))


@cache
def _model(name: str) -> tuple[numpy.ndarray, float]:
    import numpy  # a tenth of a second that the daemon's start should not wait for

    with files("subconscious.capture").joinpath("weights.npz").open("rb") as file, numpy.load(file) as table:
        weights = table[name].astype(numpy.float32)
    return weights[:-1], float(weights[-1])
