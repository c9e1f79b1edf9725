"""Raises hits by their context: neighbours in the same session, and the session as a whole (docs/architecture.md).

People and models explain a thing over several turns: the words of the query may be in one memory and the answer in the
next. So a memory gains from the scores of its neighbours, and from a session with many hits. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from subconscious.recall.fusion import Fused

REACH = 2
"""Neighbours to each side of a memory that count."""

BEST = 2
"""Hits of a session that make up its score."""


@dataclass(frozen=True, slots=True)
class ContextWeights:
    """Weights of the neighbours and of the session, against a hit's own score of at most 1."""

    near: float
    session: float


def lift(
    found: Sequence[Fused], sessions: Sequence[Sequence[int]], weights: ContextWeights, limit: int | None = None
) -> list[Fused]:
    """Return the hits with the scores of their context added, 0..1, best first, at most ``limit``.

    Neighbours that no engine found are included. ``sessions`` are the ids of each session's memories in the order in
    which they were said.
    """
    own = {hit.id: hit.relevance for hit in found}
    engines = {hit.id: hit.engines for hit in found}
    lifted = dict(own)
    session_scores = [sum(sorted((own[one] for one in ids if one in own), reverse=True)[:BEST]) for ids in sessions]
    highest = max(session_scores, default=0.0) or 1.0
    for ids, session_score in zip(sessions, session_scores, strict=True):
        near, share = _near(ids, own) if weights.near else {}, weights.session * session_score / highest
        for one in ids:
            if one in near or one in own:
                gain = weights.near * near.get(one, 0.0) + share
                lifted[one] = lifted.get(one, 0.0) + gain
    top = max(1.0, *lifted.values()) if lifted else 1.0
    order = sorted(lifted, key=lambda one: (-lifted[one], one))[:limit]
    return [Fused(one, lifted[one] / top, engines.get(one, ())) for one in order]


def _near(ids: Sequence[int], own: Mapping[int, float]) -> dict[int, float]:
    """Return the sum of the neighbours' scores for each memory of a session that has any."""
    near: dict[int, float] = {}
    for place, one in enumerate(ids):
        if score := own.get(one, 0.0):
            for other in (*ids[max(0, place - REACH) : place], *ids[place + 1 : place + 1 + REACH]):
                near[other] = near.get(other, 0.0) + score
    return near
