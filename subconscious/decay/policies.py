"""The decay policies: which factors each uses, and how they are combined. To add a policy, add a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from subconscious.decay import factors
from subconscious.decay.factors import Factor
from subconscious.decay.facts import DAY, IMPORTANCE, Facts, Terms, days_since, last_alive
from subconscious.domain.model import Memory

Combiner = Callable[[Mapping[str, float], Terms], float]

STATES = (("hot", 0.80), ("warm", 0.25), ("cold", 0.05), ("dormant", 0.0))
"""The states of active memories, each with the lowest value that belongs to it."""

LONGEST = 20 * 365
"""The longest prediction, in days, of when a memory becomes due to be archived."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy: its factors by name, and the function that combines them."""

    name: str
    meaning: str
    factors: Mapping[str, Factor]
    combine: Combiner


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decayed value of a memory, 0 to 1, and its factors.

    If the memory can't decay, there are no factors, and ``why`` is the reason.
    """

    value: float
    factors: Mapping[str, float]
    why: str = ""


def weighted_sum(values: Mapping[str, float], terms: Terms) -> float:
    """Return the mean of the factors, weighted by fields of ``terms`` with the same names; 1 if all weights are 0."""
    weights = {name: float(getattr(terms, name)) for name in values}
    whole = sum(weights.values())
    return min(1.0, sum(weights[name] * values[name] for name in values) / whole) if whole > 0 else 1.0


def product(values: Mapping[str, float], terms: Terms) -> float:
    """Return the product of all factors, at most 1."""
    del terms
    return min(1.0, math.prod(values.values()))


def _named(*chosen: Factor) -> Mapping[str, Factor]:
    return MappingProxyType({factor.__name__: factor for factor in chosen})


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        row.name: row
        for row in (
            Policy(
                "weighted",
                "recency, use, current work, and whether it is still valid",
                _named(factors.recency, factors.frequency, factors.relevance, factors.supersession),
                weighted_sum,
            ),
            Policy(
                "composite",
                "how likely it is recalled, by FSRS",
                _named(factors.retrievability, factors.usage, factors.importance, factors.pattern, factors.citation),
                product,
            ),
            Policy("exp30", "exponential, at a rate for its importance and kind", _named(factors.tiered), product),
            Policy("exp001", "the ranking's own", _named(factors.daily, factors.staleness), product),
        )
    }
)


def assess(policy: Policy, facts: Facts, now: float, terms: Terms) -> Verdict:
    """Return the value of a memory under a policy."""
    fixed = _fixed(facts, terms)
    if fixed is not None:
        return fixed
    values = {name: factor(facts, now, terms) for name, factor in policy.factors.items()}
    return Verdict(policy.combine(values, terms), values)


def _fixed(facts: Facts, terms: Terms) -> Verdict | None:
    """Return the verdict on a memory to which no policy applies: it never decays or is deprecated. Else return None."""
    if facts.pinned:
        return Verdict(1.0, {}, "pinned")
    if facts.importance in ("constitutional", "deprecated"):
        return Verdict(float(facts.importance == "constitutional"), {}, facts.importance)
    if terms.half_life(facts.kind) is None:
        return Verdict(1.0, {}, f"{facts.kind} never decays")
    return None


def can_decay(facts: Facts, terms: Terms) -> bool:
    """Whether a memory can decay, so that a policy applies to it."""
    return _fixed(facts, terms) is None


def patience(facts: Facts, terms: Terms) -> float:
    """Return the days for which an unused memory is always kept: its scaled half-life.

    Return 0 if it is superseded, or if its kind never decays (then it is not archived anyway).
    """
    half_life = terms.half_life(facts.kind)
    if half_life is None or facts.superseded:
        return 0.0
    return terms.patience * half_life * facts.stability * IMPORTANCE.get(facts.importance, 1.0)


def due(policy: Policy, facts: Facts, now: float, terms: Terms) -> bool:
    """Whether a memory should be archived: its value is low, and it has been unused for its days of ``patience``."""
    # The time is compared first, so that most memories that are kept need no assessment.
    return _was_spared(facts, now, terms) and assess(policy, facts, now, terms).value < terms.below


def is_due(verdict: Verdict, facts: Facts, now: float, terms: Terms) -> bool:
    """Whether a memory with this verdict should be archived."""
    return verdict.value < terms.below and _was_spared(facts, now, terms)


def _was_spared(facts: Facts, now: float, terms: Terms) -> bool:
    """Whether the time for which an unused memory is always kept (``patience``) is over."""
    return days_since(facts.alive_at, now) >= patience(facts, terms)


def days_until_due(policy: Policy, facts: Facts, now: float, terms: Terms) -> int | None:
    """Return the days until a memory becomes due if it stays unused; None if that takes more than ``LONGEST`` days."""
    # Never due at ``low``, before ``patience`` ends. Most memories are due soon after, so the first step is one day.
    spared = min(float(LONGEST), patience(facts, terms) - days_since(facts.alive_at, now))
    low, step = max(0, math.floor(spared)) - 1, 1
    while not due(policy, facts, now + (high := min(low + step, LONGEST)) * DAY, terms):
        if high == LONGEST:
            return None
        low, step = high, 2 * step
    while high - low > 1:  # always due at ``high``: a due memory stays due without use
        middle = (low + high) // 2
        low, high = (low, middle) if due(policy, facts, now + middle * DAY, terms) else (middle, high)
    return high


def state_of(value: float, *, archived: bool = False) -> str:
    """Return the name of the state of a memory with this value."""
    if archived:
        return "archived"
    return next((name for name, least in STATES if value >= least), STATES[-1][0])


def ranking_decay(memory: Memory, now: float, rate: float, stale_days: float, stale_factor: float) -> float:
    """Return exp(-rate x days), times ``stale_factor`` if stale; 1.0 for pinned memories and kinds that never decay.

    The factor orders results and never filters them. The age counts from when the memory was stated or used, not from
    when it was stored: imported memories are as old as their sessions.
    """
    facts = Facts(memory.kind, last_alive(memory), pinned=memory.pinned)
    return assess(POLICIES["exp001"], facts, now, _ranking_terms(rate, stale_days, stale_factor)).value


@lru_cache(maxsize=16)
def _ranking_terms(rate: float, stale_days: float, stale_factor: float) -> Terms:
    """Return the terms of the ranking, cached because they are the same for all hits of a query."""
    return Terms(rate=rate, stale_days=stale_days, stale_factor=stale_factor)
