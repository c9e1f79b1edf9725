"""Estimates whether a prompt corrects the assistant, from its shape and, with an embedder, its meaning.

Cue words find one correction in twelve. A correction continues a conversation: it is short, begins with a lower-case
letter or a word of doubt, contains "it" and "that", or asks why. A prompt that starts new work names its subject.
``bench/correction_train.py`` trains the weights.
"""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

LETTERS = 2000
"""The maximum number of characters of a prompt that are examined."""

_WORD = re.compile(r"[\w']+")
_EMOJI = re.compile(r"[\U0001f300-\U0001faff]")
_ANSWERS = frozenset("no not nope wait stop oh hmm um uh ugh ok okay yes yeah but and so actually well also or".split())
_ASKS = frozenset(
    "can could please implement review commit create write update add fix look check help i we there".split()
)
_POINTS = frozenset("it this that these those they them".split())
_US = frozenset(("we", "us", "let's", "lets"))
_ME = frozenset(("i", "i'd", "i'm", "my"))
_INSTEAD = frozenset("instead rather already actually just only".split())
_DENIES = frozenset(("don't", "dont", "not", "doesn't", "shouldn't", "isn't", "no", "never"))
_WONDERS = frozenset("why how what when".split())
_CAN_YOU = re.compile(r"\bcan you\b", re.IGNORECASE)
_WORK = re.compile(r"\b(?:plan|branch|pr)\b", re.IGNORECASE)
_OUGHT = re.compile(r"\b(?:should|need)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|did|had|told|said|meant|mean)\b", re.IGNORECASE)


def shape(text: str) -> list[float]:
    """Return the features of a prompt's shape: always the same number of values, on a similar scale."""
    text = text[:LETTERS].strip().replace("\u2019", "'")
    words = _WORD.findall(text.lower())
    first = words[0] if words else ""
    said, many = set(words), len(words) + 1
    return [
        math.log1p(len(text)),
        math.log1p(len(words)),
        float(text[:1].islower()),
        float(text.endswith("?")),
        float(text.endswith(".")),
        float(min(text.count("?"), 5)),
        math.log1p(text.count("\n")),
        float("`" in text),
        float("/" in text),
        float("@" in text),
        float(".." in text),
        float(bool(_EMOJI.search(text))),
        float(first in _ANSWERS),
        float(first in _ASKS),
        sum(word in _POINTS for word in words) / many,
        words.count("you") / many,
        sum(word in _US for word in words) / many,
        sum(word in _ME for word in words) / many,
        float(bool(said & _INSTEAD)),
        float(bool(said & _DENIES)),
        float(bool(said & _WONDERS)),
        float(bool(_CAN_YOU.search(text))),
        float(bool(_WORK.search(text))),
        float(bool(_OUGHT.search(text))),
        float(bool(_PAST.search(text))),
        float(any(sign.isdigit() for sign in text)),
        sum(sign.isupper() for sign in text) / (len(text) + 1),
    ]


def chance(text: str, meaning: numpy.ndarray | None = None) -> float:
    """Return the probability, 0..1, that a prompt is a correction; ``meaning`` is its embedding by the local model."""
    looks, means, bias = _weights("shape" if meaning is None else "both")
    score = bias + sum(weight * value for weight, value in zip(looks, shape(text), strict=True))
    score += 0.0 if meaning is None else float(means @ meaning)
    return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))


@cache
def _weights(name: str) -> tuple[list[float], numpy.ndarray, float]:
    import numpy  # not at the top of the module: the import takes a tenth of a second

    with (
        files("subconscious.capture.detectors").joinpath("corrections.npz").open("rb") as file,
        numpy.load(file) as table,
    ):
        weights = table[name].astype(numpy.float32)
    many = len(shape(""))
    return weights[:many].tolist(), weights[many:-1], float(weights[-1])
