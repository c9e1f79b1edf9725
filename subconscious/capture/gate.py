"""Decides whether a candidate is stored, queued for a person, or discarded, with the reason."""

from __future__ import annotations

from typing import Protocol

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import BY_CONFIDENCE, Admission, Candidate, Decision, Origin, Scope

_PERSONAL = frozenset({"preference", "lesson"})
"""Kinds that instruct the model; only a person can state them."""

_ROUNDING = 1e-9


class Thresholds(Protocol):
    """The settings on which the decision depends."""

    @property
    def auto_threshold(self) -> float:
        """The minimum confidence of a candidate that is stored at once."""

    @property
    def review_threshold(self) -> float:
        """The minimum confidence of a candidate that is queued for review."""


def admit(
    candidate: Candidate, thresholds: Thresholds, *, heard: str | None = None, confidence: float | None = None
) -> Admission:
    """Return the decision on a candidate.

    ``heard`` is the text of the turn that must contain the quote; None if the extractor always quotes correctly, which
    a language model does not. ``confidence`` is the calibrated confidence; by default the raw one is used.
    """
    confidence = candidate.raw_confidence if confidence is None else confidence
    if refusal := _refusal(candidate, heard):
        return Admission(Decision.DISCARD, confidence, refusal)
    if is_below(confidence, thresholds.review_threshold):
        reason = f"{BY_CONFIDENCE}{confidence:.2f} is below {thresholds.review_threshold:.2f}"
        return Admission(Decision.DISCARD, confidence, _explained(reason, candidate), weak=True)
    if reservation := _reservation(candidate):
        return Admission(Decision.REVIEW, confidence, reservation)
    if confidence >= thresholds.auto_threshold - _ROUNDING:
        reason = f"confidence {confidence:.2f} reaches {thresholds.auto_threshold:.2f}"
        return Admission(Decision.AUTO, confidence, _explained(reason, candidate))
    reason = f"{BY_CONFIDENCE}{confidence:.2f} is below {thresholds.auto_threshold:.2f}"
    return Admission(Decision.REVIEW, confidence, _explained(reason, candidate))


def is_below(confidence: float, threshold: float) -> bool:
    """Whether a confidence is below a threshold by more than a rounding error. NaN counts as below."""
    return not confidence >= threshold - _ROUNDING


def _refusal(candidate: Candidate, heard: str | None) -> str:
    """Return why a candidate is discarded even with a high confidence; "" if the confidence decides."""
    quote = candidate.evidence.quote
    if not quote.strip():
        return "there is no evidence for it"
    if heard is not None and quote not in heard:
        return "its evidence is not in the transcript"
    if not candidate.content.strip() or not candidate.summary.strip():
        return "its text or summary is empty"
    if candidate.kind not in KINDS or candidate.kind == "meta":
        return f"{candidate.kind!r} is not a kind that can be captured"
    if candidate.origin.is_foreign and candidate.kind in _PERSONAL:
        return f"a {candidate.kind} can't come from files, pages, command output or other people"
    return ""


def _reservation(candidate: Candidate) -> str:
    """Return why a candidate must be reviewed even if its confidence is high; "" if the confidence decides."""
    if candidate.origin is Origin.TEAMMATE:
        return "another person shared it: a person must approve it"
    if candidate.origin is Origin.TOOL:
        return "its words come from files, pages or command output: a person must approve it"
    if candidate.origin is not Origin.USER and candidate.kind in _PERSONAL:
        return f"a {candidate.kind} that the person did not state: a person must approve it"
    if candidate.origin is not Origin.USER and candidate.scope is Scope.USER:
        return "only a person can apply it to every project"
    return ""


def _explained(reason: str, candidate: Candidate) -> str:
    return f"{reason}: {candidate.reason}" if candidate.reason else reason
