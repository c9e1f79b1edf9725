"""What stands around a hit: neighbours of the same session, the session as a whole (docs/architecture.md, Recall).

People and models say a thing over several turns: the words that are asked for stand in one memory, the answer in the
next. So a memory gains from its neighbours' scores, and from a session in which much was found. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from subconscious.search.fusion import Fused

REACH = 2
"""Places to each side of a memory that count as near."""

BEST = 2
"""Hits of a session that speak for it."""


@dataclass(frozen=True, slots=True)
class Around:
    """How much surroundings count, against a hit's own score of at most 1."""

    near: float
    session: float


def lift(
    found: Sequence[Fused], sessions: Sequence[Sequence[int]], around: Around, limit: int | None = None
) -> list[Fused]:
    """Add what surroundings say to each score; neighbours that no engine found join in. Best first, scores 0..1.

    ``sessions`` are the ids of each session's memories in the order in which they were said; no more than
    ``limit`` hits come back.
    """
    own = {hit.id: hit.relevance for hit in found}
    engines = {hit.id: hit.engines for hit in found}
    lifted = dict(own)
    whole = [sum(sorted((own[one] for one in ids if one in own), reverse=True)[:BEST]) for ids in sessions]
    most = max(whole, default=0.0) or 1.0
    for ids, said in zip(sessions, whole, strict=True):
        near, together = _near(ids, own) if around.near else {}, around.session * said / most
        for one in ids:
            if one in near or one in own:
                about = around.near * near.get(one, 0.0) + together
                lifted[one] = lifted.get(one, 0.0) + about
    top = max(1.0, *lifted.values()) if lifted else 1.0
    order = sorted(lifted, key=lambda one: (-lifted[one], one))[:limit]
    return [Fused(one, lifted[one] / top, engines.get(one, ())) for one in order]


def _near(ids: Sequence[int], own: Mapping[int, float]) -> dict[int, float]:
    """What the neighbours of each memory of a session score together."""
    near: dict[int, float] = {}
    for place, one in enumerate(ids):
        if score := own.get(one, 0.0):
            for other in (*ids[max(0, place - REACH) : place], *ids[place + 1 : place + 1 + REACH]):
                near[other] = near.get(other, 0.0) + score
    return near
