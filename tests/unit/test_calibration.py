"""Calibration: the properties that the gate relies on."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.calibration.curves import (
    UNCALIBRATED,
    Calibration,
    Outcome,
    curve_of,
    fit,
    monotone,
    tenth_of,
    weight_against,
)
from subconscious.capture.gate import admit
from subconscious.domain.model import Decision, Origin
from tests.support.gate import HEARD, Limits, candidate

PRIOR = 30.0

confidences = st.floats(0, 1)
outcomes = st.lists(st.builds(Outcome, st.just("x"), confidences, st.booleans(), st.floats(0.01, 1)), max_size=60)


def decided(stated: float, right: int, wrong: int) -> list[Outcome]:
    return [Outcome("x", stated, True)] * right + [Outcome("x", stated, False)] * wrong


@given(outcomes, confidences, confidences)
def test_more_confidence_never_means_less(known: list[Outcome], one: float, other: float) -> None:
    curve = curve_of(known, PRIOR)
    low, high = sorted((one, other))
    assert curve.at(low) <= curve.at(high) + 1e-9


@given(outcomes, confidences, st.floats(0.5, 100))
def test_it_stays_a_probability(known: list[Outcome], stated: float, prior: float) -> None:
    assert 0.0 <= curve_of(known, prior).at(stated) <= 1.0


@given(confidences)
def test_without_outcomes_an_extractor_is_taken_at_its_word(stated: float) -> None:
    assert curve_of([], PRIOR).at(stated) == pytest.approx(stated)
    assert UNCALIBRATED.at("x", stated) == stated
    assert fit(decided(0.9, 0, 50), PRIOR).at("another", stated) == stated


@given(confidences.filter(lambda stated: stated > 0.01), st.floats(0, 1))
def test_many_outcomes_outweigh_the_stated_confidence(stated: float, rate: float) -> None:
    right = round(rate * 100_000)
    known = [Outcome("x", stated, True, right), Outcome("x", stated, False, 100_000 - right)]
    assert curve_of(known, PRIOR).at(stated) == pytest.approx(rate, abs=0.01)


def test_three_change_little_and_a_hundred_much() -> None:
    assert curve_of(decided(0.92, 0, 3), PRIOR).at(0.92) == pytest.approx(0.92, abs=0.1)
    assert curve_of(decided(0.92, 20, 80), PRIOR).at(0.92) < 0.5
    assert curve_of(decided(0.75, 97, 3), PRIOR).at(0.75) > 0.9


def test_right_captures_are_not_lowered() -> None:
    for right in range(1, 40):
        assert curve_of(decided(0.9, right, 0), PRIOR).at(0.9) >= 0.9


def test_the_observed_rate_is_reported_by_tenths() -> None:
    tenths = curve_of([*decided(0.95, 3, 1), *decided(0.71, 1, 1)], PRIOR).tenths
    assert [(tenth.low, tenth.samples, tenth.observed) for tenth in tenths if tenth.samples] == [
        (0.7, 2, 0.5),
        (0.9, 4, 0.75),
    ]
    assert [tenth.observed for tenth in tenths if not tenth.samples] == [None] * 8


@pytest.mark.parametrize(("stated", "tenth"), [(0.0, 0), (0.1, 1), (0.3, 3), (0.7, 7), (0.899, 8), (0.9, 9), (1.0, 9)])
def test_a_tenth_begins_at_its_own_value(stated: float, tenth: int) -> None:
    assert tenth_of(stated) == tenth


@given(st.lists(st.tuples(confidences, st.floats(0.1, 50)), min_size=1, max_size=12))
def test_pooling_keeps_the_weighted_mean_and_the_order(pairs: list[tuple[float, float]]) -> None:
    values, weights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    pooled = monotone(values, weights)
    assert all(one <= other + 1e-12 for one, other in pairwise(pooled))
    assert sum(v * w for v, w in zip(pooled, weights, strict=True)) == pytest.approx(
        sum(v * w for v, w in zip(values, weights, strict=True))
    )


@given(outcomes, confidences, st.sampled_from(["decision", "preference", "lesson", "learning"]))
def test_no_calibration_takes_a_tool_past_the_gates_rules(known: list[Outcome], stated: float, kind: str) -> None:
    worth = Calibration({"test": curve_of(known, PRIOR)}).at("test", stated)
    said = replace(candidate(stated, kind, Origin.TOOL))
    assert admit(said, Limits(), heard=HEARD, confidence=worth).decision is not Decision.AUTO


KINDS = ("decision", "preference")
many = st.lists(
    st.builds(Outcome, st.just("x"), confidences, st.booleans(), st.floats(0.01, 1), st.sampled_from(KINDS)),
    max_size=60,
)
acts = st.lists(st.tuples(confidences, st.booleans(), st.sampled_from(KINDS)), min_size=1, max_size=30)
THRESHOLDS = (0.7, 0.9)
SHARE = 1.0 / (PRIOR + 1.0)
"""What one outcome weighs beside the prior."""

BEYOND = 1.06
"""Beyond the middle of the last tenth the curve goes on in proportion, and with it what moves it."""


def act_of(decided_together: list[tuple[float, bool, str]]) -> list[Outcome]:
    return [Outcome("x", stated, right, 1.0, kind, "together") for stated, right, kind in decided_together]


@given(many, acts, confidences, st.sampled_from(["", *KINDS]))
def test_no_act_moves_anything_by_more_than_its_share(
    known: list[Outcome], together: list[tuple[float, bool, str]], stated: float, kind: str
) -> None:
    before = fit(known, PRIOR, THRESHOLDS).at("x", stated, kind)
    after = fit([*known, *act_of(together)], PRIOR, THRESHOLDS).at("x", stated, kind)
    assert abs(after - before) <= BEYOND * SHARE + 1e-9


@given(
    st.lists(st.builds(Outcome, st.just("x"), confidences, st.just(True), st.floats(0.01, 1), st.sampled_from(KINDS))),
    acts,
    confidences,
    st.sampled_from(["", *KINDS]),
)
def test_no_single_act_lowers_a_faultless_extractor_below_a_threshold(
    right: list[Outcome], together: list[tuple[float, bool, str]], stated: float, kind: str
) -> None:
    worth = fit([*right, *act_of(together)], PRIOR, THRESHOLDS).at("x", stated, kind)
    assert all(worth >= limit - 1e-9 for limit in THRESHOLDS if stated >= limit)


@given(st.integers(1, 200), st.sampled_from([0.9, 0.92, 0.94]), st.booleans())
def test_a_bulk_act_teaches_as_one(size: int, stated: float, right: bool) -> None:
    bulk = [Outcome("x", stated, right, 1.0, "decision", "together")] * size
    single = [Outcome("x", stated, right, 1.0, "decision", "alone")]
    one, other = (fit(known, PRIOR, THRESHOLDS) for known in (bulk, single))
    for place in range(11):
        assert one.at("x", place / 10, "decision") == pytest.approx(other.at("x", place / 10, "decision"))


@given(many, confidences, confidences, st.sampled_from(["", *KINDS]))
def test_more_confidence_never_means_less_for_a_kind_either(
    known: list[Outcome], one: float, other: float, kind: str
) -> None:
    found = fit(known, PRIOR, THRESHOLDS)
    low, high = sorted((one, other))
    assert 0.0 <= found.at("x", low, kind) <= found.at("x", high, kind) + 1e-9 <= 1.0 + 1e-6


def test_a_kind_has_its_own_curve_with_the_extractors_as_prior() -> None:
    wrong = [Outcome("x", 0.92, False, kind="preference")] * 60
    right = [Outcome("x", 0.92, True, kind="decision")] * 300
    found = fit([*wrong, *right], PRIOR, THRESHOLDS)
    assert found.at("x", 0.92, "preference") < 0.7
    assert found.at("x", 0.92, "decision") >= 0.9
    assert found.at("x", 0.92, "lesson") == found.at("x", 0.92)


def test_several_decisions_against_it_still_end_automatic_capture() -> None:
    assert fit(decided(0.92, 0, 1), PRIOR, THRESHOLDS).at("x", 0.92) >= 0.9
    assert fit(decided(0.92, 0, 6), PRIOR, THRESHOLDS).at("x", 0.92) < 0.9


REMOVED_WITH_ANOTHER = [
    "it was derived from a removed memory: not needed",
    "it rested on what went: not needed",
]
"""Reasons that are stored for summaries of removed memories, now and by earlier versions."""


@pytest.mark.parametrize("reason", REMOVED_WITH_ANOTHER)
def test_a_summary_removed_with_its_source_is_not_wrong(reason: str) -> None:
    assert weight_against(reason) == 0.0


@pytest.mark.parametrize("reason", ["outdated", "no longer holds", "we moved off Redis", "a duplicate", "veraltet"])
def test_outdated_is_not_wrong(reason: str) -> None:
    assert weight_against(reason) == weight_against(reason, 0.1) == 0.0


@pytest.mark.parametrize("reason", ["wrong", "I never said that", "that was wrong, and is outdated too"])
def test_wrong_is_wrong_at_any_age(reason: str) -> None:
    assert weight_against(reason) == weight_against(reason, 29.0) == 1.0


@given(st.floats(0, 30), st.floats(0, 30))
def test_forgetting_without_a_reason_counts_less_the_older_the_memory(one: float, other: float) -> None:
    young, old = sorted((one, other))
    assert weight_against("", old) <= weight_against("", young) <= 1.0
    assert weight_against("", 29.0) < 0.01
