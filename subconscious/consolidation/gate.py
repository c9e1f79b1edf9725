"""Decides which memories may be summarized together, and whether a summary is stored or waits for review."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

from subconscious.domain.model import Admission, Candidate, Decision, Memory, Origin, Scope
from subconscious.text.same_statement import DISTINCT, differences
from subconscious.text.words import content_words

PERSONAL = frozenset({"preference", "lesson"})
"""Kinds of memories that only a person can state."""

EXPIRY_DAYS = 7.0
"""Days after which a proposed summary expires."""

SHARED = 0.5
"""Two statements have the same subject if they share at least this part (0 to 1) of the shorter one's words."""

_NUMBER = re.compile(r"\d")


class Thresholds(Protocol):
    """The settings that the decision depends on."""

    @property
    def auto_threshold(self) -> float:
        """The confidence from which a candidate is stored without a review."""

    @property
    def consolidation_auto(self) -> float:
        """The similarity (cosine) of the sources above which a summary is stored without a review."""


def clash(one: str, other: str) -> bool:
    """Whether two statements with the same subject differ in a number, a negation, a name, a place or a direction.

    Such memories are not summarized together. Statements on different subjects may differ in all of these ways, because
    the summary contains each statement in its own words.
    """
    words = [_words(one), _words(other)]
    one_subject = len(words[0] & words[1]) >= SHARED * min(len(words[0]), len(words[1]))
    # A different modality, scope or tense is not a clash: a summary lists each statement in its own words.
    return one_subject and bool(differences(one, other) & DISTINCT)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text) if not _NUMBER.search(word)}


def admit(candidate: Candidate, sources: Sequence[Memory], cohesion: float, thresholds: Thresholds) -> Admission:
    """Return whether a summary is stored or waits for review, and why."""
    confidence = candidate.raw_confidence
    reservation = _reservation(candidate, sources, cohesion, thresholds)
    decision = Decision.REVIEW if reservation else Decision.AUTO
    return Admission(decision, confidence, f"{reservation or 'it summarizes similar memories'}: {candidate.reason}")


def _reservation(candidate: Candidate, sources: Sequence[Memory], cohesion: float, thresholds: Thresholds) -> str:
    """Return the reason why a person must approve a summary; "" if no approval is needed."""
    if candidate.origin.is_foreign:
        return "some of its words come from files, pages, command output or other people: a person must approve it"
    if candidate.origin is not Origin.USER and PERSONAL & {source.kind for source in sources}:
        return "some of it was not stated by a person: a person must approve it"
    if candidate.origin is not Origin.USER and candidate.scope is Scope.USER:
        return "only a person can apply it to every project"
    if cohesion <= thresholds.consolidation_auto:
        return f"the cosine similarity of its sources is not above {thresholds.consolidation_auto:.2f}"
    if found := _differences(sources):
        return f"its sources differ in: {', '.join(sorted(found))}"
    if candidate.raw_confidence < thresholds.auto_threshold:
        return f"confidence {candidate.raw_confidence:.2f} is below {thresholds.auto_threshold:.2f}"
    return ""


def _differences(sources: Sequence[Memory]) -> frozenset[str]:
    """Return the differences between the first two sources found to differ in meaning; an empty set if none do."""
    pairs = combinations(sources, 2)
    return next((found for one, other in pairs if (found := differences(one.content, other.content))), frozenset())
