"""Decides from shared words whether an answer used a memory, and computes a memory's priority from its uses.

The priority affects ranks only, never the confidence: use does not make a statement true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import inf
from operator import itemgetter

from subconscious.domain.model import Memory
from subconscious.text.terms import STOP_WORDS, names, stem

USE, REPETITION, VIOLATION = 0.1, 0.1, 0.2
BOUND = 1.0

ENOUGH_NAMES = 2
"""An answer that contains this many of a memory's names and numbers, except those in the request, used the memory."""
SOME_WORDS, MANY_WORDS, FEWEST_WORDS = 0.3, 0.5, 4
"""The share of a memory's own words that an answer must contain to count as use: with one of its names, and without.

Without a name, the answer must also have at least FEWEST_WORDS of the memory's own words.
"""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.:]\d+){0,20}%?(?![\w])")
_CITED = re.compile(r"(?<![\w\])])\[(\d+)\](?!\()|\b[Mm]emory (?:#|no\. ?)?(\d+)\b")
"""A memory's id as answers cite it: "[12]", "memory #12"."""


class Said:
    """The words of dated texts, each with the latest time of a text that contains it.

    Each text is read only once, however many memories are compared with it.
    """

    def __init__(self, texts: Iterable[tuple[float, str]]) -> None:
        self.latest = -inf
        self._names: dict[str, float] = {}
        self._stems: dict[str, float] = {}
        self._cited: dict[str, float] = {}
        for at, text in sorted(texts, key=itemgetter(0)):
            if not text.strip():
                continue
            self.latest = at
            self._names |= dict.fromkeys(_named(text) | _words_of(text), at)
            self._stems |= dict.fromkeys(_stems(text), at)
            self._cited |= dict.fromkeys((found[1] or found[2] for found in _CITED.finditer(text)), at)

    def names(self, among: set[str], since: float = -inf) -> set[str]:
        """Return the names in ``among`` that a text from ``since`` or later contains."""
        return {one for one in among if one in self._names and self._names[one] >= since}

    def stems(self, among: set[str], since: float = -inf) -> set[str]:
        """Return the stems in ``among`` that belong to a word of a text from ``since`` or later."""
        return {one for one in among if one in self._stems and self._stems[one] >= since}

    def cites(self, number: int, since: float = -inf) -> bool:
        """Whether a text from ``since`` or later cites a memory by its id."""
        return str(number) in self._cited and self._cited[str(number)] >= since


def used(memory: Memory, asked: Said, answers: Sequence[Said], since: float = -inf) -> str:
    """Return how answers from ``since`` on used a memory, or "". Words of the request (``asked``) do not count."""
    if any(one.cites(memory.id, since) for one in answers):
        return "named by its number"
    own_names, own_words = _named(memory.content), _stems(f"{memory.content} {memory.rationale}")
    own_names, own_words = own_names - asked.names(own_names), own_words - asked.stems(own_words)
    named = {name for one in answers for name in one.names(own_names, since)}
    shared = {word for one in answers for word in one.stems(own_words, since)}
    share = len(shared) / len(own_words) if own_words else 0.0
    if len(named) >= ENOUGH_NAMES or (named and share >= SOME_WORDS):
        return f"{len(named)} of its names and numbers"
    if share >= MANY_WORDS and len(shared) >= FEWEST_WORDS:
        return f"{len(shared)} of its {len(own_words)} own words"
    return ""


def priority(used: int = 0, repeated: int = 0, violated: int = 0) -> float:
    """Return the priority, 0 to 1, that follows from the counts of uses, repetitions and violations.

    Being shown to a session does not change the priority.
    """
    return min(BOUND, USE * used + REPETITION * repeated + VIOLATION * violated)


def _named(text: str) -> set[str]:
    """Return the names and numbers in a text, without single digits, which are too common."""
    return {*names(text), *(number for number in _NUMBER.findall(text) if len(number) > 1)}


def _words_of(text: str) -> set[str]:
    runs = (run.rstrip("./:-") for run in re.findall(r"[\w./:-]+", text.casefold()))
    return {run for run in runs if run}


def _stems(text: str) -> set[str]:
    words = re.findall(r"\w+", text.casefold())
    return {stem(word) for word in words if len(word) > 2 and word not in STOP_WORDS}
