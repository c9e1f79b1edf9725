"""Lets those be answered first whom a hook waits for; what can wait steps aside meanwhile.

A processor shared with a sweep, a job or a look through what is stored makes an answer late that by itself takes a few
hundredths of a second, and after its deadline a hook prints nothing.
"""

from __future__ import annotations

import asyncio
import math
from time import monotonic, time

from subconscious.context.signals import Signals

QUIET = 1.0
"""Seconds without a request after which upkeep goes on: hooks come in bursts, and a backlog must not cost them."""

LONGEST = 1.0
"""Seconds that a job, or a portion of upkeep, steps aside at most: it must come to its end on a busy day too."""

LOOK = 0.02
"""Seconds between two looks at whether somebody is still being answered."""


async def aside(signals: Signals, quiet: float = 0.0, most: float = math.inf) -> None:
    """Return once nobody is being answered and nobody has spoken for ``quiet`` seconds, or ``most`` have gone by."""
    begun = monotonic()
    while _wanted(signals, quiet) and monotonic() - begun < most and not signals.stopping.is_set():
        await asyncio.sleep(LOOK)


def _wanted(signals: Signals, quiet: float) -> bool:
    if signals.awaited:
        return False  # who is being answered waits for just the work that would step aside
    lately = 0 <= time() - signals.last_heard < quiet  # a clock set back must not keep it waiting
    return lately or any(lock.locked() for lock in signals.answering.values())
