"""Gives requests of waiting hooks priority: other work pauses while they are answered.

An answer takes some hundredths of a second, and longer if a job uses the processor at the same time. A hook without
an answer at its deadline prints nothing.
"""

from __future__ import annotations

import asyncio
import math
from time import monotonic, time

from subconscious.context.signals import Signals

QUIET = 1.0
"""Seconds without a request after which maintenance continues: hooks come in bursts."""

LONGEST = 1.0
"""The longest pause of a job or a part of maintenance, in seconds: the work must finish even on a busy day."""

LOOK = 0.02
"""Seconds between two checks for running requests."""


async def aside(signals: Signals, quiet: float = 0.0, most: float = math.inf) -> None:
    """Wait until no request is running and none has come for ``quiet`` seconds, but at most ``most`` seconds."""
    begun = monotonic()
    while _wanted(signals, quiet) and monotonic() - begun < most and not signals.stopping.is_set():
        await asyncio.sleep(LOOK)


def _wanted(signals: Signals, quiet: float) -> bool:
    if signals.awaited:
        return False  # a request waits for the very work that would pause
    lately = 0 <= time() - signals.last_heard < quiet  # a negative difference: the clock was set back
    return lately or any(lock.locked() for lock in signals.answering.values())


class Busy:
    """A flag that is true while its ``with`` block runs."""

    def __init__(self) -> None:
        self._now = False

    def __bool__(self) -> bool:
        return self._now

    def __enter__(self) -> None:
        self._now = True

    def __exit__(self, *_: object) -> None:
        self._now = False
