from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.tuned import tuned
from subconscious.decay import (
    DAY,
    IMPORTANCE,
    POLICIES,
    Facts,
    Terms,
    assess,
    days_until_due,
    due,
    effective_confidence,
    feedback_factor,
    patience,
    ranking_decay,
    stability,
    state_of,
)
from subconscious.domain.kinds import KINDS
from subconscious.memories.fading import terms_of
from subconscious.settings.settings import Settings
from tests.support.values import NOON, make_memory

TERMS = Terms()
FORMULA = Terms(patience=0)
"""The formula alone, without the time that a kind is spared."""


def _facts(**changes: Any) -> Facts:
    return replace(Facts("decision", NOON), **changes)


def left(policy: str, days: float, terms: Terms = TERMS, **changes: Any) -> float:
    facts = _facts(**changes)
    return assess(POLICIES[policy], facts, NOON + days * DAY, terms).value


def days_left(policy: str, terms: Terms = TERMS, **changes: Any) -> int | None:
    facts = _facts(**changes)
    return days_until_due(POLICIES[policy], facts, NOON, terms)


FACTS = st.builds(
    Facts,
    kind=st.sampled_from([*KINDS, "a kind of tomorrow"]),
    alive_at=st.floats(0, 4e9),
    touched_at=st.floats(0, 4e9),
    uses=st.integers(0, 10_000),
    recurrence=st.integers(1, 1000),
    citations=st.integers(0, 100),
    superseded=st.booleans(),
    pinned=st.booleans(),
    importance=st.sampled_from(sorted(IMPORTANCE)),
    stability=st.floats(0.05, 4),
)
WEIGHT = st.floats(0, 10)
ANY_TERMS = st.builds(
    Terms,
    recency=WEIGHT,
    frequency=WEIGHT,
    relevance=WEIGHT,
    supersession=WEIGHT,
    half_lives=st.dictionaries(st.sampled_from(list(KINDS)), st.floats(0, 1e4)),
    below=st.floats(0, 1),
    patience=st.floats(0, 10),
    rate=st.floats(0, 10),
    stale_days=st.floats(0.1, 1e4),
    stale_factor=st.floats(0, 1),
)


@pytest.mark.parametrize("policy", POLICIES)
@given(facts=FACTS, terms=ANY_TERMS, now=st.floats(-1e9, 5e9), later=st.floats(0, 1e10))
def test_bounded_and_never_rising_without_a_use(
    policy: str, facts: Facts, terms: Terms, now: float, later: float
) -> None:
    before, after = (assess(POLICIES[policy], facts, at, terms).value for at in (now, now + later))
    assert 0 <= after <= before <= 1


@pytest.mark.parametrize("policy", POLICIES)
@given(facts=FACTS, terms=ANY_TERMS, back=st.floats(0, 1e10))
def test_a_clock_that_jumps_back_makes_nothing_better_than_new(
    policy: str, facts: Facts, terms: Terms, back: float
) -> None:
    touched = max(facts.alive_at, facts.touched_at)
    new = assess(POLICIES[policy], replace(facts, alive_at=touched), touched, terms).value
    assert assess(POLICIES[policy], facts, facts.alive_at - back, terms).value <= new


@pytest.mark.parametrize("policy", POLICIES)
@given(facts=FACTS, terms=ANY_TERMS, now=st.floats(0, 5e9))
def test_what_never_decays_does_not(policy: str, facts: Facts, terms: Terms, now: float) -> None:
    verdict = assess(POLICIES[policy], facts, now, terms)
    spared = facts.pinned or facts.importance == "constitutional" or terms.half_life(facts.kind) is None
    if spared and (facts.pinned or facts.importance != "deprecated"):
        assert verdict.value == 1
        assert verdict.why
        assert not due(POLICIES[policy], facts, now, terms)


@pytest.mark.parametrize("policy", POLICIES)
@given(facts=FACTS, terms=ANY_TERMS, now=st.floats(0, 5e9), later=st.floats(0, 1e10))
def test_a_due_memory_stays_due(policy: str, facts: Facts, terms: Terms, now: float, later: float) -> None:
    if due(POLICIES[policy], facts, now, terms):
        assert due(POLICIES[policy], facts, now + later, terms)


@given(facts=FACTS, days=st.floats(0, 4000))
def test_weighted_is_the_sum_that_the_specification_writes(facts: Facts, days: float) -> None:
    now = facts.alive_at + days * DAY
    touched = max(facts.touched_at, facts.alive_at)
    by_hand = (
        0.4 * math.e ** (-days / 30)
        + 0.3 * min(1, math.log(1 + facts.uses) / math.log(21))
        + 0.2 * math.e ** (-max(0.0, now - touched) / 86400 / 30)
        + 0.1 * (not facts.superseded)
    )
    verdict = assess(POLICIES["weighted"], facts, now, TERMS)
    if not verdict.why:
        assert verdict.value == pytest.approx(by_hand, abs=1e-9)


@given(facts=FACTS, days=st.floats(0, 4000))
def test_composite_is_the_product_that_the_specification_writes(facts: Facts, days: float) -> None:
    row = KINDS.get(facts.kind)
    half_life = row.half_life if row else 180
    verdict = assess(POLICIES["composite"], facts, facts.alive_at + days * DAY, TERMS)
    if verdict.why:
        return
    assert half_life
    # FSRS states R over a stability S at which R = .9; with S = (19/243) h it is a half at h.
    stability_of = half_life * facts.stability * 19 / 243
    recalled = 1 / math.sqrt(1 + (0.9 ** (1 / -0.5) - 1) * days / stability_of)
    weight = {"critical": 1.5, "important": 1.2, "normal": 1.0, "temporary": 0.8}[facts.importance]
    by_hand = recalled * min(1.5, 1 + 0.05 * facts.uses) * weight
    by_hand *= 1.2 if facts.kind == "pattern" or facts.recurrence >= 3 else 1
    by_hand *= 1.1 if facts.citations else 1
    assert verdict.value == pytest.approx(min(1, by_hand), abs=1e-6)


@pytest.mark.parametrize("kind", [kind for kind, row in KINDS.items() if row.half_life])
def test_half_is_left_after_a_half_life(kind: str) -> None:
    half_life = KINDS[kind].half_life
    assert half_life
    half = 0.6 if kind == "pattern" else 0.5
    assert left("composite", half_life, kind=kind) == pytest.approx(half)
    assert left("composite", 10, Terms(half_lives={kind: 10}), kind=kind) == pytest.approx(half)


def test_values_by_hand() -> None:
    assert left("weighted", 0) == pytest.approx(0.7)
    assert left("weighted", 30, uses=20) == pytest.approx(0.6 / math.e + 0.4)
    assert left("weighted", 60, touched_at=NOON + 60 * DAY) == pytest.approx(0.4 * math.exp(-2) + 0.3)
    assert left("weighted", 0, superseded=True) == pytest.approx(0.6)
    assert left("composite", 0, uses=100) == 1.0
    assert left("composite", 540) == pytest.approx(1 / math.sqrt(10))
    assert left("exp30", 30) == pytest.approx(1 / math.e)
    assert left("exp30", 7, kind="progress") == pytest.approx(1 / math.e)
    assert left("exp30", 1, importance="temporary") == pytest.approx(1 / math.e)
    assert left("exp001", 10) == pytest.approx(math.exp(-0.1))
    assert left("exp001", 91) == pytest.approx(math.exp(-0.91) * 0.5)
    assert left("weighted", 1, pinned=True) == left("weighted", 9999, kind="meta") == 1.0
    assert left("weighted", 0, importance="deprecated") == 0.0


def test_the_day_on_which_an_untouched_memory_is_archived() -> None:
    """exp(-days/30) < 1/3 after 32.96 days; a kind is spared for its half-life, a superseded memory is not."""
    assert days_left("weighted", FORMULA) == 33
    assert days_left("weighted", FORMULA, superseded=True) == 21
    by_kind = {kind: days_left("weighted", kind=kind) for kind in ("progress", "blocker", "decision", "lesson", "meta")}
    assert by_kind == {"progress": 33, "blocker": 33, "decision": 180, "lesson": 365, "meta": None}
    assert days_left("weighted", superseded=True) == 21
    assert days_left("weighted", importance="temporary") == 144
    assert days_left("weighted", stability=0.5) == 90
    assert days_left("weighted", pinned=True) is None
    assert days_left("weighted", importance="deprecated") == 0


def test_often_used_memories_never_fade_by_the_formula() -> None:
    """.3 x log(1 + 7) / log(21) + .1 is .305: seven uses are enough for ever, six (.292) are not."""
    assert days_left("weighted", FORMULA, uses=6) == 129
    assert days_left("weighted", FORMULA, uses=7) is None


def test_a_memory_with_active_files_stays_at_any_age() -> None:
    """.2 + .1 is just above .3: as long as somebody works there, it is not archived."""
    for days in (100, 1000, 7000):
        facts = Facts("decision", NOON, touched_at=NOON + days * DAY)
        assert not due(POLICIES["weighted"], facts, NOON + days * DAY, FORMULA)
        assert due(POLICIES["weighted"], facts, NOON + (days + 33) * DAY, FORMULA)


def test_patience_is_the_half_life_as_corrections_and_importance_leave_it() -> None:
    facts = Facts("decision", NOON, importance="important", stability=0.5)
    assert patience(facts, TERMS) == pytest.approx(180 * 0.5 * 1.2)
    assert patience(facts, FORMULA) == 0


def test_weights_that_do_not_add_up_are_a_mean() -> None:
    assert left("weighted", 0, Terms(recency=8, frequency=6, relevance=4, supersession=2)) == pytest.approx(0.7)
    assert left("weighted", 9999, Terms(recency=0, frequency=0, relevance=0, supersession=0)) == 1.0


def test_states_depend_on_the_remaining_value() -> None:
    values = (1, 0.8, 0.79, 0.25, 0.24, 0.05, 0.04, 0)
    assert [state_of(value) for value in values] == [
        *("hot", "hot", "warm", "warm", "cold", "cold", "dormant", "dormant")
    ]
    assert state_of(1, archived=True) == "archived"


def test_terms_are_those_of_the_settings() -> None:
    chosen = terms_of(tuned(half_lives={"progress": 3, "lesson": 0}, archive_below=0.2, decay_recency=0.7))
    assert (chosen.below, chosen.recency, chosen.patience) == (0.2, 0.7, 1.0)
    assert (chosen.half_life("progress"), chosen.half_life("lesson"), chosen.half_life("decision")) == (3, None, 180)
    assert terms_of(Settings()) == TERMS


@pytest.mark.parametrize("half_lives", [{"progres": 3}, {"progress": -1}, {"progress": float("inf")}])
def test_half_lives_that_make_no_sense_are_refused(half_lives: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="half_lives"):
        Settings(half_lives=half_lives)


def fade(days: float, **changes: Any) -> float:
    return ranking_decay(make_memory(**changes), NOON + days * DAY, rate=0.01, stale_days=90, stale_factor=0.5)


def test_the_ranking_uses_the_last_use() -> None:
    assert fade(10) == pytest.approx(math.exp(-0.1))
    assert fade(91) == pytest.approx(math.exp(-0.91) * 0.5)
    assert fade(100, last_used_at=NOON + 99 * DAY) == pytest.approx(math.exp(-0.01))
    assert fade(10_000, pinned=True) == 1.0


def test_outcomes_move_confidence_as_the_specification_says() -> None:
    assert effective_confidence(0.8, {"accepted": 1}) == pytest.approx(0.84)
    assert effective_confidence(0.8, {"modified": 2}) == pytest.approx(0.722)
    assert effective_confidence(0.8, {"rejected": 1, "accepted": 1}) == pytest.approx(0.672)
    assert effective_confidence(0.8, {"rejected": 50}) == 0.1
    assert effective_confidence(0.8, {"accepted": 50}) == 1.0
    assert effective_confidence(0.8, {"rejected": 5}, pinned=True) == 0.8
    assert effective_confidence(0.05, {"echo": 3}) == 0.05


@given(st.dictionaries(st.sampled_from(["accepted", "modified", "rejected", "echo"]), st.integers(0, 50)))
def test_the_rank_moves_a_little_only(counts: dict[str, int]) -> None:
    assert 0.85 <= feedback_factor(counts, 0.3) <= 1.06 + 1e-9
    assert feedback_factor({}, 0.3) == feedback_factor(counts, 0.0) == feedback_factor(counts, 0.3, pinned=True) == 1.0


def test_corrections_halve_stability_and_their_replacement_gains() -> None:
    assert stability(0, 0) == 1.0
    assert stability(1, 0) == 0.5
    assert stability(0, 2) == pytest.approx(1.44)
    assert (stability(100, 0), stability(0, 100)) == (0.05, 4.0)
