"""Whether an answer used what it was given: judged from its words, and counted into a priority.

A priority orders what is surfaced and touches no confidence: that something is used does not make it true.
"""

from __future__ import annotations

import re

from subconscious.model import Memory
from subconscious.search.words import STOP_WORDS, names, stem

USE, REPETITION, VIOLATION = 0.1, 0.1, 0.2
BOUND = 1.0

ENOUGH_NAMES = 2
"""Names and numbers that only the memory can have brought: so many prove a use by themselves."""
SOME_WORDS, MANY_WORDS, FEWEST_WORDS = 0.3, 0.5, 4
"""Shares of the memory's own words that prove it, beside a name, and alone."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.:]\d+){0,20}%?(?![\w])")


def used(memory: Memory, asked: str, answer: str) -> str:
    """How an answer used a memory, in a few words, or "" if it did not; what was ``asked`` proves nothing."""
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
    """What responses amount to, 0..1. Having been given without any is no response, and takes nothing away."""
    return min(BOUND, USE * used + REPETITION * repeated + VIOLATION * violated)


def _named(text: str) -> set[str]:
    """Names and numbers; single digits are everywhere."""
    return {*names(text), *(number for number in _NUMBER.findall(text) if len(number) > 1)}


def _words_of(text: str) -> set[str]:
    runs = (run.rstrip("./:-") for run in re.findall(r"[\w./:-]+", text.casefold()))
    return {run for run in runs if run}


def _stems(text: str) -> set[str]:
    words = re.findall(r"\w+", text.casefold())
    return {stem(word) for word in words if len(word) > 2 and word not in STOP_WORDS}
