"""Caches search results, each combined from all search methods (engines), for three minutes.

A result is valid as long as no memory or link changes. Every such change is an event, so the id of the newest event is
the version of a result. Changes of an index are not events: code that changes an index must call `clear`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from time import monotonic
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

SECONDS = 180.0
"""Seconds for which a result is kept."""
MOST = 100
"""The number of latest results that are kept."""

Version = tuple[int, int]
"""The version of a result: the id of the newest event, and how often the cache was cleared."""


class EngineCache(Generic[Answer]):
    """A cache of the latest queries of all sessions, with the combined results of all search methods (engines)."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._cleared = 0
        self._answers: OrderedDict[Hashable, tuple[float, Version, Sequence[Answer]]] = OrderedDict()

    def version(self, event: int) -> Version:
        """Return the current version; ``event`` is the id of the newest event. Call this before the engines search."""
        return event, self._cleared

    def get(self, query: Hashable, version: Version) -> Sequence[Answer] | None:
        """Return the cached result of a query; None if there is none, or only one of another version."""
        now = self._clock()
        while self._answers and now - next(iter(self._answers.values()))[0] > SECONDS:
            self._answers.popitem(last=False)
        known = self._answers.get(query)
        return known[2] if known is not None and known[1] == version else None

    def put(self, query: Hashable, version: Version, fused: Sequence[Answer]) -> None:
        """Store a result. If ``version`` is outdated already, `get` will not return the result."""
        self._answers.pop(query, None)
        self._answers[query] = (self._clock(), version, fused)
        if len(self._answers) > MOST:
            self._answers.popitem(last=False)

    def clear(self) -> None:
        """Drop all results, because an index has changed or data was purged."""
        self._cleared += 1
        self._answers.clear()
