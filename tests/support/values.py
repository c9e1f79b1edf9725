"""Values with sensible fields."""

from __future__ import annotations

from typing import Any

from subconscious.domain.model import Memory, Origin, Scope
from subconscious.store.rows import content_hash

NOON = 1_790_000_000.0


def make_memory(content: str = "Amounts are integer cents.", **changes: Any) -> Memory:
    """A memory with every field set to something plausible."""
    values: dict[str, Any] = {
        "id": 0,
        "project_id": None,
        "scope": Scope.USER,
        "kind": "decision",
        "category": "semantic",
        "summary": content[:100],
        "content": content,
        "origin": Origin.USER,
        "confidence": 0.9,
        "raw_confidence": 0.9,
        "extractor": "test",
        "created_at": NOON,
        "said_at": NOON,
        "content_hash": content_hash(content),
    }
    if changes.get("project_id"):
        values["scope"] = Scope.PROJECT
    return Memory(**values | changes)
