"""Events, locks and counters for loops, jobs and requests that wait for each other; and hook response times."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from time import time

from subconscious.wire.daemon import HookTimes


class Signals:
    """The signals of the whole daemon."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.spooled = asyncio.Event()
        self.queued = asyncio.Event()
        # Set after new text of a transcript was queued for a model and committed.
        self.gathered = asyncio.Event()
        # Set after a deferred request to a model was stored and committed.
        self.questioned = asyncio.Event()
        # When a client last sent something to the daemon; the idle time begins there.
        self.last_heard = time()
        # Two readers of one transcript would both start at the saved offset: the job of a Stop hook and, for example,
        # the closing of a silent session. They take turns, by path.
        self.reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # Requests of one session are answered one at a time, by session id. Otherwise a prompt could be answered
        # while the unused response to the session's start is being undone. The answer would be empty, because all
        # memories are still recorded as shown, and would count as the session's first answer.
        self.answering: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # The number of session starts that wait for jobs of other sessions; these jobs must not pause for them.
        self.awaited = 0
        # One maintenance job runs at a time. While ``hurrying`` people wait for one, it does not pause.
        self.maintaining = asyncio.Lock()
        self.hurrying = 0
        # Rendered files have one writer at a time, so that no writer restores what another has just purged.
        self.rendering = asyncio.Lock()
        # Projects with outdated rendered files that no event reports, because a recheck changed the status of memories
        # or the files could not be written; None for the user's own memories.
        self.unrendered: set[str | None] = set()

    def heard(self) -> None:
        """Record that a client sent something, which restarts the idle time."""
        self.last_heard = time()


KEPT = 200
"""The most response times that are kept for each event."""


class AnswerTimes:
    """How long the latest responses to hooks took, by event."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=KEPT))

    def note(self, event: str, seconds: float) -> None:
        """Add the time that a response took."""
        self._seconds[event].append(seconds)

    def summary(self) -> list[HookTimes]:
        """Return the number of responses, and their median and 95th percentile in milliseconds, by event."""
        return [_summary(event, sorted(seconds)) for event, seconds in sorted(self._seconds.items())]


def _summary(event: str, seconds: list[float]) -> HookTimes:
    last = len(seconds) - 1
    median, slow = seconds[round(last * 0.5)], seconds[round(last * 0.95)]
    return {"event": event, "answers": len(seconds), "median_ms": 1000 * median, "p95_ms": 1000 * slow}
