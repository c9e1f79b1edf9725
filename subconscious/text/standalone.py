"""Decides whether a reader can understand a statement without its conversation."""

from __future__ import annotations

import re

FEWEST_WORDS = 3
"""Words of a statement; with fewer it names something and says nothing of it."""

RESOLVED = re.compile(r"\((?:asked|replying to|plan): |\bDecided: ")
"""Words that refer to another part of the turn: an answer, a reply, a plan."""

_PLACES = r"projects?|repos?|repository|codebase|code base|workspace|monorepo|machine|team|company|org(?:ani[sz]ation)?"
"""Nouns behind "this" that a stranger understands, because the place of a memory determines them."""

_PERIODS = r"week(?:end)?|sprint|month|quarter|year"
"""What "this" names by the date of the statement."""

_BEGINS_ELSEWHERE = re.compile(
    r"[\W_]*(?:it|its|it's|this|that|they|these|those|he|she|both|neither|same|there(?!(?:'s| is| are|\u2019s)\b)"
    r"|the (?:same|latter|former|above|following|other))\b"
    rf"(?! (?:{_PLACES}|{_PERIODS})\b)",
    re.IGNORECASE,
)
"""A beginning that points at a sentence before it."""

_CONTRAST = re.compile(r"[\W_]*(?:it|that|this)(?:'s|\u2019s| is) not [^,;:]{2,80}[,;:]\s+\w", re.IGNORECASE)
"""A contrast ("not X but Y") that names its subject."""

_CONVERSATION = re.compile(
    r"\b(?:the )?(?:first|second|third|last|other|latter|previous)"
    r" (?:part|one|point|option|approach|paragraph|question|variant)\b"
    r"|\byour (?:\w+ )?(?:changes?|edits?|fix|plan|answer|suggestion|proposal|approach|commit|summary|comment"
    r"|implementation)\b"
    r"|\byou (?:just |also |have |already )*(?:said|did|made|wrote|added|changed|suggested|proposed|mentioned|removed"
    r"|created|told|asked)\b"
    r"|\b(?:as|like|see|said|mentioned|described|listed) (?:above|below|before)\b|\b(?:option|variant) (?:[a-e]|\d)\b"
    r"|\bsame (?:for|as|with|goes for) (?:the other|that|this|it|here|there)\b"
    r"|\b(?:like|for|with) (?:that|this) (?:one|too|as well)\b"
    r"|\b(?:in|at) (?:the )?other (?:places|cases|spots)\b"
    r"|\b(?:this|that) (?:one|way|change|branch|pr|session|conversation|chat)\b",
    re.IGNORECASE,
)
"""Words for parts of the conversation: a proposal, a change, an earlier statement."""

_CUT_SHORT = re.compile(r"(?::|,|;|…|\.\.\.|\b(?:and|or|but|because|the|a|an|to|of|with))\s*\Z", re.IGNORECASE)


def unclear(text: str) -> str:
    """Return why a statement is unclear without its conversation, to complete "it ..."; "" if it is clear alone."""
    if _CUT_SHORT.search(text) or text.count("`") % 2:
        return "is cut short"
    if RESOLVED.search(text):
        return ""
    if len(text.split()) < FEWEST_WORDS and text.isascii():  # other scripts put no space between words
        return "names something and says nothing of it"
    if _BEGINS_ELSEWHERE.match(text) and not _CONTRAST.match(text):
        return "begins with what it does not name"
    if _CONVERSATION.search(text):
        return "speaks of a conversation that is over"
    return ""
