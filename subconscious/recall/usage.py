"""Decides from shared words whether an answer used a memory, and computes a memory's priority from its uses.

The priority affects ranks only, never the confidence: use does not make a statement true.
"""

from __future__ import annotations

import re

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


def used(memory: Memory, asked: str, answer: str) -> str:
    """Return how an answer used a memory; "" if it did not. Words of the request (``asked``) do not count."""
    if re.search(rf"(?<![\w\])])\[{memory.id}\](?!\()|\b[Mm]emory (?:#|no\. ?)?{memory.id}\b", answer):
        return "named by its number"
    own_names = _named(memory.content) - _named(asked) - _words_of(asked)
    own_words = _stems(f"{memory.content} {memory.rationale}") - _stems(asked)
    said = _named(answer) | _words_of(answer)
    named, shared = own_names & said, own_words & _stems(answer)
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
