"""Candidates of an origin."""

from __future__ import annotations

from typing import Any

from subconscious.domain.model import Candidate, Evidence, Origin, Strength


def of(text: str, origin: Origin, **changes: Any) -> Candidate:
    quoted = Evidence(text, "t", "", 0, 0)
    values = {"kind": "learning", "summary": text[:100], "content": text, **changes}
    return Candidate(
        evidence=quoted,
        origin=origin,
        strength=Strength.IMPLIED,
        raw_confidence=0.9,
        extractor="test",
        time=0.0,
        **values,
    )
