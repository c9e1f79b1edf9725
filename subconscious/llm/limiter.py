"""Requests and tokens a minute, as a promise that can be checked at the server.

A call reaches the server at some moment between its start and its end, which one we can't know. So its place is held
from the start until a whole window after the end: whichever 60 seconds the server looks at, the calls that reached it
within them held their places all at once when the last of them was let in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from weakref import WeakSet

MARGIN = 0.02
"""Seconds that a place is held longer: two clocks don't tick alike to the last bit."""


@dataclass(slots=True)
class Place:
    """One call's share of the window; ``until`` is when it is free again, infinity while the call is under way."""

    tokens: int
    until: float = inf


class Window:
    """Who holds a place at a given moment. Pure: it is told the time, and it waits for nobody."""

    def __init__(self, requests: int, tokens: int, seconds: float) -> None:
        self.requests = requests
        self.tokens = tokens
        self.seconds = seconds
        self._places: list[Place] = []

    def wait(self, now: float, tokens: int) -> float:
        """Seconds until there may be room for a call of so many tokens; infinity when only the end of another helps.

        A call that is larger than the limit goes when it has the window to itself.
        """
        self._places = [place for place in self._places if place.until > now]
        wanted = min(tokens, self.tokens)
        left = sorted(self._places, key=lambda place: place.until)
        held = sum(place.tokens for place in left)
        pause = 0.0
        for number, place in enumerate(left):
            if len(left) - number < self.requests and held + wanted <= self.tokens:
                break
            held -= place.tokens
            pause = place.until - now
        return pause

    def take(self, tokens: int) -> Place:
        """Hold a place."""
        place = Place(min(tokens, self.tokens))
        self._places.append(place)
        return place

    def end(self, place: Place, now: float, tokens: int) -> None:
        """The call is over and used so many tokens: its place is free after one more window."""
        place.tokens = tokens
        place.until = now + self.seconds + MARGIN

    def drop(self, place: Place) -> None:
        """The call was never made."""
        self._places = [other for other in self._places if other is not place]


class Limiter:
    """Lets calls in one after the other, in the order in which they came; who waits may be cancelled."""

    def __init__(self, window: Window, clock: Callable[[], float] = monotonic) -> None:
        self._window = window
        self._clock = clock
        self._line = asyncio.Lock()  # its waiters are woken in their order
        self._changed = asyncio.Event()
        # The events of all limiters over this window: a place that one frees may be what another waits for.
        self._listeners: WeakSet[asyncio.Event] = WeakSet([self._changed])
        self._paused_until = 0.0

    def sibling(self) -> Limiter:
        """A limiter over the same window with pauses of its own, for another account at the same provider."""
        other = Limiter(self._window, self._clock)
        other._listeners = self._listeners
        other._listeners.add(other._changed)
        return other

    def pause(self, seconds: float) -> None:
        """Let nobody in for so long: the provider said so."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    @property
    def paused(self) -> float:
        """Seconds for which nobody will be let in."""
        return max(0.0, self._paused_until - self._clock())

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[Turn]:
        """Wait for a place and hold it through the block, which may say how many tokens it really took."""
        place = await self._enter(tokens)
        turn = Turn(tokens)
        try:
            yield turn
        finally:
            if turn.made:
                self._window.end(place, self._clock(), turn.tokens)
            else:
                self._window.drop(place)
            for changed in self._listeners:
                changed.set()

    async def _enter(self, tokens: int) -> Place:
        async with self._line:
            while (pause := max(self._window.wait(self._clock(), tokens), self.paused)) > 0:
                self._changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), None if pause == inf else pause)
            return self._window.take(tokens)


@dataclass(slots=True)
class Turn:
    """One call's turn: what it took, and whether it was made at all."""

    tokens: int
    made: bool = True
