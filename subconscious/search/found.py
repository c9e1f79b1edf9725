"""What the engines found a moment ago: they are not asked the same question twice.

It holds while nothing that is remembered has changed. Every change to a memory or a link is an event, so the
newest event tells; whoever changes what an index knows clears it, for that is none.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from time import monotonic

from subconscious.search.fusion import Fused

SECONDS = 180.0
"""Time for which the same question gets the same answer."""
MOST = 100
"""Questions held at once, those that were asked last."""

Moment = tuple[int, int]
"""The newest event, and how often what an index knows has changed."""


class Found:
    """The fused answers to the latest questions of all sessions."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._cleared = 0
        self._held: OrderedDict[Hashable, tuple[float, Moment, Sequence[Fused]]] = OrderedDict()

    def moment(self, event: int) -> Moment:
        """What is known now, the newest ``event`` included. To be taken before the engines are asked."""
        return event, self._cleared

    def get(self, question: Hashable, moment: Moment) -> Sequence[Fused] | None:
        """What was found, unless something has changed since."""
        now = self._clock()
        while self._held and now - next(iter(self._held.values()))[0] > SECONDS:
            self._held.popitem(last=False)
        known = self._held.get(question)
        return known[2] if known is not None and known[1] == moment else None

    def put(self, question: Hashable, moment: Moment, fused: Sequence[Fused]) -> None:
        """Hold an answer for as long as ``moment`` lasts, be that over already."""
        self._held.pop(question, None)
        self._held[question] = (self._clock(), moment, fused)
        if len(self._held) > MOST:
            self._held.popitem(last=False)

    def clear(self) -> None:
        """What an index knows has changed, or something is purged."""
        self._cleared += 1
        self._held.clear()
