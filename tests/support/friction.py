"""Statements that recur over sessions."""

from __future__ import annotations

from typing import Any

from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Origin, Strength
from subconscious.store import captures
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from tests.support.values import NOON


async def told(database: Database, project: Project, session: str, content: str, **changes: Any) -> int:
    """Have a session tell of a trouble; it waits for review."""
    quote = Evidence(content, f"turn-{session}", "", 0, 0)
    decision = Admission(changes.pop("decision", Decision.REVIEW), 0.7, "")
    values: dict[str, Any] = {"kind": "blocker", "origin": Origin.ASSISTANT, "time": NOON} | changes
    said = Candidate(
        summary=content,
        content=content,
        evidence=quote,
        strength=Strength.IMPLIED,
        raw_confidence=0.7,
        extractor="test",
        **values,
    )
    async with database.write() as tx:
        number = await captures.insert(tx, said, decision, SessionRef(project.id, session), 30)
    assert number is not None
    return number
