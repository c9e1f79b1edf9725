"""Shared parts of the small linear models: hashed features, weights from a file, and the logistic function.

A feature's index is the CRC of its name: the same on every machine and in every version of Python.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy


def logistic(score: float) -> float:
    """Return the probability (0 to 1) for a score in log odds, which is limited to -30 to 30."""
    return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))


def hashed(features: Iterable[str], size: int) -> list[int]:
    """Return the indexes of features in a table of ``size`` weights, sorted, each once."""
    return sorted({zlib.crc32(feature.encode("utf-8", "replace")) % size for feature in features})


def scaled_sum(weights: numpy.ndarray, at: Sequence[int]) -> float:
    """Return the sum of the weights at the indexes ``at``, divided by the square root of how many there are."""
    return float(weights[at].sum()) / math.sqrt(max(len(at), 1))


@cache
def load_model(package: str, name: str) -> tuple[numpy.ndarray, float]:
    """Return the weights and the bias of the model ``name`` in the file ``weights.npz`` of ``package``."""
    import numpy  # importing it here saves the daemon's start a tenth of a second

    with files(package).joinpath("weights.npz").open("rb") as file, numpy.load(file) as table:
        weights = table[name].astype(numpy.float32)
    return weights[:-1], float(weights[-1])
