"""How long the daemon took to answer hooks, since its start."""

from __future__ import annotations

from collections import defaultdict, deque

from subconscious.wire.daemon import HookTimes

KEPT = 200
"""Latest answers that are kept for each event."""


class AnswerTimes:
    """The times of the latest answers, by the hook's event."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=KEPT))

    def note(self, event: str, seconds: float) -> None:
        """Add the time of an answer."""
        self._seconds[event].append(seconds)

    def summary(self) -> list[HookTimes]:
        """Return the number of answers, their median and their 95th percentile in milliseconds, by event."""
        return [_summary(event, sorted(seconds)) for event, seconds in sorted(self._seconds.items())]


def _summary(event: str, seconds: list[float]) -> HookTimes:
    last = len(seconds) - 1
    median, slow = seconds[round(last * 0.5)], seconds[round(last * 0.95)]
    return {"event": event, "answers": len(seconds), "median_ms": 1000 * median, "p95_ms": 1000 * slow}
