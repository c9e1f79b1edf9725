"""Limits on the calls to a provider: requests and tokens per minute, and a circuit breaker for its failures.

The server counts a call at its arrival, at an unknown time between the call's start and its end. So a call occupies a
slot from its start until 60 seconds after its end. So in any 60 seconds, the server receives at most as many calls as
there are slots.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from time import monotonic
from weakref import WeakSet

MARGIN = 0.02
"""Additional seconds for which a slot stays occupied, because the server's clock may differ slightly."""


@dataclass(slots=True)
class Slot:
    """The share of the rate limit that one call occupies.

    ``until`` is the time when the slot becomes free; it is infinity during the call.
    """

    tokens: int
    until: float = inf


class Window:
    """The slots that calls occupy within the rate limit. Pure: the caller passes the time and does the waiting."""

    def __init__(self, requests: int, tokens: int, seconds: float) -> None:
        self.requests = requests
        self.tokens = tokens
        self.seconds = seconds
        self._slots: list[Slot] = []

    def wait(self, now: float, tokens: int) -> float:
        """Return the seconds until a call with this many tokens may fit; infinity if a running call must end first.

        A call that is larger than the limit is admitted when the window is empty.
        """
        self._slots = [slot for slot in self._slots if slot.until > now]
        wanted = min(tokens, self.tokens)
        left = sorted(self._slots, key=lambda slot: slot.until)
        held = sum(slot.tokens for slot in left)
        pause = 0.0
        for number, slot in enumerate(left):
            if len(left) - number < self.requests and held + wanted <= self.tokens:
                break
            held -= slot.tokens
            pause = slot.until - now
        return pause

    def take(self, tokens: int) -> Slot:
        """Take a slot for a call that starts now."""
        slot = Slot(min(tokens, self.tokens))
        self._slots.append(slot)
        return slot

    def end(self, slot: Slot, now: float, tokens: int) -> None:
        """End a call that used this many tokens: its slot becomes free ``seconds`` (usually 60) later."""
        slot.tokens = tokens
        slot.until = now + self.seconds + MARGIN

    def drop(self, slot: Slot) -> None:
        """Free the slot of a call that was not made."""
        self._slots = [other for other in self._slots if other is not slot]


class Limiter:
    """Admits calls within the rate limit in the order of their arrival; a waiting call may be cancelled."""

    def __init__(self, window: Window, clock: Callable[[], float] = monotonic) -> None:
        self._window = window
        self._clock = clock
        self._line = asyncio.Lock()  # wakes its waiters in order
        self._changed = asyncio.Event()
        # The events of all limiters with this window: each is set when a slot is freed, because all may wait for it.
        self._listeners: WeakSet[asyncio.Event] = WeakSet([self._changed])
        self._paused_until = 0.0

    def sibling(self) -> Limiter:
        """Return a limiter with the same slots but its own pauses, for another account at the same provider."""
        other = Limiter(self._window, self._clock)
        other._listeners = self._listeners
        other._listeners.add(other._changed)
        return other

    def pause(self, seconds: float) -> None:
        """Admit no call for a number of seconds, because the provider requested it."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    @property
    def paused(self) -> float:
        """Seconds for which no call is admitted."""
        return max(0.0, self._paused_until - self._clock())

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[Turn]:
        """Wait for a slot and occupy it during the block, which may set the turn's ``tokens`` to the tokens used."""
        slot = await self._enter(tokens)
        turn = Turn(tokens)
        try:
            yield turn
        finally:
            if turn.made:
                self._window.end(slot, self._clock(), turn.tokens)
            else:
                self._window.drop(slot)
            for changed in self._listeners:
                changed.set()

    async def _enter(self, tokens: int) -> Slot:
        async with self._line:
            while (pause := max(self._window.wait(self._clock(), tokens), self.paused)) > 0:
                self._changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), None if pause == inf else pause)
            return self._window.take(tokens)


@dataclass(slots=True)
class Turn:
    """An admitted call: the tokens that it used, estimated at first, and whether the call was made."""

    tokens: int
    made: bool = True


class BreakerState(StrEnum):
    """The state of a circuit breaker: closed admits all calls, open admits none, half-open admits one."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Breaker:
    """A circuit breaker, which counts consecutive failures. Its clock is monotonic, because the wall clock may jump."""

    def __init__(self, failures: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._limit = failures
        self._seconds = seconds
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._trying = False

    @property
    def state(self) -> BreakerState:
        """The present state of the circuit breaker."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._left() > 0 else BreakerState.HALF_OPEN

    def closed_for(self) -> float:
        """Return the seconds for which no call may be made; 0 if a call may be made now."""
        if self.state is BreakerState.CLOSED:
            return 0.0
        return max(self._left(), self._seconds / 10 if self._trying else 0.0)

    def enter(self) -> bool:
        """Start a call; return whether it is the trial call of a half-open breaker.

        Call it only if ``closed_for`` returned 0, so that only one trial call runs at a time.
        """
        self._trying = self.state is BreakerState.HALF_OPEN
        return self._trying

    def succeeded(self) -> None:
        """Record that the provider answered, if only with an error that the request caused."""
        self._failures = 0
        self._opened_at = None
        self._trying = False

    def failed(self, trying: bool) -> None:
        """Record that the provider did not answer.

        A call that started before the breaker opened does not extend the pause.
        """
        self._failures += 1
        if trying or (self._opened_at is None and self._failures >= self._limit):
            self._opened_at = self._clock()
        if trying:
            self._trying = False

    def abandoned(self, trying: bool) -> None:
        """Record that the daemon cancelled the call.

        This says nothing about the provider, so another trial call is possible.
        """
        if trying:
            self._trying = False

    def _left(self) -> float:
        return 0.0 if self._opened_at is None else max(0.0, self._opened_at + self._seconds - self._clock())
