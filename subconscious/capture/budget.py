"""How much one session may ask of a person: the best of its candidates, up to a cap (setting ``session_captures``).

A transcript is read as it grows, so the choice is made anew with every batch, among what the session has waiting
already and what is new: a stronger one displaces the weakest that waits. What was stored at once, or decided by a
person, keeps its place and is never displaced. Pure functions: the flow reads and writes the store.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from subconscious.text.same_statement import DISTINCT, differences
from subconscious.text.words import content_words

DISPLACED = "displaced by stronger ones of its session"
REPEATED = "says what another one of its session says"
_SAME = 0.7
"""Share of the shorter one's words from which two say the same."""

_ALIKE = 0.8
"""Share of the longer one's words from which what differs makes two statements of them."""

_OF_LENGTH = frozenset(("number", "negation", "name", "direction"))
"""Differences that two cuts of one text have, too, when one is longer: they count where most words agree."""

TOLD = 0.2
"""Confidence that one loses whose words another one has all said."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One that wants a place: ``key`` names it to the caller, ``fixed`` says that it has its place already."""

    key: Hashable
    confidence: float
    content: str
    fixed: bool = False


OVERLAP = 0.5
"""Share of a statement's words from which another one that has them is not given a place beside it."""


def settle(entries: Iterable[Entry], cap: int) -> dict[Hashable, str]:
    """Return the keys of those that find no place, with the reason: the weakest, and those that repeat a stronger.

    What says in part what another one says goes after what says something else. Among equals the earlier one stays:
    what waits already comes first.
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
    """Return how much of what one says another one says too."""
    return len(said & other) / max(len(said), 1)


def distinct(contents: Sequence[str], most: int) -> list[int]:
    """Return the places of the first statements of which none says half of what another one says."""
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
    """Whether one of a session says what another one says.

    The words of one exchange that both quote are enough, a paraphrase or not: of two wordings of one thing, one is shown.
    """
    if not said or not told:
        return said == told
    if len(said & told) <= _SAME * min(len(said), len(told)):
        return False
    found = differences(one.content, other.content) & DISTINCT
    if len(said & told) <= _ALIKE * max(len(said), len(told)):
        found -= _OF_LENGTH
    return not found


def choose(confidences: Sequence[float], contents: Sequence[str], cap: int) -> list[int]:
    """Return the places of those that find one, strongest first."""
    entries = [Entry(at, one, said) for at, (one, said) in enumerate(zip(confidences, contents, strict=True))]
    out = settle(entries, cap)
    return sorted((at for at in range(len(entries)) if at not in out), key=lambda at: -confidences[at])
