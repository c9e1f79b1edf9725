"""A second look by meaning: what the first look found says what was meant.

Pseudo relevance feedback after Rocchio (SMART, 1971): the query moves towards its best hits, and away from what all of
its hits have in common, which tells them apart in nothing. So what is worded otherwise than the question, but like its
answers, is found as well. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy

from subconscious.search.fusion import Fused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[numpy.float32]

BEST = 5
"""Hits that the query moves towards."""

COMMON = 0.8
"""How much of the mean of all hits is taken away."""

FEWEST = 20
"""Hits below which their mean says nothing of a store: then there is no second look."""


def sharpened(query: Vector, first: Sequence[Fused], vectors: Mapping[int, Vector], share: float) -> Vector | None:
    """The query's vector after a first look, of unit length; ``share`` says how much its best hits count against it.

    None where there was too little to learn from.
    """
    known = [hit for hit in first if hit.id in vectors]
    if len(known) < FEWEST:
        return None
    common = COMMON * numpy.mean([vectors[hit.id] for hit in known], axis=0)
    best = known[:BEST]
    own = _unit(numpy.stack([vectors[hit.id] for hit in best]) - common)
    worth = numpy.array([hit.relevance for hit in best], numpy.float32)
    towards = worth @ own / max(float(worth.sum()), 1e-9)
    return _unit(_unit(query - common) + share * towards).astype(numpy.float32)


def _unit(vector: Vector) -> Vector:
    length = numpy.linalg.norm(vector, axis=-1, keepdims=True)
    unit: Vector = vector / numpy.maximum(length, 1e-9)
    return unit
