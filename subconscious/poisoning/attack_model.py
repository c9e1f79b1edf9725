"""A small linear model of the probability that a text is an attack, from words, pairs, and classes of words.

``bench/poison_train.py`` makes its weights. It flags texts, and never blocks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise

from subconscious.poisoning.word_classes import class_features
from subconscious.text.linear import hashed, load_model, logistic, scaled_sum

SIZE = 1 << 18
"""The size of the table of hashed features."""

FLAGS = 0.71
"""The probability from which a text is flagged (level medium)."""

DOUBTS = 0.55
"""The probability from which a text is doubtful (level low)."""

_TOKEN = re.compile(r"[^\W\d_]{1,24}(?:'[a-z]{1,3})?|\d{1,12}|[@!?:<>#\[\]{}$|`\"]")
_MOST_TOKENS = 250

_NAMES = (
    (
        re.compile(
            r"\b[\w.+-]{1,60}@[\w-]{1,60}\.\w{1,20}|\b(?:https?|ftp|git|ssh|s3)://[^\s`'\"<>)]{1,300}"
            r"|\b(?:[\w-]{1,60}\.){1,6}(?:example|test|invalid|internal|com|net|org|io|dev|app|ai|cloud|xyz)\b(?:[:/][^\s`'\"<>)]{0,200})?"
            r"|\b\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d{1,5})?\b"
        ),
        " xhost ",
    ),
    (
        re.compile(
            r"(?<![\w/.@-])[~.]{0,2}/?(?:[\w.@-]{1,60}/){1,12}[\w.@-]{0,60}"
            r"|\b[\w-]{1,60}\.(?:py|ts|js|json|ya?ml|toml|md|sh|tf|go|rb|java|sql|txt|cfg|conf|lock)\b"
        ),
        " xpath ",
    ),
)
"""Patterns for addresses and paths, each with a word that replaces them: a new text has other addresses and paths."""


def named_alike(text: str) -> str:
    """Return the first 4,000 characters in lower case, with one word in place of each address, and one of each path."""
    text = text[:4000].lower()
    for pattern, word in _NAMES:
        text = pattern.sub(word, text)
    return text


def features(text: str) -> Iterator[str]:
    """Yield the features of a text: words, pairs, first words, classes. All numbers are one word, all addresses too."""
    text = named_alike(text)
    found = ["0" if token[0].isdigit() else token for token in _TOKEN.findall(text)][:_MOST_TOKENS]
    yield from found
    for left, right in pairwise(found):
        yield f"{left} {right}"
    yield f"^{' '.join(found[:1])}"
    yield f"^{' '.join(found[:2])}"
    yield from class_features(text)


def places(text: str) -> list[int]:
    """Return the indexes of a text's features, each once."""
    return hashed(features(text), SIZE)


def probability(text: str) -> float:
    """Return the probability, 0 to 1, that a text is an attack."""
    at = places(text)
    if not at:
        return 0.0
    table, bias = load_model("subconscious.poisoning", "attack")
    return logistic(scaled_sum(table, at) + bias)


def weights() -> bytes:
    """Return the shipped file of weights."""
    return files("subconscious.poisoning").joinpath("weights.npz").read_bytes()
