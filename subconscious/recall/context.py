"""Raises the scores of hits by their context: memories before and after them in a session, and the session as a whole.

People and models explain a thing over several turns: the words of the query may be in one memory, and the
answer in the next. So a memory's score is raised by those of its neighbours and of the best hits in its session. This
module does no I/O (see docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from subconscious.recall.fusion import Fused

REACH = 2
"""The number of neighbours on each side of a memory whose scores count."""

BEST = 2
"""The number of a session's best hits that make up the session's score."""


@dataclass(frozen=True, slots=True)
class ContextWeights:
    """The weights of the neighbours and of the session, relative to a hit's own score of at most 1."""

    near: float
    session: float


def lift(
    found: Sequence[Fused], sessions: Sequence[Sequence[int]], weights: ContextWeights, limit: int | None = None
) -> list[Fused]:
    """Return the hits, best first and at most ``limit``, with scores from 0 to 1 that include their context.

    Neighbours that no engine found are included. ``sessions`` has the memory ids of each session, in the order in which
    the statements were made.
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
    """Return, by id, the sum of the neighbours' scores; memories without neighbours among the hits are left out."""
    near: dict[int, float] = {}
    for place, one in enumerate(ids):
        if score := own.get(one, 0.0):
            for other in (*ids[max(0, place - REACH) : place], *ids[place + 1 : place + 1 + REACH]):
                near[other] = near.get(other, 0.0) + score
    return near
