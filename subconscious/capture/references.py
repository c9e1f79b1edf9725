"""Resolves what a terse answer refers to: the option that was picked, the question that was answered.

Only words of the turn before are used, at most a sentence of them, and they are marked as the assistant's.
"""

from __future__ import annotations

import re

from subconscious.capture import wording
from subconscious.capture.passages import plain

LONGEST_REFERENCE = 220
"""Characters of what the assistant said that are taken along."""

_DEPENDENT = re.compile(
    r"\W*(?:yes|yep|yeah|yup|no+|nope|nah|ok(?:ay)?|sure|right|correct|exactly|agreed|neither|both|either|same|that|it|this|these|those|they|"
    r"option|the (?:first|second|third|last|former|latter|other|one)|first|second|third|last|(?:[a-e]|\d)(?=\W|\Z)|always that|"
    r"not (?:in )?(?:there|that|this|here)|also for|only (?:for|in|on)|keep (?:it|that)|ja|nein|oui|non|s[ií]|sim|n[aã]o)\b",
    re.IGNORECASE,
)
_FEW_WORDS = 4
_PICK = re.compile(r"\b(?:option|variant|approach|choice|number|no\.?)?\s*#?\(?\b([a-e]|\d)\)?(?=\W|\Z)", re.IGNORECASE)
_ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|last|former|latter)\b|^\W*(first|second|third|last)\b", re.IGNORECASE
)
_ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_OPTION = re.compile(
    r"(?:^|\n|[,;:]\s|\bor\s|\s)(?:option\s+|variant\s+|approach\s+)?\(?(?P<name>[A-Ea-e]|\d)[).:]\s+(?P<text>[^\n?;]{3,200}?)"
    r"(?=\n|\?|;|,?\s+(?:or\s+|and\s+)?(?:option\s+)?\(?(?:[A-Ea-e]|\d)[).:]\s|\Z)",
    re.IGNORECASE,
)
_EITHER = re.compile(r"(?P<one>[^,.;:?\n]{3,80}?),? or (?P<other>[^,.;:?\n]{3,80})\?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def is_dependent(text: str) -> bool:
    """Whether a sentence is an answer that says little without what it answers."""
    return bool(_DEPENDENT.match(text)) or len(wording.content_words(text)) < _FEW_WORDS


def answered(text: str, before: str) -> str:
    """Return an answer with what it answers."""
    about = _picked(text, before) or _asked(before)
    return f"{text} (asked: {about})" if about else text


def _picked(text: str, before: str) -> str:
    """Return the option that an answer picks by its letter, number or place; "" where it picks none."""
    options = [(found["name"].casefold(), plain(found["text"]).strip(" .")) for found in _OPTION.finditer(before)]
    if not options:
        return ""
    ordinal = _ORDINAL.search(text)
    if ordinal:
        at = _ORDINALS[(ordinal[1] or ordinal[2]).lower()]
        return options[at][1] if -len(options) <= at < len(options) else ""
    pick = _PICK.search(text)
    return next((option for name, option in options if pick and name == pick[1].casefold()), "")


def _asked(before: str) -> str:
    """Return the last question of what the assistant said, or else its last sentence."""
    said = [wording.squeeze(plain(one)) for one in _SENTENCE.split(before[-2000:]) if one.strip()]
    questions = [one for one in said if one.endswith("?")]
    last = (questions or said or [""])[-1]
    return wording.shorten(last, LONGEST_REFERENCE)
