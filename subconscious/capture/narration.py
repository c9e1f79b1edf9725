"""Recognises sentences in which the assistant narrates: next steps, greetings, reports of passing tests."""

from __future__ import annotations

import re

from subconscious.text.stops import gaps

_SENTENCE = re.compile(r"(?<=[.!?:…])[\"')\]*]*\s+(?=[\"'`(*]*[A-Z0-9`])")

_OPENING = (
    r"(?:ok(?:ay)?|good|great|perfect|excellent|got it|clear|right|done|all done|all clean|all passing|committed|fixed|merge complete|found it|yes|sure|absolutely|alright|now|so|"
    r"also|next|first|then|finally|and|but|actually|hmm|wait|interesting|thanks|sorry|oops|nice|apologies)\b"
)
_PRAISE = r"(?:good|great|fair|valid|nice|perfect|excellent|interesting) (?:question|point|catch|call|idea|find|insight|review)"
_OPENERS = rf"(?:{_OPENING}[\s,.!:;–—-]*)"
_ACTION = re.compile(
    rf"[\"'(*]*{_OPENERS}{{0,4}}"
    r"(?:let(?:'s| me| us)\b|i(?:'ll| will|'m going| am going|'m| am)\b|we(?:'ll| will)\b|i(?:'ve| have) (?:now )?(?:a|the|all|enough)"
    r"\b|i (?:can see|now see|understand|see)\b(?=.{0,40}[.:!]\Z)|i need to\b|i should\b|i want to\b|time to\b|ready (?:for|to)\b"
    r"|here(?:'s| is| are)\b|would you like|do you want|should i\b|shall i\b|want me\b|let me know|feel free"
    r"|(?:update|add|run|check|verify|create|fix|wire|implement|read|test|commit|replace|remove|move|modify|build|look at|mark)\b"
    r"[^.;]{0,140}:\Z"
    r"|(?:the )?(?:source |test )?(?:code|file|build|tests?|lint|everything|it) (?:now )?(?:compiles|passes|looks good|is clean|works)\b"
    r".{0,40}\Z|if you need specific details|both changes? (?:are )?(?:in place|done)|no(?:w)? (?:changes|issues)\b.{0,30}\Z)",
    re.IGNORECASE | re.DOTALL,
)
_GREETING = re.compile(rf"\W*(?:{_PRAISE}[\s,.!:;–—-]*|{_OPENERS})+[.!:;,\s]*\Z", re.IGNORECASE)
_ACKNOWLEDGES = re.compile(r"\W*(?:understood|noted|agreed|got it|will do|sounds good)(?:[,.!:;]|\W*\Z)", re.IGNORECASE)
"""Beginnings of sentences that repeat what the user has just said; the user's own turn is better evidence."""
_GREEN = re.compile(
    r"\W*+(?:verification|results?|all|both|the|now|\d[\d,]*+|full|every|\s++|[:(])*"
    r"(?:tests?|lint\w*|checks?|typecheck\w*|build|pre-commit\w*|everything|type check\w*|[\d,]+ pass\w*)\b.{0,70}"
    r"\b(?:pass\w*|clean|green|succe\w+|no (?:errors|issues)|0 (?:fail|errors)\w*)\b.{0,120}\Z",
    re.IGNORECASE | re.DOTALL,
)
_SET_OFF = r"(?:\s*[,.!:;–—-]+(?:\s+|\Z)|—+)"
"""Punctuation and space after an opening word. "No-op" and "Next.js" do not match, because no space follows."""

_BARE = r"(?:now|so|also|and|but|then|actually|hmm)\s+(?!(?:that|far|many|much|long|known|called)\b)"
"""Opening words that need no punctuation, because no name begins with them; "so that" and "so far" do not match."""

LEADING = re.compile(rf"\A(?:(?:{_PRAISE}|{_OPENING}){_SET_OFF}|{_BARE})+", re.IGNORECASE)


LONGEST = 1000
"""The maximum length in characters of a sentence that is examined; longer texts are data, not sentences."""


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the sentences between two offsets."""
    spans, at = [], start
    for gap in gaps(_SENTENCE, text, start, end):
        spans.append((at, gap.start()))
        at = gap.end()
    return [span for span in (*spans, (at, end)) if text[slice(*span)].strip()]


def is_narration(sentence: str) -> bool:
    """Whether a sentence reports an activity or asks something, instead of stating a fact."""
    said = sentence.strip().strip("*_ ")
    if len(said) > LONGEST:
        return False
    told = _ACTION.match(said) or _GREETING.match(said) or _GREEN.match(said) or _ACKNOWLEDGES.match(said)
    return bool(told) or said.endswith("?")


def trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return a span without narration at its ends; None if nothing is left."""
    spans = sentence_spans(text, start, end)
    while spans and is_narration(text[slice(*spans[0])]):
        del spans[0]
    while spans and is_narration(text[slice(*spans[-1])]):
        del spans[-1]
    if not spans:
        return None
    first = LEADING.match(text[slice(*spans[0])])
    begin = spans[0][0] + (first.end() if first and first.end() < spans[0][1] - spans[0][0] else 0)
    return begin, spans[-1][1]
