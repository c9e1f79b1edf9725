"""Whether a summing up counts at once or waits for a person."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

from subconscious.model import Admission, Candidate, Decision, Memory, Origin, Scope
from subconscious.text.same_statement import differences

PERSONAL = frozenset({"preference", "lesson"})
"""Kinds that a person alone can state."""

EXPIRY_DAYS = 7.0
"""Days that a proposal waits."""


class Thresholds(Protocol):
    """What of the settings decides."""

    @property
    def auto_threshold(self) -> float:
        """Confidence from which a candidate is stored at once."""

    @property
    def consolidation_auto(self) -> float:
        """Cosine above which memories are summed up at once."""


def admit(candidate: Candidate, sources: Sequence[Memory], cohesion: float, thresholds: Thresholds) -> Admission:
    """Decide on a summing up of these sources."""
    confidence = candidate.raw_confidence
    reservation = _reservation(candidate, sources, cohesion, thresholds)
    decision = Decision.REVIEW if reservation else Decision.AUTO
    return Admission(
        decision, confidence, f"{reservation or 'it sums up what says nearly the same'}: {candidate.reason}"
    )


def _reservation(candidate: Candidate, sources: Sequence[Memory], cohesion: float, thresholds: Thresholds) -> str:
    """Say why a person must look at it, or ""."""
    if candidate.origin is Origin.TOOL:
        return "words of its come from files, pages or command output: a person must approve it"
    if candidate.origin is not Origin.USER and PERSONAL & {source.kind for source in sources}:
        return "a person did not state all that it says: a person must approve it"
    if candidate.origin is not Origin.USER and candidate.scope is Scope.USER:
        return "only a person can make it hold in every project"
    if cohesion <= thresholds.consolidation_auto:
        return f"a cosine above {thresholds.consolidation_auto:.2f} would sum up at once"
    if found := _differences(sources):
        return f"its sources differ in: {', '.join(sorted(found))}"
    if candidate.raw_confidence < thresholds.auto_threshold:
        return f"confidence {candidate.raw_confidence:.2f} is below {thresholds.auto_threshold:.2f}"
    return ""


def _differences(sources: Sequence[Memory]) -> frozenset[str]:
    """In what two of the sources differ that changes what they state."""
    pairs = combinations(sources, 2)
    return next((found for one, other in pairs if (found := differences(one.content, other.content))), frozenset())
