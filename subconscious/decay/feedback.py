"""What use and corrections teach: multipliers, computed from the log whenever they are needed.

Nothing of it is written into a memory, so that each entry of the log can be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

OUTCOMES: Mapping[str, float] = MappingProxyType({"accepted": 1.05, "modified": 0.95, "rejected": 0.80})
"""What each outcome multiplies confidence by."""

LEAST, MOST = 0.1, 1.0
"""Within these an effective confidence lies."""

CORRECTED = 0.5
REPLACEMENT = 1.2
"""What a correction multiplies the stability of the corrected by, and that of what holds instead."""

PROVED, MOST_PROVED = 1.05, 10
"""What each use or repetition multiplies it by, and how many of them count."""

STEADIEST = 4.0
FLIGHTIEST = 0.05
"""Beyond these no number of corrections leads."""

LOWEST_STANDING, HIGHEST_STANDING = 0.5, 1.2


REPEATED = 0.1
"""Share of what doubt is left that each repetition takes away."""

_DIGITS = 9
"""Of a confidence: what a repetition adds is gone without a trace when it is taken back."""


def surer(confidence: float, times: int = 1) -> float:
    """A confidence after something was said so many times more; less often, with ``times`` below 0."""
    return round(min(1.0, max(0.0, 1 - (1 - confidence) * (1 - REPEATED) ** times)), _DIGITS)


def multiplier(counts: Mapping[str, int]) -> float:
    """The product of the outcomes' factors; outcomes that say nothing of confidence count for nothing."""
    found = 1.0
    for outcome, times in counts.items():
        found *= OUTCOMES.get(outcome, 1.0) ** times
    return found


def effective(confidence: float, counts: Mapping[str, int], *, pinned: bool = False) -> float:
    """What a confidence is worth after all that was said of it; pinned memories are exempt."""
    if pinned or not any(outcome in OUTCOMES for outcome in counts):
        return confidence
    return max(LEAST, min(MOST, confidence * multiplier(counts)))


def standing(counts: Mapping[str, int], weight: float, *, pinned: bool = False) -> float:
    """What the ranking multiplies a memory's rank by: 1 without feedback, and never far from it."""
    if pinned:
        return 1.0
    return 1.0 + weight * (max(LOWEST_STANDING, min(HIGHEST_STANDING, multiplier(counts))) - 1.0)


def stability(corrected: int, replaced: int, proved: int = 0) -> float:
    """What a half-life is multiplied by for a memory corrected so often, that took the place of so many.

    ``proved`` is how often it was used or said again: what sessions come back to lasts longer.
    """
    steadied = PROVED ** min(proved, MOST_PROVED)
    return max(FLIGHTIEST, min(STEADIEST, CORRECTED**corrected * REPLACEMENT**replaced * steadied))
