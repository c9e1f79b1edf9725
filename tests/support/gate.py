"""Candidates before the gate."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.domain.model import Candidate, Evidence, Origin, Strength

HEARD = "ok. We decided to fire twice a day. Go on."


@dataclass(frozen=True)
class Limits:
    auto_threshold: float = 0.9
    review_threshold: float = 0.7


def candidate(confidence: float = 0.9, kind: str = "decision", origin: Origin = Origin.USER) -> Candidate:
    return Candidate(
        kind=kind,
        summary="Fire twice a day",
        content="We decided to fire twice a day.",
        evidence=Evidence("We decided to fire twice a day.", "t1", "f", 0, 9),
        origin=origin,
        strength=Strength.EXPLICIT,
        raw_confidence=confidence,
        extractor="test",
        time=1.0,
        reason='says "decided"',
    )
