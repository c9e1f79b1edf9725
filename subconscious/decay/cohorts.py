"""Cohorts: groups of memories with equal facts except for the time of their last use.

No factor rises with time, so within a cohort older memories have no higher values and are due first. Counting thus
takes one binary search for each cohort, which assesses few memories, instead of one assessment for each memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from subconscious.decay.facts import Facts, Terms, days_since
from subconscious.decay.policies import STATES, Policy, Verdict, assess, due, patience

Place = tuple[float, float, float, int]
"""A memory's sort key: the days for which it is certainly kept, its value, its ``Facts.alive_at``, its id.

Many memories can have the same value, such as deprecated ones. Of these, the oldest is archived first.
"""


@dataclass(frozen=True, slots=True)
class Member:
    """One memory of a cohort, with its decay."""

    id: int
    facts: Facts
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Cohort:
    """Memories with equal facts.

    ``members`` are pairs of a memory's ``Facts.alive_at`` and its id, in ascending order: oldest first.
    """

    facts: Facts
    members: Sequence[tuple[float, int]]

    def facts_at(self, index: int) -> Facts:
        """Return the facts of the member at ``index``."""
        return replace(self.facts, alive_at=self.members[index][0])


def count_due(policy: Policy, cohort: Cohort, now: float, terms: Terms) -> int:
    """Return how many members of a cohort are due to be archived; these are always its oldest members."""
    return bisect_left(
        range(len(cohort.members)), True, key=lambda index: not due(policy, cohort.facts_at(index), now, terms)
    )


def count_states(policy: Policy, cohorts: Iterable[Cohort], now: float, terms: Terms) -> dict[str, int]:
    """Return how many members of all cohorts are in each state."""
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
    """Yield the members at ``indexes`` with their sort keys; the keys ascend if the indexes do."""
    kept = patience(cohort.facts, terms)
    for index in indexes:
        facts = cohort.facts_at(index)
        member = Member(cohort.members[index][1], facts, assess(policy, facts, now, terms))
        spared = max(0.0, kept - days_since(facts.alive_at, now))
        yield (spared, member.verdict.value, facts.alive_at, member.id), member
