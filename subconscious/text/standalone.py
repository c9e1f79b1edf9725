"""Decides whether a statement can be understood without its conversation."""

from __future__ import annotations

import re

from subconscious.text.alternatives import FAMILIES

FEWEST_WORDS = 3
"""The minimum number of words of a complete statement; fewer words only name something."""

RESOLVED = re.compile(r"\((?:asked|replying to|plan): |\bDecided: ")
"""A pattern of insertions that supply the context: the question, the message replied to, the plan."""

_PLACES = r"projects?|repos?|repository|codebase|code base|workspace|monorepo|machine|team|company|org(?:ani[sz]ation)?"
"""Nouns that are clear after "this" without context, because a memory belongs to a project."""

_PERIODS = r"week(?:end)?|sprint|month|quarter|year"
"""Nouns that are clear after "this" because the date of the statement is known."""

_BEGINS_ELSEWHERE = re.compile(
    r"[\W_]*(?:it|its|it's|this|that|they|these|those|he|she|both|neither|same|there(?!(?:'s| is| are|\u2019s)\b)"
    r"|the (?:same|latter|former|above|following|other))\b"
    rf"(?! (?:{_PLACES}|{_PERIODS})\b)",
    re.IGNORECASE,
)
"""A pattern of a beginning that refers to an earlier sentence."""

_CLEAR = re.compile(rf"\W*this (?:{_PLACES}|{_PERIODS})\b", re.IGNORECASE)
"""A beginning such as "this week", which does not refer to an earlier sentence."""

_CONTRAST = re.compile(r"[\W_]*(?:it|that|this)(?:'s|\u2019s| is) not [^,;:]{2,80}[,;:]\s+\w", re.IGNORECASE)
"""A pattern of a contrast ("it's not X, it's Y"), which is clear without the earlier sentence."""

_CHOSEN_ONCE = frozenset(
    (
        *("package manager", "python packaging", "database", "cloud", "orchestration", "container", "infrastructure"),
        *("pipelines", "javascript tests", "browser tests", "python tests", "python web", "node web", "frontend"),
        *("bundler", "language"),
    )
)
"""Groups of tools of which a project usually uses only one, so that "it's pnpm" must be about the project."""

_TOOLS = "|".join(sorted(word for word, family in FAMILIES.items() if family in _CHOSEN_ONCE))
_OF_THE_PROJECT = re.compile(
    rf"[\W_]*(?:it['\u2019]?s|it is) (?:(?:an?|all|still|just) ){{0,2}}"
    rf"(?:(?:{_TOOLS}|monorepo)(?: v?\d[\w.]*)?|[a-z][\w+#]{{0,20}} v?\d{{1,4}}(?:\.\d{{1,4}})+)"
    r"(?=\s*[,.;:!(]|\W*\Z| (?:in|on|for|not|never|and|with|w|only|everywhere|here|now)\b)",
    re.IGNORECASE,
)
"""A beginning such as "it's pnpm" or "its go 1.23", where "it" is the project."""

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
"""A pattern of references to parts of the conversation: a proposal, a change, an earlier statement."""

_CUT_SHORT = re.compile(r"(?::|,|;|…|\.\.\.|\b(?:and|or|but|because|the|a|an|to|of|with))\s*\Z", re.IGNORECASE)


FEWEST_LEFT = 8
"""The minimum number of words that must remain for an announcement at the beginning to be removed."""

_CONNECTIVE = re.compile(
    r"(?:so|but|and|also|thus|therefore|hence)(?:,| (?!that\b|far\b|long\b|much\b|many\b)) *", re.IGNORECASE
)
_ANNOUNCEMENT = re.compile(
    r"(?:the (?:\w+ )?(?:fix|condition|problem|issue|bug|cause|reason|answer|flow|result|explanation|solution)"
    r"|(?:this|that)(?:'s|\u2019s| (?:is|was|confirms|explains|means|shows|matches|reveals))"
    r"|(?:why|how) (?:this|that|it))\b[^.:;`\n]{0,80}(?::|\.(?= [`A-Z])) +(?=\S)",
    re.IGNORECASE,
)
"""A pattern of words that only announce the next sentence: "The fix:", "This confirms the cause."."""


def without_announcement(text: str) -> str:
    """Return a statement without words at its beginning that only announce it."""
    rest = text
    while found := _CONNECTIVE.match(rest) or _ANNOUNCEMENT.match(rest):
        rest = rest[found.end() :]
    if rest == text or len(rest.split()) < FEWEST_LEFT or _BEGINS_ELSEWHERE.match(rest):
        return text
    return rest[:1].upper() + rest[1:] if rest.split(" ", 1)[0].isalpha() else rest


def begins_clearly(text: str) -> bool:
    """Whether a statement begins with "this week", "this project" or the like, which is clear without context."""
    return bool(_CLEAR.match(text))


def unclear(text: str) -> str:
    """Return why a statement is unclear without context, as text to follow "it"; "" if the statement is clear."""
    if _CUT_SHORT.search(text) or text.count("`") % 2:
        return "is cut short"
    if RESOLVED.search(text):
        return ""
    if len(text.split()) < FEWEST_WORDS and text.isascii():  # other scripts put no space between words
        return "names something, but says nothing about it"
    if _BEGINS_ELSEWHERE.match(text) and not _CONTRAST.match(text) and not _OF_THE_PROJECT.match(text):
        return "begins with a reference to something that it does not name"
    if _CONVERSATION.search(text):
        return "refers to a conversation that is over"
    return ""
