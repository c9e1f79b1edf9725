"""Chooses the captures of one session that fit into its limit (setting ``session_captures``). Pure functions.

A transcript is read as it grows, so the choice is repeated with every batch: a stronger capture displaces the weakest
one that waits. A capture that was stored or decided by a person is never displaced.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from subconscious.text.same_statement import DISTINCT, differences
from subconscious.text.words import content_words

DISPLACED = "displaced by stronger captures of its session"
REPEATED = "repeats another capture of its session"
_SAME = 0.7
"""Share of the shorter statement's words from which two captures repeat each other."""

_ALIKE = 0.8
"""Share of the longer statement's words from which any difference makes them two statements."""

_OF_LENGTH = frozenset(("number", "negation", "name", "direction"))
"""Differences that a longer and a shorter cut of one text have too; they count only if most words agree."""

TOLD = 0.2
"""Confidence that a capture loses if a chosen one has all its words."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A capture to choose from: ``key`` identifies it to the caller, ``fixed`` ones are always kept."""

    key: Hashable
    confidence: float
    content: str
    fixed: bool = False


OVERLAP = 0.5
"""Share of common words from which two statements are not distinct."""


def settle(entries: Iterable[Entry], cap: int) -> dict[Hashable, str]:
    """Return the keys of captures to drop, with the reason: they repeat a stronger one or exceed the cap.

    Captures that share words with a chosen one rank lower. Among equals the earlier one is kept.
    """
    ranked = sorted(entries, key=lambda entry: (not entry.fixed, -entry.confidence))
    words = {entry.key: _words(entry.content) for entry in ranked}
    told = dict.fromkeys(words, 0.0)
    kept: list[Entry] = []
    out: dict[Hashable, str] = {}
    while ranked:
        entry = max(ranked, key=lambda one: (one.fixed, one.confidence - TOLD * told[one.key]))
        ranked.remove(entry)
        said = words[entry.key]
        if not entry.fixed and any(_repeats(entry, other, said, words[other.key]) for other in kept):
            out[entry.key] = REPEATED
        elif not entry.fixed and len(kept) >= cap:
            out[entry.key] = DISPLACED
        else:
            kept.append(entry)
            told = {one.key: max(told[one.key], _share(words[one.key], said)) for one in ranked}
    return out


def _share(said: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of one statement's words that another one has too."""
    return len(said & other) / max(len(said), 1)


def distinct(contents: Sequence[str], most: int) -> list[int]:
    """Return the indices of the first distinct statements, at most ``most``."""
    words = [_words(content) for content in contents]
    kept: list[int] = []
    for at, said in enumerate(words):
        if len(kept) < most and not any(
            max(_share(said, words[other]), _share(words[other], said)) >= OVERLAP for other in kept
        ):
            kept.append(at)
    return kept


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in content_words(text))


def _repeats(one: Entry, other: Entry, said: frozenset[str], told: frozenset[str]) -> bool:
    """Whether one capture of a session repeats another.

    Common words of the same exchange suffice, even if it is no paraphrase: only one of two wordings is shown.
    """
    if not said or not told:
        return said == told
    if len(said & told) <= _SAME * min(len(said), len(told)):
        return False
    found = differences(one.content, other.content) & DISTINCT
    if len(said & told) <= _ALIKE * max(len(said), len(told)):
        found -= _OF_LENGTH
    return not found
