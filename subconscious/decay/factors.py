"""The factors of a memory's value: pure functions of its facts, the time and the settings (``Terms``).

Factors are between 0 and 1.5 and never rise with time. The factors from feedback and corrections, at the end of this
module, are computed from the feedback log whenever they are needed and never stored, so each entry of the log can be
undone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from subconscious.decay.facts import IMPORTANCE, Facts, Terms, days_since

Factor = Callable[[Facts, float, Terms], float]

MONTH = 30.0
"""The time scale of recency and relevance, in days."""
MANY_USES = 21
"""The base of the frequency's logarithm: a memory used 20 times has the frequency log(1 + 20) / log(21) = 1."""
SOME_USE = 0.05
MOST_USE = 1.5
PATTERN = 1.2
PATTERN_TIMES = 3
"""A memory of any kind that was stated at least this many times counts as a pattern."""
CITED = 1.1
WEEK = 7.0
TIERS = {"short": 1.0, "mid": WEEK, "long": MONTH}
"""Time scales of ``exp30`` in days."""


def recency(facts: Facts, now: float, terms: Terms) -> float:
    """Return exp(-d / 30), where d is the days since the memory was last stated or used."""
    del terms
    return math.exp(-days_since(facts.alive_at, now) / MONTH)


def frequency(facts: Facts, now: float, terms: Terms) -> float:
    """Return log(1 + uses) / log(21), at most 1."""
    del now, terms
    return min(1.0, math.log1p(facts.uses) / math.log(MANY_USES))


def relevance(facts: Facts, now: float, terms: Terms) -> float:
    """Return exp(-d / 30), where d is the days since a session last worked on the memory's files or topics."""
    del terms
    return math.exp(-days_since(max(facts.touched_at, facts.alive_at), now) / MONTH)


def supersession(facts: Facts, now: float, terms: Terms) -> float:
    """Return 0 if another memory has replaced the memory, else 1."""
    del now, terms
    return 0.0 if facts.superseded else 1.0


def retrievability(facts: Facts, now: float, terms: Terms) -> float:
    """Return the FSRS retrievability: (1 + (19/81) t/S)^-0.5, with S = (19/243) x half-life x stability.

    It is 0.5 after one half-life at a stability of 1.
    """
    half_life = terms.half_life(facts.kind)
    if half_life is None:
        return 1.0
    scale = (19 / 243) * half_life * facts.stability
    # A stability that underflows to zero means forgotten as soon as any time has passed.
    days = days_since(facts.alive_at, now)
    return float((1 + (19 / 81) * days / scale) ** -0.5) if scale > 0 else float(days == 0)


def usage(facts: Facts, now: float, terms: Terms) -> float:
    """Return min(1.5, 1 + .05 n), where n is the number of uses."""
    del now, terms
    return min(MOST_USE, 1.0 + SOME_USE * facts.uses)


def importance(facts: Facts, now: float, terms: Terms) -> float:
    """Return the factor for the importance that the user gave the memory."""
    del now, terms
    return IMPORTANCE.get(facts.importance, 1.0)


def pattern(facts: Facts, now: float, terms: Terms) -> float:
    """Return 1.2 for a memory that recurs, else 1."""
    del now, terms
    return PATTERN if facts.kind == "pattern" or facts.recurrence >= PATTERN_TIMES else 1.0


def citation(facts: Facts, now: float, terms: Terms) -> float:
    """Return 1.1 for a memory that other memories cite, else 1."""
    del now, terms
    return CITED if facts.citations else 1.0


def tiered(facts: Facts, now: float, terms: Terms) -> float:
    """Return exp(-days / scale), with the time scale that ``tier`` returns."""
    return math.exp(-days_since(facts.alive_at, now) / TIERS[tier(facts, terms)])


def tier(facts: Facts, terms: Terms) -> str:
    """Return a memory's time scale in ``TIERS``: short if temporary, mid for a half-life up to a week, else long."""
    if facts.importance == "temporary":
        return "short"
    half_life = terms.half_life(facts.kind)
    return "mid" if half_life is not None and half_life <= WEEK else "long"


def daily(facts: Facts, now: float, terms: Terms) -> float:
    """Return exp(-rate x days), the decay used in the ranking."""
    return math.exp(-terms.rate * days_since(facts.alive_at, now))


def staleness(facts: Facts, now: float, terms: Terms) -> float:
    """Return ``terms.stale_factor`` for a memory that has not been stated or used for a long time, else 1."""
    return terms.stale_factor if days_since(facts.alive_at, now) > terms.stale_days else 1.0


OUTCOMES: Mapping[str, float] = MappingProxyType({"accepted": 1.05, "modified": 0.95, "rejected": 0.80})
"""The factor on a memory's confidence for each outcome of a use (feedback)."""

LEAST, MOST = 0.1, 1.0
"""The bounds of an effective confidence."""

CORRECTED = 0.5
REPLACEMENT = 1.2
"""The factors on the stability of a memory that was corrected, and of a memory that replaced a corrected one."""

USED_FACTOR, MOST_COUNTED_USES = 1.05, 10
"""The factor on the stability for each use or repetition, and the most uses and repetitions (in total) that count."""

HIGHEST_STABILITY = 4.0
LOWEST_STABILITY = 0.05
"""The bounds of the stability after any number of corrections."""

LOWEST_RANK_FACTOR, HIGHEST_RANK_FACTOR = 0.5, 1.2

REPEATED = 0.1
"""The share of the difference between a confidence and 1 that each repetition removes."""

_DIGITS = 9
"""The number of decimals of a stored confidence, so that undoing a repetition restores the exact value."""


def adjusted_confidence(confidence: float, times: int = 1) -> float:
    """Return a confidence after ``times`` more repetitions; a negative number undoes repetitions."""
    return round(min(1.0, max(0.0, 1 - (1 - confidence) * (1 - REPEATED) ** times)), _DIGITS)


def multiplier(counts: Mapping[str, int]) -> float:
    """Return the product of the factors of all outcomes; outcomes without a factor are ignored."""
    factor = 1.0
    for outcome, times in counts.items():
        factor *= OUTCOMES.get(outcome, 1.0) ** times
    return factor


def effective_confidence(confidence: float, counts: Mapping[str, int], *, pinned: bool = False) -> float:
    """Return the confidence after feedback; pinned memories keep theirs."""
    if pinned or not any(outcome in OUTCOMES for outcome in counts):
        return confidence
    return max(LEAST, min(MOST, confidence * multiplier(counts)))


def feedback_factor(counts: Mapping[str, int], weight: float, *, pinned: bool = False) -> float:
    """Return the factor of feedback on a memory's rank: 1 without feedback, within fixed bounds."""
    if pinned:
        return 1.0
    return 1.0 + weight * (max(LOWEST_RANK_FACTOR, min(HIGHEST_RANK_FACTOR, multiplier(counts))) - 1.0)


def stability(corrected: int, replaced: int, proved: int = 0) -> float:
    """Return the factor on a memory's half-life, from counts of corrections, replaced memories, uses and repetitions.

    Each use or repetition (counted in ``proved``) lengthens the half-life: memories that are needed again last longer.
    """
    lengthened = USED_FACTOR ** min(proved, MOST_COUNTED_USES)
    return max(LOWEST_STABILITY, min(HIGHEST_STABILITY, CORRECTED**corrected * REPLACEMENT**replaced * lengthened))
