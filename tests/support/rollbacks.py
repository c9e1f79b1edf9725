"""Memories that a session brought."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from subconscious.capture.admission import Provenance, keep
from subconscious.domain.model import Admission, Decision, Origin
from subconscious.store import sessions
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from tests.support.minds import make_mind
from tests.support.poisoning import of


async def brought(database: Database, project: Project, session: str, text: str, **changes: Any) -> int:
    """Keep a statement of a session's; the id of its capture."""
    decision = changes.pop("decision", Decision.AUTO)
    candidate = of(text, changes.pop("origin", Origin.USER))
    candidate = replace(candidate, evidence=replace(candidate.evidence, turn_id=f"{session}-{text[:9]}"))
    async with database.write() as tx:
        await sessions.record_activity(tx, session, project.id, 1.0, transcript="", cwd="")
        where = Provenance(SessionRef(project.id, session))
        ((capture_id, _),) = await keep(
            make_mind(database), tx, [(candidate, Admission(decision, 0.95, "said"))], where
        )
    return capture_id
