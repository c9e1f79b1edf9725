"""Candidates with sensible fields."""

from __future__ import annotations

from typing import Any

from subconscious.domain.model import Candidate, Evidence, Origin, Strength
from tests.support.values import NOON


def make_candidate(content: str = "Amounts are integer cents.", **changes: Any) -> Candidate:
    values: dict[str, Any] = {
        "kind": "decision",
        "summary": content,
        "content": content,
        "evidence": Evidence(content, "turn-1", "/t.jsonl", 10, 90),
        "origin": Origin.USER,
        "strength": Strength.EXPLICIT,
        "raw_confidence": 0.92,
        "extractor": "test",
        "time": NOON,
        "rationale": "floats lost a cent",
        "branch": "main",
        "tags": ("cents",),
        "files": ("pay.py",),
    }
    return Candidate(**values | changes)
