"""Whose words a model's wording is made of (SPEC N4, N4a): its own word for it is never asked.

A candidate quotes one turn, but its wording may come from others. It is no more trusted than the least trusted turn
that it visibly draws on.
"""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.capture.wording import content_words
from subconscious.model import Origin, Turn

BORROWED = 3
"""Words of a less trusted turn, and of nobody more trusted, from which a wording is made of that turn too."""

_SHARE = 1 / 3
"""Share of a wording that those words must be as well."""

_OWN = 0.5
"""Share of a wording that nobody trusted said, from which it is the model's own."""


def origin_of(wording: str, quote: str, quoted: Turn, turns: Sequence[Turn]) -> Origin:
    """Return the origin of a wording that quotes one turn of ``turns``."""
    said = words(wording)
    own = words(quoted.heard)
    origin = quoted.origin
    if len(said - _trusted(origin, turns)) > _OWN * len(said):
        origin = _lesser(origin, Origin.ASSISTANT)
    for turn in turns:
        if turn.origin.distrust > origin.distrust and _draws_on(said, own, words(quote), words(turn.heard)):
            origin = turn.origin
    return origin


def _draws_on(said: set[str], own: set[str], quote: set[str], other: set[str]) -> bool:
    """Whether a wording shares more with another turn than with its quote, or takes much from there alone."""
    if len(said & other) > max(len(said & quote), 1):
        return True
    borrowed = len((said - own) & other)
    return borrowed >= BORROWED and borrowed >= _SHARE * len(said)


def _trusted(origin: Origin, turns: Sequence[Turn]) -> set[str]:
    """The words of all turns that are at least as trusted."""
    return {word for turn in turns if turn.origin.distrust <= origin.distrust for word in words(turn.heard)}


def _lesser(one: Origin, other: Origin) -> Origin:
    return max(one, other, key=lambda origin: origin.distrust)


def words(text: str) -> set[str]:
    """The words of a text that carry meaning, however they are written."""
    return {word.casefold() for word in content_words(text)}
