"""Whether two statements say the same (SPEC D11).

They do when they are alike in their words or meaning, and differ in nothing that turns it: negation, numbers, named
things.
"""

from __future__ import annotations

import re

from subconscious.capture.wording import content_words, is_name

ALIKE = 0.85
"""Likeness above which two statements say the same (SPEC D11)."""

SHARED = 0.5
"""Share of the shorter one's words from which two that quote the same words say the same."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|without|avoid|stop|don'?t|doesn'?t|isn'?t|won'?t|can'?t|cannot)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+")


def same(one: str, other: str, cosine: float = 0.0, *, one_quote: bool = False) -> bool:
    """Whether two statements of one kind say the same.

    ``cosine`` is how near their embeddings are, 0 where there are none; ``one_quote`` says that both rest on the same
    words of the same turn, so that less likeness will do.
    """
    if differ(one, other):
        return False
    words = [_words(one), _words(other)]
    either, both = words[0] | words[1], words[0] & words[1]
    if one_quote and len(both) >= SHARED * min(len(words[0]), len(words[1])):
        return True
    return cosine > ALIKE or (len(both) > ALIKE * len(either) if either else one == other)


def differ(one: str, other: str) -> bool:
    """Whether two statements differ in what turns their meaning."""
    if sorted(set(_NUMBER.findall(one))) != sorted(set(_NUMBER.findall(other))):
        return True
    if negated(one) != negated(other):
        return True
    # One that names something more says more of the same; where each names what the other does not, they are two.
    return bool(_names(one) - _words(other)) and bool(_names(other) - _words(one))


def negated(text: str) -> bool:
    """Whether a statement says no; two negations are none."""
    return len(_NEGATION.findall(text)) % 2 == 1


def _names(text: str) -> set[str]:
    """Named things, case aside; a sentence's first word is no name for its capital letter alone."""
    found: set[str] = set()
    for sentence in _SENTENCE.split(text):
        for place, word in enumerate(content_words(sentence)):
            opens = place == 0 and word.istitle()
            if is_name(word) and not opens:
                found.add(word.casefold())
    return found


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text)}


def overlap(one: str, other: str) -> bool:
    """Whether two quotes of one turn are of the same words: either holds the other."""
    plain = [" ".join(quote.casefold().split()) for quote in (one, other)]
    return bool(plain[0] and plain[1]) and (plain[0] in plain[1] or plain[1] in plain[0])
