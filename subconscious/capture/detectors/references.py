"""Resolves the references of short replies: the option that was picked, the question that was answered.

At most two sentences of the assistant's previous message are added to a reply, marked as the assistant's words.
"""

from __future__ import annotations

import re

from subconscious.capture.narration import is_narration
from subconscious.capture.passages import plain
from subconscious.text import wording
from subconscious.text.stops import split

LONGEST_REFERENCE = 220
"""The maximum number of characters of the assistant's message that are added."""

_DEPENDENT = re.compile(
    r"\W*(?:yes|yep|yeah|yup|no+|nope|nah|ok(?:ay)?|sure|right|correct|exactly|agreed|neither|both|either|same|that|it|this|these|those|they|"
    r"option|the (?:first|second|third|last|former|latter|other|one)|first|second|third|last|(?:[a-e]|\d)(?=\W|\Z)|always that|"
    r"not (?:in )?(?:there|that|this|here)|also for|only (?:for|in|on)|keep (?:it|that)|ja|nein|oui|non|s[ií]|sim|n[aã]o)\b",
    re.IGNORECASE,
)
_FEW_WORDS = 4
_TERSE = 5
"""A reply of at most this many words is assumed to have no content of its own."""

_PICK = re.compile(r"\b(?:option|variant|approach|choice|number|no\.?)?\s*#?\(?\b([a-e]|\d)\)?(?=\W|\Z)", re.IGNORECASE)
_ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|last|former|latter)\b|^\W*(first|second|third|last)\b", re.IGNORECASE
)
_ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_OPTION = re.compile(
    r"(?:^|\n|[,;:]\s|\bor\s|\s)\*{0,2}(?:option\s+|variant\s+|approach\s+)?\(?(?P<name>[A-Ea-e]|\d)[).:]\*{0,2}\s+"
    r"(?P<text>[^\n?;]{3,200}?)"
    r"(?=\n|\?|;|,?\s+(?:or\s+|and\s+)?\*{0,2}(?:option\s+)?\(?(?:[A-Ea-e]|\d)[).:]\*{0,2}\s|\Z)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LIST_ITEM = re.compile(r"(?:^|\n)[ \t]*(?P<number>\d{1,2})[.)][ \t]+(?P<text>[^\n]{3,400})")
_ANAPHOR = re.compile(
    r"\b(?:it|them|em|they|those|ours|theirs|yours|(?:that|this|the other|the same) one|one of them)\b", re.IGNORECASE
)
_FEWEST_NAMES = 2
_BRIEF = 12
"""A reply of at most this many words may leave out its subject; longer ones are assumed to name it."""

_SHORT_CLAUSE = re.compile(r"\W{0,3}\S{1,30}(?: \S{1,30}){0,2}[,.;:!]\s")
"""An opening clause of up to three words that answers a question, before the reasons: "avif + jpeg, skip webp ..."."""

_REPLY = re.compile(
    r"\W*(?:yes|yep|yeah|yup|no+|nope|nah|ok(?:ay)?|sure|right|correct|exactly|agreed|wrong|not|that|this|it|these|those|they|"
    r"the (?:first|second|third|last|former|latter|other|one)|same|only|keep|always|never|ja|nein|oui|non|s[i\u00ed]|sim|n[a\u00e3]o)\b|[^.!?]{1,80}!",
    re.IGNORECASE,
)
"""Beginnings of replies to a statement. Sentences that begin differently may have another subject."""

_FEWEST_STATED = 3
"""The minimum number of words of a statement that a reply may be about: "RabbitMQ." explains nothing."""

_PROPOSAL = re.compile(
    r"i(?:'ll|'d| will| would| am going to|'m going to| rounded| used| put| made| moved| set)\b", re.IGNORECASE
)


def is_dependent(text: str) -> bool:
    """Whether a sentence is a reply that is hard to understand without the question."""
    return bool(_DEPENDENT.match(text)) or len(wording.content_words(text)) < _FEW_WORDS


def begins_back(text: str) -> bool:
    """Whether a sentence uses a pronoun before it names anything that the pronoun could refer to."""
    found = _ANAPHOR.search(text)
    return found is not None and len(wording.content_words(text[: found.start()])) < _FEWEST_NAMES


def replies(text: str, before: str) -> bool:
    """Whether the first sentence of a message leaves out its subject, because the assistant had just named it."""
    said = _said(before)
    asked = bool(said) and said[-1].endswith(("?", "\uff1f"))
    return _refers_back(text) or (asked and (_is_brief(text) or bool(_ANAPHOR.search(text))))


def _refers_back(text: str) -> bool:
    """Whether a sentence uses a pronoun for something that it does not name; long sentences are assumed to name it."""
    return begins_back(text) or (_is_brief(text) and bool(_ANAPHOR.search(text)))


def _is_brief(text: str) -> bool:
    return len(text.split()) <= _BRIEF or bool(_SHORT_CLAUSE.match(text))


def answered(text: str, before: str, number: str = "") -> str:
    """Return a reply with what it refers to: the picked option, the question, or the statement that it answers.

    ``number`` is the reply's number if the user numbered the replies like the assistant's questions, else "".
    """
    about = _numbered(number, before) or _picked(text, before) or _asked(before)
    if about:
        return f"{text} (asked: {about})"
    terse = len(text.split()) <= _TERSE
    told = _stated(before) if terse or _REPLY.match(text) or _refers_back(text) else ""
    return f"{text} (replying to: {told})" if told else text


def _numbered(number: str, before: str) -> str:
    """Return the last list item with ``number`` in the assistant's message; "" if there is none."""
    found = [one for one in _LIST_ITEM.finditer(before) if number and one["number"] == number]
    return wording.shorten(wording.squeeze(plain(found[-1]["text"])), LONGEST_REFERENCE) if found else ""


def _picked(text: str, before: str) -> str:
    """Return the option that a reply picks by letter, number or position; "" if it picks none."""
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
    """Return the assistant's last question, with the sentence before it if the question has few content words."""
    said = _said(before)
    at = next((at for at in reversed(range(len(said))) if said[at].endswith(("?", "\uff1f"))), None)
    if at is None:
        return ""
    named = len(wording.content_words(said[at])) >= _FEW_WORDS
    alone = named or not at or (is_narration(said[at - 1]) and not said[at - 1].endswith("?"))
    asked = said[at] if alone else f"{said[at - 1]} {said[at]}"
    return wording.shorten(asked if len(asked) <= LONGEST_REFERENCE else said[at], LONGEST_REFERENCE)


def _stated(before: str) -> str:
    """Return the assistant's last sentence that states or proposes something; "" if there is none."""
    told = next((one for one in reversed(_said(before)) if _states(one)), "")
    return wording.shorten(told, LONGEST_REFERENCE)


def _states(said: str) -> bool:
    return (
        len(said.split()) >= _FEWEST_STATED
        and not said.endswith(":")
        and (bool(_PROPOSAL.match(said)) or not is_narration(said))
    )


def _said(before: str) -> list[str]:
    """Return the assistant's last sentences, each on one line."""
    return [wording.squeeze(plain(one)) for one in split(_SENTENCE, before[-2000:]) if one.strip()]
