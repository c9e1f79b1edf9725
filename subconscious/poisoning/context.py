"""Checks that need context: the origin of the words, the stored memories, and rejected statements."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from subconscious.domain.model import Candidate, Finding, Level, Memory, Origin, Threat, Verdict
from subconscious.poisoning.views import views
from subconscious.store.poison import Lesson
from subconscious.text.same_statement import CONTRARY, differences, same_statement
from subconscious.text.words import has_letters

_CLAIM = re.compile(
    r"\b(?:the |our |this )?(?:user|human|customer|owner|maintainer|developer) (?:has |have |had |explicitly |always "
    r"|already |also |clearly |previously ){0,3}(?:said|says|wants?|prefers?|asked|asks|decided|approved|agreed"
    r"|confirmed|instructed|told|insists?|requested|wishes|expects?|authori[sz]ed|likes?|requires?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
ALIKE = 0.5
"""Two statements have the same subject if the longer one contains this share of the shorter one's words."""

RECALLED = 0.6
"""One text repeats another if both have at least this share of the shorter text's hashes."""

TOGETHER = 3
"""The number of words per hash."""

MOST_PRINTS = 400


def with_context(
    candidate: Candidate, verdict: Verdict, known: Sequence[Memory] = (), lessons: Sequence[Lesson] = ()
) -> Verdict:
    """Return the verdict extended by the findings that need context: stored memories and rejected statements."""
    found = [
        finding
        for finding in (_mismatch(candidate), _contradiction(candidate, known), _refused(candidate, lessons))
        if finding is not None
    ]
    if not found:
        return verdict
    level = max((verdict.level, *(finding.level for finding in found)), key=lambda one: one.rank)
    return replace(verdict, level=level, findings=(*verdict.findings, *found))


def _mismatch(candidate: Candidate) -> Finding | None:
    """Return a finding if the text of a tool or a teammate claims to know what the user wants."""
    claim = _CLAIM.search(candidate.content) if candidate.origin.is_foreign else None
    if claim is None:
        return None
    why = "a text that the user did not write claims what the user said or wants"
    return Finding("claims-the-user", Threat.MISMATCH, Level.MEDIUM, why, "content", *claim.span())


def _contradiction(candidate: Candidate, known: Iterable[Memory]) -> Finding | None:
    """Return a finding if a statement contradicts a memory of a more trusted origin."""
    for memory in known:
        trusted = memory.origin.distrust < candidate.origin.distrust
        if trusted and contradicts(candidate.content, memory.content):
            why = f"it contradicts memory {memory.id}, which a more trusted source stated"
            return Finding("contradicts", Threat.CONTRADICTION, Level.MEDIUM, why, "content", 0, len(candidate.content))
    return None


def contradicts(one: str, other: str) -> bool:
    """Whether two statements are about the same subject and can't both be true."""
    return has_letters(one) and has_letters(other) and _alike(one, other) and _contrary(one, other)


def _alike(one: str, other: str) -> bool:
    words = [set(_WORD.findall(text.casefold())) for text in (one, other)]
    return len(words[0] & words[1]) >= ALIKE * max(1, min(map(len, words)))


def _contrary(one: str, other: str) -> bool:
    """Whether one statement contradicts the other. A different name or place is not a contradiction."""
    return bool(differences(one, other) & CONTRARY)


def _refused(candidate: Candidate, lessons: Iterable[Lesson]) -> Finding | None:
    if candidate.origin is Origin.USER:
        return None  # a person may change their mind
    mine = frozenset(prints(candidate.content))
    for lesson in lessons:
        if lesson.prints and _repeats(candidate.content, mine, lesson):
            why = "it repeats a statement that you rejected before"
            return Finding(
                f"lesson-{lesson.id}", Threat(lesson.threat), Level.MEDIUM, why, "content", 0, len(candidate.content)
            )
    return None


def _repeats(content: str, mine: frozenset[int], lesson: Lesson) -> bool:
    """Whether a text repeats a rejected statement: in the same runs of words, or with the same meaning.

    The negation of a rejected statement is allowed; a double negation ("enable", "never disable") is not. Another
    number, name or place makes no difference, because an attacker changes these first.
    """
    if len(differences(content, lesson.content) & _TURNED) == 1:
        return False
    shared = len(mine & lesson.prints) >= RECALLED * min(len(lesson.prints), max(len(mine), 1))
    return shared or bool(lesson.content and same_statement(content, lesson.content, cosine=1.0))


_TURNED = frozenset(("negation", "opposite"))


def prints(text: str) -> list[int]:
    """Return the hashes of all runs of three words in a text, without its disguises; a shorter text has one hash."""
    words = [word.casefold() for word in _WORD.findall(views(text)[0].text)]
    runs = [words[at : at + TOGETHER] for at in range(max(1, len(words) - TOGETHER + 1))] if words else []
    return sorted({zlib.crc32(" ".join(run).encode("utf-8", "replace")) for run in runs})[:MOST_PRINTS]
