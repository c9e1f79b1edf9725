"""Which memories may not be summed up as one: two versions of one statement that differ in what turns it (SPEC D11)."""

from __future__ import annotations

import re

from subconscious.capture.sameness import differ
from subconscious.capture.wording import content_words

SHARED = 0.5
"""Share of the shorter one's words from which two speak of one thing."""

_NUMBER = re.compile(r"\d")


def clash(one: str, other: str) -> bool:
    """Whether two statements speak of one thing and differ in a number, a negation or a name.

    What speaks of two things may well differ in them: each stands in the summing up in its own words.
    """
    if not differ(one, other):
        return False
    words = [_words(one), _words(other)]
    return len(words[0] & words[1]) >= SHARED * min(len(words[0]), len(words[1]))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text) if not _NUMBER.search(word)}
