"""The inputs of decay: a memory's facts, and the parameters that settings define (``Terms``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Memory

DAY = 86_400.0

IMPORTANCE: Mapping[str, float] = MappingProxyType(
    {"constitutional": 1.0, "critical": 1.5, "important": 1.2, "normal": 1.0, "temporary": 0.8, "deprecated": 0.0}
)
"""The factor on retrievability for each importance. Constitutional memories don't decay at all."""

UNKNOWN_HALF_LIFE = 180.0
"""The half-life in days of a kind that is unknown to this version, but known to a newer one."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The properties of one memory that decay depends on.

    ``alive_at`` is when the memory was last stated, stored, used, restored or reset; ``touched_at`` is when a session
    last worked on its files or topics. Both are seconds since the epoch. ``citations`` is the number of links from
    memories that cite it, ``stability`` the factor on its half-life from corrections, uses and repetitions.
    """

    kind: str
    alive_at: float
    touched_at: float = 0.0
    uses: int = 0
    recurrence: int = 1
    citations: int = 0
    superseded: bool = False
    pinned: bool = False
    importance: str = "normal"
    stability: float = 1.0


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings of decay (docs/settings.md).

    ``half_lives`` are half-lives in days by kind, which replace the defaults; 0 means that the kind never decays.
    """

    recency: float = 0.4
    frequency: float = 0.3
    relevance: float = 0.2
    supersession: float = 0.1
    half_lives: Mapping[str, float] = field(default_factory=dict)
    below: float = 0.3
    patience: float = 1.0
    rate: float = 0.01
    stale_days: float = 90.0
    stale_factor: float = 0.5

    def half_life(self, kind: str) -> float | None:
        """Return the half-life of a kind in days; None if it never decays."""
        row = KINDS.get(kind)
        days = self.half_lives.get(kind, row.half_life if row else UNKNOWN_HALF_LIFE)
        return days or None


def last_alive(memory: Memory) -> float:
    """Return when a memory was last stated or used, in seconds since the epoch."""
    return max(memory.said_at, memory.last_used_at or 0.0)


def days_since(moment: float, now: float) -> float:
    """Return the days from ``moment`` to ``now``; 0 if the clock was set back."""
    return max(0.0, (now - moment) / DAY)
