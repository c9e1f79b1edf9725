"""A small linear model beside the rules: what attacks read like, in words and pairs of words.

``bench/poison_train.py`` makes its weights. It flags, it never blocks.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

SIZE = 1 << 15
"""Places of the hashed features."""

FLAGS = 0.6
"""From here on a text is flagged (medium)."""

DOUBTS = 0.45
"""From here on a text is doubted (low)."""

_TOKEN = re.compile(r"[^\W\d_]{1,24}(?:'[a-z]{1,3})?|\d{1,12}|[@!?:<>#\[\]{}$|`\"]")
_MOST_TOKENS = 250


def features(text: str) -> Iterator[str]:
    """Give a text's words and pairs of neighbours, and how it begins; numbers are all alike."""
    found = ["0" if token[0].isdigit() else token for token in _TOKEN.findall(text[:4000].lower())][:_MOST_TOKENS]
    yield from found
    for left, right in pairwise(found):
        yield f"{left} {right}"
    yield f"^{' '.join(found[:1])}"
    yield f"^{' '.join(found[:2])}"


def places(text: str) -> list[int]:
    """Return the places of a text's features, each once."""
    crc = zlib.crc32
    return sorted({crc(feature.encode("utf-8", "replace")) % SIZE for feature in features(text)})


def probability(text: str) -> float:
    """Return how much a text reads like an attack, 0..1."""
    at = places(text)
    if not at:
        return 0.0
    table, bias = _model()
    score = float(table[at].sum()) / math.sqrt(len(at)) + bias
    return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))


def weights() -> bytes:
    """The weights as they are shipped."""
    return files("subconscious.poisoning").joinpath("weights.npz").read_bytes()


@cache
def _model() -> tuple[numpy.ndarray, float]:
    import numpy  # a tenth of a second that the daemon's start should not wait for

    with files("subconscious.poisoning").joinpath("weights.npz").open("rb") as file, numpy.load(file) as table:
        found = table["attack"].astype(numpy.float32)
    return found[:-1], float(found[-1])
