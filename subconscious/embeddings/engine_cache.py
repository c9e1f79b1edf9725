"""Caches the fused answers of the engines for three minutes.

An answer is valid while no memory or link has changed. Every such change is an event, so the newest event is the
version. Changes of an index are no events: code that makes one must call `clear`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from time import monotonic
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

SECONDS = 180.0
"""Time for which an answer is kept."""
MOST = 100
"""Answers that are kept, the latest ones."""

Version = tuple[int, int]
"""The newest event, and how often the cache was cleared."""


class EngineCache(Generic[Answer]):
    """The fused answers to the latest queries of all sessions."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._cleared = 0
        self._answers: OrderedDict[Hashable, tuple[float, Version, Sequence[Answer]]] = OrderedDict()

    def version(self, event: int) -> Version:
        """Return the current version for the newest ``event``. To be taken before the engines are asked."""
        return event, self._cleared

    def get(self, query: Hashable, version: Version) -> Sequence[Answer] | None:
        """Return the cached answer; None if there is none, or it is of another version."""
        now = self._clock()
        while self._answers and now - next(iter(self._answers.values()))[0] > SECONDS:
            self._answers.popitem(last=False)
        known = self._answers.get(query)
        return known[2] if known is not None and known[1] == version else None

    def put(self, query: Hashable, version: Version, fused: Sequence[Answer]) -> None:
        """Store an answer. If ``version`` is outdated already, `get` will not return it."""
        self._answers.pop(query, None)
        self._answers[query] = (self._clock(), version, fused)
        if len(self._answers) > MOST:
            self._answers.popitem(last=False)

    def clear(self) -> None:
        """Drop all answers: an index has changed, or something was purged."""
        self._cleared += 1
        self._answers.clear()
