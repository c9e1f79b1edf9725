"""Cohorts: memories whose facts differ only in when they were last alive, so that few of them have to be assessed.

No factor rises with time, so within a cohort the value falls with age: the oldest are due first and have the lowest
values. Counting takes a binary search for each cohort instead of an assessment for each memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from operator import itemgetter

from subconscious.decay.facts import Facts, Terms, days_since
from subconscious.decay.policies import STATES, Policy, Verdict, assess, due, patience

Place = tuple[float, float, int]
"""The place of a memory in an order: days that it is certainly kept, value, id."""


@dataclass(frozen=True, slots=True)
class Member:
    """One memory of a cohort with its decay."""

    id: int
    facts: Facts
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Cohort:
    """Memories with the same facts; ``members`` are the times when they were last alive and their ids, oldest first."""

    facts: Facts
    members: Sequence[tuple[float, int]]

    def facts_at(self, index: int) -> Facts:
        """Return the facts of one member."""
        return replace(self.facts, alive_at=self.members[index][0])


def count_due(policy: Policy, cohort: Cohort, now: float, terms: Terms) -> int:
    """Return how many members are due. They are the oldest ones."""
    return bisect_left(
        range(len(cohort.members)), True, key=lambda index: not due(policy, cohort.facts_at(index), now, terms)
    )


def count_states(policy: Policy, cohorts: Iterable[Cohort], now: float, terms: Terms) -> dict[str, int]:
    """Return how many members are in each state."""
    counts = {name: 0 for name, _ in STATES}
    for cohort in cohorts:
        value = cache(lambda index, one=cohort: assess(policy, one.facts_at(index), now, terms).value)
        end = len(cohort.members)
        for name, least in STATES:
            start = bisect_left(range(end), least, key=value)
            counts[name] += end - start
            end = start
    return counts


def in_order(
    policy: Policy, cohort: Cohort, indexes: Iterable[int], now: float, terms: Terms
) -> Iterator[tuple[Place, Member]]:
    """Yield members, oldest first, in the order of their places, which oldest-first is except among equals."""
    kept = patience(cohort.facts, terms)

    def placed(index: int) -> tuple[Place, Member]:
        facts = cohort.facts_at(index)
        member = Member(cohort.members[index][1], facts, assess(policy, facts, now, terms))
        return (max(0.0, kept - days_since(facts.alive_at, now)), member.verdict.value, member.id), member

    for _, equals in groupby(map(placed, indexes), key=lambda pair: pair[0][:2]):
        yield from sorted(equals, key=itemgetter(0))
