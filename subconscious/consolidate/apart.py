"""Which memories may not be summed up as one: two versions of one statement that differ in what turns it."""

from __future__ import annotations

import re

from subconscious.text.same_statement import DISTINCT, differences
from subconscious.text.words import content_words

SHARED = 0.5
"""Share of the shorter one's words from which two speak of one thing."""

_NUMBER = re.compile(r"\d")


def clash(one: str, other: str) -> bool:
    """Whether two statements speak of one thing and differ in a number, a negation, a name, a place or direction.

    What speaks of two things may well differ in them: each stands in the summing up in its own words.
    """
    words = [_words(one), _words(other)]
    of_one = len(words[0] & words[1]) >= SHARED * min(len(words[0]), len(words[1]))
    # Modality, scope and tense are no clash: a summary lists each statement in its own words.
    return of_one and bool(differences(one, other) & DISTINCT)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text) if not _NUMBER.search(word)}
