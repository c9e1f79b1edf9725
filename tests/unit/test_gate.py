"""The gate: thresholds, and the rules that stand above confidence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture.gate import admit
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Decision, Evidence, Origin, Scope
from tests.support.gate import HEARD, Limits, candidate


@pytest.mark.parametrize(
    ("confidence", "decision"),
    [
        (1.0, Decision.AUTO),
        (0.9, Decision.AUTO),
        (0.1 * 9, Decision.AUTO),
        (0.89, Decision.REVIEW),
        (0.7, Decision.REVIEW),
        (0.69, Decision.DISCARD),
        (0.0, Decision.DISCARD),
        (float("nan"), Decision.DISCARD),
    ],
)
def test_thresholds_are_reached_by_their_own_value(confidence: float, decision: Decision) -> None:
    admission = admit(candidate(confidence), Limits(), heard=HEARD)
    assert admission.decision is decision
    assert 'says "decided"' in admission.reason


def test_the_thresholds_are_settings() -> None:
    assert admit(candidate(0.6), Limits(0.6, 0.2), heard=HEARD).decision is Decision.AUTO
    assert admit(candidate(0.9), Limits(0.95, 0.93), heard=HEARD).decision is Decision.DISCARD


def test_the_calibrated_confidence_counts() -> None:
    admission = admit(candidate(0.9), Limits(), heard=HEARD, confidence=0.75)
    assert (admission.decision, admission.confidence) == (Decision.REVIEW, 0.75)


@pytest.mark.parametrize("quote", ["", "  ", "We decided to fire thrice."])
def test_without_evidence_nothing_is_kept(quote: str) -> None:
    unproven = replace(candidate(1.0), evidence=Evidence(quote, "t1", "f", 0, 9))
    admission = admit(unproven, Limits(), heard=HEARD)
    assert admission.decision is Decision.DISCARD
    assert "evidence" in admission.reason


@pytest.mark.parametrize("kind", ["meta", "gossip", ""])
def test_a_kind_must_be_one_that_can_be_captured(kind: str) -> None:
    assert admit(candidate(1.0, kind), Limits(), heard=HEARD).decision is Decision.DISCARD


@pytest.mark.parametrize(
    ("origin", "kind", "decision"),
    [
        (Origin.TOOL, "learning", Decision.REVIEW),
        (Origin.TOOL, "decision", Decision.REVIEW),
        (Origin.TOOL, "preference", Decision.DISCARD),
        (Origin.TOOL, "lesson", Decision.DISCARD),
        (Origin.TEAMMATE, "decision", Decision.REVIEW),
        (Origin.TEAMMATE, "preference", Decision.DISCARD),
        (Origin.ASSISTANT, "preference", Decision.REVIEW),
        (Origin.ASSISTANT, "lesson", Decision.REVIEW),
        (Origin.ASSISTANT, "decision", Decision.AUTO),
        (Origin.USER, "preference", Decision.AUTO),
    ],
)
def test_trust_goes_by_origin(origin: Origin, kind: str, decision: Decision) -> None:
    assert admit(candidate(1.0, kind, origin), Limits(), heard=HEARD).decision is decision


def test_only_a_person_makes_it_hold_in_every_project() -> None:
    wide = replace(candidate(1.0, origin=Origin.ASSISTANT), scope=Scope.USER)
    assert admit(wide, Limits(), heard=HEARD).decision is Decision.REVIEW


@given(st.floats(), st.sampled_from(sorted(KINDS)), st.sampled_from(Origin), st.floats(0, 1), st.floats(0, 1))
def test_a_tool_is_never_believed_at_once(
    confidence: float, kind: str, origin: Origin, auto: float, review: float
) -> None:
    admission = admit(candidate(confidence, kind, origin), Limits(auto, review), heard=HEARD)
    assert admission.reason
    assert not (origin in (Origin.TOOL, Origin.TEAMMATE) and admission.decision is Decision.AUTO)
