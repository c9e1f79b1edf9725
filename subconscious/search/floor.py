"""What is no match at all: the engines always have a nearest memory, however far it is."""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.model import Hit

FAR = 0.25
"""Cosine below which two texts have nothing to do with each other, as far as the local embedder can tell."""


def matches(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without those that share no word with the query and are far from its meaning.

    What only links or a second look have found counts as long as anything is a match by itself: they began there.
    """
    if not any(_is_match(hit) for hit in hits):
        return []
    return [hit for hit in hits if _is_match(hit) or not _is_measured(hit)]


def _is_match(hit: Hit) -> bool:
    found = {one.engine: one.score for one in hit.engines}
    return not found or "text" in found or found.get("vector", 0.0) >= FAR


def _is_measured(hit: Hit) -> bool:
    return any(one.engine == "vector" for one in hit.engines)
