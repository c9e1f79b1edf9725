"""How memories fade in the ranking: pure functions of a memory and the time. Decay orders, it never filters."""

from __future__ import annotations

import math

from subconscious.model import Memory

DAY = 86_400.0


def last_alive(memory: Memory) -> float:
    """When a memory was last said or used, in seconds since the epoch."""
    return max(memory.said_at, memory.last_used_at or 0.0)


def ranking_decay(memory: Memory, now: float, rate: float, stale_days: float, stale_factor: float) -> float:
    """exp(-rate x days), times ``stale_factor`` once stale (SPEC D8, D13); 1.0 for pinned memories.

    A clock that jumped back makes no memory better than new.
    """
    if memory.pinned:
        return 1.0
    days = max(0.0, (now - last_alive(memory)) / DAY)
    return math.exp(-rate * days) * (stale_factor if days > stale_days else 1.0)
