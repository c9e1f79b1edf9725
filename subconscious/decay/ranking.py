"""How memories fade in the ranking. Decay orders there, it never filters."""

from __future__ import annotations

from functools import lru_cache

from subconscious.decay.facts import Facts, Terms, last_alive
from subconscious.decay.policies import POLICIES, assess
from subconscious.model import Memory


def ranking_decay(memory: Memory, now: float, rate: float, stale_days: float, stale_factor: float) -> float:
    """exp(-rate x days), times ``stale_factor`` once stale; 1.0 for what never decays.

    It goes by when a thing was said or used, not by when it was stored: what is imported is as old as it is.
    """
    facts = Facts(memory.kind, last_alive(memory), pinned=memory.pinned)
    return assess(POLICIES["exp001"], facts, now, _terms(rate, stale_days, stale_factor)).value


@lru_cache(maxsize=16)
def _terms(rate: float, stale_days: float, stale_factor: float) -> Terms:
    """The same for all hits of a query, and for most queries."""
    return Terms(rate=rate, stale_days=stale_days, stale_factor=stale_factor)
