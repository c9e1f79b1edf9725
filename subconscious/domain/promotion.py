"""Promotion: decides which memories of a project count as project knowledge. Pure formulas.

The score is the mean of three parts, each from 1 to 10. Recurrence is counted. Impact and specificity are estimated
from the memory's wording, kind and links, without a language model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Memory

PROMOTED = "promoted"
OBSERVED = "observed"
PASSING = "passing"
FLAGGED = "flagged"
"""The promotion statuses of a memory. A flagged memory is never promoted, even with a high score."""

LEAST, MOST = 1.0, 10.0

VIOLATION = 2
"""Recurrence points per violation (the user had to repeat the memory); also the most impact points for violations."""

WORTH: Mapping[str, float] = MappingProxyType({name: kind.worth for name, kind in KINDS.items()})
UNKNOWN_WORTH = 3.0

_SPENT = (
    r"\b(?:lost|spent|took|taken|wasted|costs?|blocked|debugg\w+|stuck|searching|down)\b"
    r"\W++(?:\w++(?:['-]\w++){0,3}?\W++){0,4}?"
)
_HOURS = re.compile(rf"{_SPENT}(?:hours?|days?|weeks?|afternoon|morning)\b", re.IGNORECASE)
_MINUTES = re.compile(rf"{_SPENT}(?:minutes?|mins?)\b", re.IGNORECASE)
_TROUBLE = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure|ures)?|crash(?:es|ed)?|errors?|broke|breaks|stuck|hangs?|deadlock\w*|outage|data loss"
    r"|corrupt\w*|root cause|did not work|didn't work|workaround)\b",
    re.IGNORECASE,
)
_LONG = re.compile(
    r"\b(?:again and again|repeatedly)\b"
    r"|\b(?:multiple|several|[3-9]|\d\d+)\b.{0,30}\b(?:times|attempts|tries|failures)\b",
    re.IGNORECASE,
)
"""A pattern of words that mention many attempts or failures."""

_FILE = re.compile(r"(?<![\w/])[\w.-]{1,80}/[\w.-]|\b[\w-]{1,80}\.[a-z]{1,5}\b(?!\()")
_IDENTIFIER = re.compile(
    r"`[^`]+`|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b"
    r"|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\w\(\)"
)
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")
_COMMAND = re.compile(
    r"\b(?:npm|pnpm|yarn|npx|pip|uv|git|docker|make|cargo|go|pytest|python3?|kubectl|terraform|curl)\s+[a-z-]"
    r"|\s--?[a-z][\w-]+"
)
_BECAUSE = re.compile(r"\b(?:because|since|so that|in order to|otherwise|due to)\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:something|somehow|stuff|things?|better|nicer|properly|probably|maybe|some|various|etc)\b", re.IGNORECASE
)
_FEW_WORDS = 5
CACHED = 4096
"""The maximum number of cached scores: after a change of one text, all texts of its project are scored again."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts about a memory: the sessions that stated it, and the links that cite it.

    ``used`` is the number of replies that used the memory, ``violated`` how often the user had to repeat its statement
    in a session although the session's context already contained the memory.
    """

    sessions: int = 1
    citations: int = 0
    flaw: str = ""
    """Why the memory must not be promoted (flagged as poisoned, superseded, archived); "" if it may be promoted."""
    used: int = 0
    violated: int = 0


@dataclass(frozen=True, slots=True)
class Bars:
    """The minimum scores (1 to 10) for a memory to be promoted, and for it to be shown as observed."""

    promoted: float = 7.0
    observed: float = 4.0


@dataclass(frozen=True, slots=True)
class PromotionStatus:
    """The promotion status of a memory (promoted, observed, passing or flagged), and the parts of its score."""

    status: str
    score: float
    recurrence: float
    impact: float
    specificity: float
    sessions: int
    flaw: str = ""


def promotion_status(memory: Memory, facts: Facts, bars: Bars) -> PromotionStatus:
    """Return a memory's promotion status."""
    again = min(MOST, recurrence(facts.sessions, memory.recurrence) + VIOLATION * facts.violated)
    parts = again, impact(memory, facts), specificity(memory)
    score = round(sum(parts) / len(parts), 2)
    return PromotionStatus(_status(score, facts, bars), score, *parts, facts.sessions, facts.flaw)


def _status(score: float, facts: Facts, bars: Bars) -> str:
    if facts.flaw:
        return FLAGGED
    return PROMOTED if score >= bars.promoted else OBSERVED if score >= bars.observed else PASSING


def recurrence(sessions: int, times: int = 1) -> float:
    """Return the recurrence score: 1 to 3 for one session, 4 to 6 for two or three, 7 to 10 for four or more."""
    again = max(0, times - max(1, sessions))
    if sessions <= 1:
        return min(3.0, LEAST + again)
    if sessions <= 3:
        return min(6.0, 2.0 + sessions + min(1, again))
    return min(MOST, 3.0 + sessions)


def impact(memory: Memory, facts: Facts) -> float:
    """Return the impact score: the estimated work that the memory saves.

    Scores of 1 to 3 stand for seconds, scores of 4 to 6 for minutes, and scores of 7 to 10 for hours or more.
    """
    worth = _worth(memory.kind, f"{memory.content} {memory.rationale}")
    responses = min(1, facts.used) + min(VIOLATION, facts.violated)
    return _bounded(worth + min(2, facts.citations) + memory.pinned + responses)


@lru_cache(maxsize=CACHED)
def _worth(kind: str, words: str) -> float:
    worth = WORTH.get(kind, UNKNOWN_WORTH)
    if _HOURS.search(words):
        worth = max(worth + 1, 8.0)
    elif _MINUTES.search(words):
        worth = max(worth, 5.0)
    return worth + is_trouble(words) + bool(_LONG.search(words))


def is_trouble(words: str) -> bool:
    """Whether a text mentions a failure."""
    return bool(_TROUBLE.search(words))


def specificity(memory: Memory) -> float:
    """Return the specificity score, estimated from the wording.

    Scores of 1 to 3 mean vague, scores of 4 to 6 a general direction, and scores of 7 to 10 precise.
    """
    return _specificity(memory.content, bool(memory.files), bool(memory.rationale))


@lru_cache(maxsize=CACHED)
def _specificity(words: str, files: bool, rationale: bool) -> float:
    marks = (
        2 * (files or bool(_FILE.search(words))),
        2 * bool(_IDENTIFIER.search(words)),
        bool(_NUMBER.search(words)),
        bool(_COMMAND.search(words)),
        2 * (rationale or bool(_BECAUSE.search(words))),
        len(words.split()) > 2 * _FEW_WORDS,
    )
    vague = min(2, len(_VAGUE.findall(words))) + (len(words.split()) < _FEW_WORDS)
    return _bounded(3.0 + sum(marks) - vague)


def _bounded(value: float) -> float:
    return float(min(MOST, max(LEAST, value)))
