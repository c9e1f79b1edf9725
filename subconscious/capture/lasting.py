"""Finds statements that are valid only in their session: completed requests, reports, findings about edits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from subconscious.capture.exchange import Exchange, exchanges
from subconscious.domain.model import Candidate, Origin, Turn

QUOTES = "quotes what somebody else said"

SHORTEST_NAME = 4
"""The minimum length of a file's name; a shorter name does not show that a statement is about the file."""

_STANDING = re.compile(
    r"\b(?:always|never|every|each|any|all|whenever|wherever|from now on|must(?: not|n't)?|only|no longer|prefer|convention|rule"
    r"|don't|do not|(?:should|shall) not|shouldn't)\b",
    re.IGNORECASE,
)
"""Words that make a statement valid beyond the next edit."""

_REPORT = re.compile(
    r"\W*(?:(?:ok|so|and|now|but|btw|sorry)\W+)*(?:"
    r"i(?:'ve|\u2019ve| have)(?: just| already| also| now)* (?!been|decided|chosen|agreed|settled|always|never)"
    r"(?:\w+ed|done|made|put|run|set|written|begun|seen|found)\b|i (?:just|already) \w+ed\b"
    r"|i (?:can(?:'t|not| not)? |do(?:n't| not) |still |now |also |just |\w+ly )*"
    r"(?:see|saw|noticed?|ran|tried|pushed|committed|merged|checked|got)\b"
    r"|looking at\b|it (?:seems|looks)\b|looks like\b)",
    re.IGNORECASE,
)
"""Sentences in which a person reports what they have just done or seen."""

_PRESENTED = re.compile(
    r"\b(?:(?:look|looking) (?:at|into)|comments?|feedback|findings?|review(?:er)?|error|output|message|log|report"
    r"|(?:you|it|he|she|they|bot|copilot|linter|ci)(?: also| just)? (?:said|says?|wrote|suggests?|reports?|mentioned))(?: \w+){0,3} ?:\s+\S",
    re.IGNORECASE,
)
"""Words that introduce a quote of somebody else."""

_CHANGE = re.compile(
    r"\b(?:now|no longer|will|previously|used to|fix(?:e[sd]|ing)?|root cause|summary|proposed|already|the tests? verif\w+|comments?(?=:)|was(?:n't)?|were(?:n't)?)\b"
    r"|(?:\A|[.:;] |\W[-\u2013\u2014] )\W{0,3}(?:before|added|adds|removed|removes|replaced|renamed|moved|passed|extracted|updated|swapped"
    r"|split|introduced|changed|cleaned|refactored|simplified|surface|mark|propagate|re-?apply)\b",
    re.IGNORECASE,
)
"""Words of a finding about a change, which Git records."""

_DEFECT = re.compile(
    r"\b(?:bugs?|issues?|problems?|wrong(?:ly)?|incorrect(?:ly)?|fail(?:ed|ures?|ing)|crash(?:es|ed)?|broken|missing|unused|never called|"
    r"loses|lost|drops|dropped|destroys|silently|had|didn't|doesn't work|redundant|unnecessary)\b",
    re.IGNORECASE,
)
"""Words of a finding about a defect. It is outdated when the defect is fixed, usually in the same session."""

_UNNAMED = re.compile(
    r"\b(?:these|those) \w+|\b(?:this|that) (?:struct|function|code|file|fix|method|class|check|case|logic|value|test|field|type|section|call|path)\b"
    r"|\b(?:it|this|that|means|logic|is|are|example): |[.!?]: ",
    re.IGNORECASE,
)
"""Words that refer to something that a finding does not name: code shown next to it, or words before a colon."""

_UNSURE = re.compile(
    r"\bor (?:maybe|perhaps|it(?:'s|\u2019s| is) not even|is it)\b|\bi(?:'m|\u2019m| am) not sure\b", re.IGNORECASE
)
_ADDED_NAMES = re.compile(r" \([\w., -]+\)\Z")
_RIGHT_NOW = re.compile(r"\b(?:right now|at the moment|just now|this time)\b", re.IGNORECASE)

_PLACE_IN_CODE = re.compile(r"\.\w{1,5}:\d+|\blines? \d+|:\d+-\d+\b", re.IGNORECASE)
"""References to lines of a file by number. They are wrong after the next edit."""

_LINES = re.compile(
    r"(?P<file>\.\w{1,5}):\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*(?!\w)| ?\((?:at |on )?lines? \d+(?:[-\u2013]\d+)?(?:(?:, | and )\d+(?:[-\u2013]\d+)?)*\)"
)
"""Line numbers after a file name, or in brackets."""

MOST_POINTS = 3
"""The maximum number of semicolons in a finding: a finding with more is a list of notes."""

MOST_LEADS = 2
"""The maximum number of colons in a finding: a finding with more is a list of notes."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session's turns: maps the id of each turn to its exchange and to its text."""

    of_turn: dict[str, Exchange] = field(default_factory=dict)
    text: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> Session:
        """Group turns into exchanges."""
        placed = {turn.id: one for one in exchanges(turns) for turn in one.turns}
        return cls(placed, {turn.id: turn.text for turn in turns})


def passing(candidate: Candidate, session: Session) -> str:
    """Return why a typed statement only applies to its session, such as "is worded as a guess"; "" if it may last."""
    if candidate.origin is not Origin.USER:
        return ""
    if _is_presented(candidate, session):
        return QUOTES
    if _REPORT.match(candidate.content):
        return "reports what was just done or seen"
    if _RIGHT_NOW.search(candidate.content):
        return "is valid only for the moment"
    if _UNSURE.search(candidate.content):
        return "is worded as a guess"
    if _is_carried_out(candidate, session):
        return "was carried out in its session"
    return ""


def _is_presented(candidate: Candidate, session: Session) -> bool:
    """Whether a message introduces a sentence as somebody else's words."""
    before, found, _ = session.text.get(candidate.evidence.turn_id, "").partition(candidate.evidence.quote)
    return bool(found) and bool(_PRESENTED.search(f"{before[-2000:]}{found[:1]}"))


def is_general(said: str) -> bool:
    """Whether a statement is general: about all cases, or always true."""
    return bool(_STANDING.search(said))


def _is_carried_out(candidate: Candidate, session: Session) -> bool:
    """Whether a request names a file that its exchange edited, and is not general."""
    return not is_general(candidate.content) and names_edited(candidate, session)


def of_the_moment(candidate: Candidate, session: Session) -> str:
    """Return why a finding is short-lived, such as "contains line numbers"; "" if it may last."""
    said = candidate.content
    if _PLACE_IN_CODE.search(said):
        return "contains line numbers"
    if said.count(";") > MOST_POINTS or said.count(": ") > MOST_LEADS:
        return "is a list of notes"
    if _UNNAMED.search(said):
        return "refers to something that it does not name"
    if _CHANGE.search(said):
        return "is about a change"
    if names_edited(candidate, session):
        return "repeats what the edits after the same prompt show"
    return "is about a defect" if _DEFECT.search(said) else ""


def has_edits(candidate: Candidate, session: Session) -> bool:
    """Whether the exchange of a candidate edited files."""
    exchange = session.of_turn.get(candidate.evidence.turn_id)
    return exchange is not None and bool(exchange.files)


def without_lines(text: str) -> str:
    """Return a text without line numbers as in "x.py:42" or "(line 42)"; those within a sentence remain."""
    return _LINES.sub(lambda found: found["file"] or "", text)


def without_added_names(text: str) -> str:
    """Return a finding without the list of changed files that was added at its end."""
    return _ADDED_NAMES.sub("", text)


def names_lines(text: str) -> bool:
    """Whether a text refers to lines of a file by number, as in "x.py:42" or "lines 3 to 5"."""
    return bool(_PLACE_IN_CODE.search(text))


def carried_out(candidate: Candidate, session: Session) -> bool:
    """Whether a statement in an approved plan is outdated once the plan has been carried out."""
    said = candidate.content
    ends = (_CHANGE, _DEFECT, _UNNAMED, _PLACE_IN_CODE)
    return any(pattern.search(said) for pattern in ends) or names_edited(candidate, session)


def names_edited(candidate: Candidate, session: Session) -> bool:
    """Whether a statement names a file that its exchange edited; files listed after the statement don't count."""
    exchange = session.of_turn.get(candidate.evidence.turn_id)
    said = without_added_names(candidate.content).casefold()
    names = (PurePath(file).name.casefold() for file in exchange.files) if exchange is not None else ()
    return any(len(name) >= SHORTEST_NAME and name in said for name in names)
