"""Memories to fill benchmark stores with: stated by a person, confident, at a given time."""

from __future__ import annotations

from typing import Any

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Memory, Origin, Scope
from subconscious.store.rows import content_hash


def memory_of(project_id: str, content: str, at: float, kind: str = "decision", **more: Any) -> Memory:
    """A memory of a project; ``more`` are its other fields, or others in place of the usual ones."""
    usual: dict[str, Any] = {
        "id": 0,
        "project_id": project_id,
        "scope": Scope.PROJECT,
        "kind": kind,
        "category": KINDS[kind].category,
        "summary": content[:100],
        "content": content,
        "origin": Origin.USER,
        "confidence": 0.9,
        "raw_confidence": 0.9,
        "extractor": "bench",
        "created_at": at,
        "said_at": at,
        "content_hash": content_hash(content),
    }
    return Memory(**usual | more)
