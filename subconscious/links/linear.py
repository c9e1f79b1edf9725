"""A small linear model over the features of a pair: linked or not, and as what.

``bench/links_train.py`` makes its coefficients; they are few enough to be read. Pure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Weights:
    """Features are taken from their ``mean`` in units of their ``scale``. ``slope`` and ``offset`` calibrate."""

    names: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    linked: tuple[float, ...]
    types: Mapping[str, tuple[float, ...]]
    slope: float
    offset: float
    cosine: tuple[float, float]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Weights:
        """Read what JSON holds."""
        types = {name: tuple(row) for name, row in found["types"].items()}
        lists = {name: tuple(found[name]) for name in ("names", "mean", "scale", "linked", "cosine")}
        return cls(**lists, types=types, slope=found["slope"], offset=found["offset"])

    def assumed(self, lexical: float) -> float:
        """The cosine of two that no embedding is known of, by how alike their words are."""
        return self.cosine[0] + self.cosine[1] * lexical

    def likelihood(self, found: Mapping[str, float], more: float = 0.0) -> float:
        """How likely the two are linked, 0..1; ``more`` is added to the log odds."""
        return logistic(self.slope * self._score(self.linked, found) + self.offset + more)

    def shares(self, found: Mapping[str, float]) -> dict[str, float]:
        """Of two that are linked: how likely by which type; sums to 1."""
        scores = {name: self._score(row, found) for name, row in self.types.items()}
        most = max(scores.values())
        grown = {name: math.exp(score - most) for name, score in scores.items()}
        whole = sum(grown.values())
        return {name: value / whole for name, value in grown.items()}

    def _score(self, row: tuple[float, ...], found: Mapping[str, float]) -> float:
        """``row`` ends with its constant."""
        return row[-1] + sum(
            weight * (found[name] - mean) / scale
            for weight, name, mean, scale in zip(row[:-1], self.names, self.mean, self.scale, strict=True)
        )


def logistic(odds: float) -> float:
    """A probability from its log odds."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@cache
def shipped() -> Weights:
    """The weights that are released."""
    return Weights.of(json.loads(files("subconscious.links").joinpath("weights.json").read_text(encoding="utf-8")))
