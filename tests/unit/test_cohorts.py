"""Cohorts give the same results as assessing each memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.decay import (
    DAY,
    IMPORTANCE,
    POLICIES,
    Cohort,
    Facts,
    Terms,
    assess,
    can_decay,
    days_until_due,
    due,
    state_of,
)
from subconscious.memories.fading_preview import stand
from tests.support.values import NOON

LIMIT = 5

FACTS = st.builds(
    Facts,
    kind=st.sampled_from(("decision", "progress", "blocker", "meta")),
    # A few values each, so that cohorts have several members, equal ones among them. Some are of tomorrow.
    alive_at=st.integers(-8, 1000).map(lambda days: NOON - days * DAY / 4),
    touched_at=st.sampled_from((0.0, NOON - 20 * DAY)),
    uses=st.sampled_from((0, 3)),
    superseded=st.booleans(),
    pinned=st.sampled_from((False, False, False, True)),
    importance=st.sampled_from(("normal", "normal", *IMPORTANCE)),
    stability=st.sampled_from((1.0, 0.5)),
)
TERMS = st.sampled_from((Terms(), Terms(patience=0), Terms(below=0.9), Terms(half_lives={"decision": 9000.0})))


def cohorts_of(known: Mapping[int, Facts]) -> list[Cohort]:
    members = defaultdict(list)
    for number, facts in known.items():
        members[replace(facts, alive_at=0.0)].append((facts.alive_at, number))
    return [Cohort(facts, sorted(found)) for facts, found in members.items()]


@given(
    st.lists(FACTS, max_size=40).map(lambda found: dict(enumerate(found, 1))), TERMS, st.sampled_from(list(POLICIES))
)
def test_a_standing_is_what_assessing_each_memory_gives(known: dict[int, Facts], terms: Terms, name: str) -> None:
    policy = POLICIES[name]
    values = {number: assess(policy, facts, NOON, terms).value for number, facts in known.items()}
    gone = [number for number, facts in known.items() if due(policy, facts, NOON, terms)]
    states = Counter(state_of(assess(POLICIES["composite"], facts, NOON, terms).value) for facts in known.values())
    found = stand(cohorts_of(known), policy, terms, NOON, LIMIT)
    order = sorted(gone, key=lambda number: (values[number], known[number].alive_at, number))
    assert [one.id for one in found.due] == order[:LIMIT]
    assert all((one.facts, one.verdict.value) == (known[one.id], values[one.id]) for one in found.due)
    assert (found.total, found.active) == (len(gone), len(known))
    assert {state: number for state, number in found.states.items() if number} == states
    later = {
        number: days_until_due(policy, facts, NOON, terms)
        for number, facts in known.items()
        if number not in gone and can_decay(facts, terms)
    }
    # No more than are listed are examined in full here, so all are found.
    first = sorted((days, number) for number, days in later.items() if days is not None)[:LIMIT]
    assert list(found.coming.values()) == [days for days, _ in first]
    assert all(later[number] == days for number, days in found.coming.items())


@given(FACTS, TERMS, st.sampled_from(list(POLICIES)))
def test_the_day_is_the_first_on_which_it_is_due(facts: Facts, terms: Terms, name: str) -> None:
    policy = POLICIES[name]
    days = days_until_due(policy, facts, NOON, terms)
    if days is None:
        assert not due(policy, facts, NOON + 20 * 365 * DAY, terms)
        return
    assert due(policy, facts, NOON + days * DAY, terms)
    assert days == 0 or not due(policy, facts, NOON + (days - 1) * DAY, terms)


def test_a_long_list_needs_few_assessments(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 memories of one cohort: a search, not an assessment for each."""
    from subconscious.decay import cohorts, policies

    calls: list[Facts] = []

    def counted(policy: policies.Policy, facts: Facts, now: float, terms: Terms) -> policies.Verdict:
        calls.append(facts)
        return assess(policy, facts, now, terms)

    monkeypatch.setattr(cohorts, "assess", counted)
    monkeypatch.setattr(policies, "assess", counted)
    members = sorted((NOON - number * DAY / 24, number) for number in range(10_000))
    found = stand([Cohort(Facts("decision", 0.0), members)], POLICIES["weighted"], Terms(), NOON, 30)
    assert found.active == 10_000
    assert found.total > 1000
    assert len(calls) < 500
