"""The factors: each a pure function of a memory's facts, the time and the terms; all lie in 0..1.5 and never rise."""

from __future__ import annotations

import math
from collections.abc import Callable

from subconscious.decay.facts import IMPORTANCE, Facts, Terms, days_since

Factor = Callable[[Facts, float, Terms], float]

MONTH = 30.0
"""Days of the scale on which recency and relevance fade."""
MANY_USES = 21
"""A memory used 20 times is as frequent as can be: log(1 + 20) / log(21) = 1."""
SOME_USE = 0.05
MOST_USE = 1.5
PATTERN = 1.2
PATTERN_TIMES = 3
"""Said this often, a memory is a pattern, whatever its kind."""
CITED = 1.1
WEEK = 7.0
TIERS = {"short": 1.0, "mid": WEEK, "long": MONTH}
"""Scales of ``exp30`` in days."""


def recency(facts: Facts, now: float, terms: Terms) -> float:
    """exp(-days since it was last alive / 30)."""
    del terms
    return math.exp(-days_since(facts.alive_at, now) / MONTH)


def frequency(facts: Facts, now: float, terms: Terms) -> float:
    """log(1 + uses) / log(21), at most 1."""
    del now, terms
    return min(1.0, math.log1p(facts.uses) / math.log(MANY_USES))


def relevance(facts: Facts, now: float, terms: Terms) -> float:
    """exp(-days since its files or topics were touched / 30); to say or use it touches them too."""
    del terms
    return math.exp(-days_since(max(facts.touched_at, facts.alive_at), now) / MONTH)


def supersession(facts: Facts, now: float, terms: Terms) -> float:
    """0 when another has taken its place, else 1."""
    del now, terms
    return 0.0 if facts.superseded else 1.0


def retrievability(facts: Facts, now: float, terms: Terms) -> float:
    """FSRS: (1 + (19/81) t/S)^-0.5, where S = (19/243) x half-life makes it a half after one."""
    half_life = terms.half_life(facts.kind)
    if half_life is None:
        return 1.0
    scale = (19 / 243) * half_life * facts.stability
    # A stability so small that it vanishes is none: what never held is gone as soon as any time has passed.
    days = days_since(facts.alive_at, now)
    return float((1 + (19 / 81) * days / scale) ** -0.5) if scale > 0 else float(days == 0)


def usage(facts: Facts, now: float, terms: Terms) -> float:
    """min(1.5, 1 + .05 n)."""
    del now, terms
    return min(MOST_USE, 1.0 + SOME_USE * facts.uses)


def importance(facts: Facts, now: float, terms: Terms) -> float:
    """What a person said of its importance."""
    del now, terms
    return IMPORTANCE.get(facts.importance, 1.0)


def pattern(facts: Facts, now: float, terms: Terms) -> float:
    """1.2 for what keeps coming back."""
    del now, terms
    return PATTERN if facts.kind == "pattern" or facts.recurrence >= PATTERN_TIMES else 1.0


def citation(facts: Facts, now: float, terms: Terms) -> float:
    """1.1 for what other memories lean on."""
    del now, terms
    return CITED if facts.citations else 1.0


def tiered(facts: Facts, now: float, terms: Terms) -> float:
    """e^(-days / scale), 1 day for the temporary, 7 for kinds that last no week, 30 for all others."""
    return math.exp(-days_since(facts.alive_at, now) / TIERS[tier(facts, terms)])


def tier(facts: Facts, terms: Terms) -> str:
    """short, mid or long."""
    if facts.importance == "temporary":
        return "short"
    half_life = terms.half_life(facts.kind)
    return "mid" if half_life is not None and half_life <= WEEK else "long"


def daily(facts: Facts, now: float, terms: Terms) -> float:
    """exp(-rate x days), the ranking's decay."""
    return math.exp(-terms.rate * days_since(facts.alive_at, now))


def staleness(facts: Facts, now: float, terms: Terms) -> float:
    """A factor for what was not recalled for long."""
    return terms.stale_factor if days_since(facts.alive_at, now) > terms.stale_days else 1.0
