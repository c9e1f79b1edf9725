"""The policies: their factors, and how these are combined. To add one, add a row; the property tests cover it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from subconscious.decay import factors
from subconscious.decay.factors import Factor
from subconscious.decay.facts import DAY, IMPORTANCE, Facts, Terms, days_since

Combiner = Callable[[Mapping[str, float], Terms], float]

STATES = (("hot", 0.80), ("warm", 0.25), ("cold", 0.05), ("dormant", 0.0))
"""The states by minimum value. An active memory below all of them is dormant."""

LONGEST = 20 * 365
"""Days beyond which nobody asks when a memory will fade."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One row: its factors by name, and what makes one value of theirs."""

    name: str
    meaning: str
    factors: Mapping[str, Factor]
    combine: Combiner


@dataclass(frozen=True, slots=True)
class Verdict:
    """How much is left of a memory, 0..1, and what made it so; no factors where it can't decay, and ``why`` says so."""

    value: float
    factors: Mapping[str, float]
    why: str = ""


def weighted_sum(values: Mapping[str, float], terms: Terms) -> float:
    """The factors' mean by their weights, each the field of ``terms`` that is called like it; 1 without any weight."""
    weights = {name: float(getattr(terms, name)) for name in values}
    whole = sum(weights.values())
    return min(1.0, sum(weights[name] * values[name] for name in values) / whole) if whole > 0 else 1.0


def product(values: Mapping[str, float], terms: Terms) -> float:
    """All factors multiplied, at most 1."""
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
                "recency, use, what is worked on, and whether it still holds",
                _named(factors.recency, factors.frequency, factors.relevance, factors.supersession),
                weighted_sum,
            ),
            Policy(
                "composite",
                "how likely it would come to mind, by FSRS",
                _named(factors.retrievability, factors.usage, factors.importance, factors.pattern, factors.citation),
                product,
            ),
            Policy("exp30", "exponential, on the scale of its tier", _named(factors.tiered), product),
            Policy("exp001", "the ranking's own", _named(factors.daily, factors.staleness), product),
        )
    }
)


def assess(policy: Policy, facts: Facts, now: float, terms: Terms) -> Verdict:
    """How much is left of a memory under a policy."""
    fixed = _fixed(facts, terms)
    if fixed is not None:
        return fixed
    values = {name: factor(facts, now, terms) for name, factor in policy.factors.items()}
    return Verdict(policy.combine(values, terms), values)


def _fixed(facts: Facts, terms: Terms) -> Verdict | None:
    """The cases that no policy decides: memories that never decay, and deprecated ones."""
    if facts.pinned:
        return Verdict(1.0, {}, "pinned")
    if facts.importance in ("constitutional", "deprecated"):
        return Verdict(float(facts.importance == "constitutional"), {}, facts.importance)
    if terms.half_life(facts.kind) is None:
        return Verdict(1.0, {}, f"{facts.kind} never decays")
    return None


def patience(facts: Facts, terms: Terms) -> float:
    """Days that a memory stays with any value: its kind's half-life, or none once it is superseded."""
    half_life = terms.half_life(facts.kind)
    if half_life is None or facts.superseded:
        return 0.0
    return terms.patience * half_life * facts.stability * IMPORTANCE.get(facts.importance, 1.0)


def due(policy: Policy, facts: Facts, now: float, terms: Terms) -> bool:
    """Whether a memory is due to be archived: its value is low, and it was unused for long enough."""
    if assess(policy, facts, now, terms).value >= terms.below:
        return False
    return days_since(facts.alive_at, now) >= patience(facts, terms)


def days_until_due(policy: Policy, facts: Facts, now: float, terms: Terms) -> int | None:
    """Return in how many days an unused memory becomes due; None: not within the horizon."""
    if not due(policy, facts, now + LONGEST * DAY, terms):
        return None
    low, high = -1, LONGEST  # never due at low, always at high: what is due stays so while nobody touches it
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if due(policy, facts, now + middle * DAY, terms) else (middle, high)
    return high


def state_of(value: float, *, archived: bool = False) -> str:
    """The name of what is left."""
    if archived:
        return "archived"
    return next((name for name, least in STATES if value >= least), STATES[-1][0])
