"""Rests a provider that fails again and again, then tries it with one call."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from time import monotonic


class BreakerState(StrEnum):
    """Closed lets all through, open none, half-open one."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Breaker:
    """Counts failures in a row. Its clock only goes forward: the wall's may jump."""

    def __init__(self, failures: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._limit = failures
        self._seconds = seconds
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._trying = False

    @property
    def state(self) -> BreakerState:
        """How it stands now."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._left() > 0 else BreakerState.HALF_OPEN

    def closed_for(self) -> float:
        """Seconds until a call is worth another try; 0 when one may be made now."""
        if self.state is BreakerState.CLOSED:
            return 0.0
        return max(self._left(), self._seconds / 10 if self._trying else 0.0)

    def enter(self) -> bool:
        """A call begins; return whether it is the one that tries, which is the only one until it is back."""
        self._trying = self.state is BreakerState.HALF_OPEN
        return self._trying

    def succeeded(self) -> None:
        """The provider answered, whatever it said."""
        self._failures = 0
        self._opened_at = None
        self._trying = False

    def failed(self, trying: bool) -> None:
        """The provider didn't answer. Calls that were under way when it opened don't lengthen its rest."""
        self._failures += 1
        if trying or (self._opened_at is None and self._failures >= self._limit):
            self._opened_at = self._clock()
        if trying:
            self._trying = False

    def abandoned(self, trying: bool) -> None:
        """The call was broken off by ourselves, which says nothing of the provider: another one may try."""
        if trying:
            self._trying = False

    def _left(self) -> float:
        return 0.0 if self._opened_at is None else max(0.0, self._opened_at + self._seconds - self._clock())
