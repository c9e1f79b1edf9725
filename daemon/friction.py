"""Finds trouble that keeps coming back, and proposes it as a pattern: a person decides."""

from __future__ import annotations

import asyncio

from subconscious import friction
from subconscious.flow.remembering import Provenance, keep
from subconscious.friction import Friction
from subconscious.model import Admission, Decision
from subconscious.store import promotion
from subconscious.store.capture_rows import Place
from subconscious.store.projects import Project

from .core import Core

LOOKED_AT = 500
"""Captures that are compared: each with all, at worst."""


async def found(core: Core, project: Project) -> list[Friction]:
    """What keeps coming back in a project."""
    mind = core.mind()
    troubles = await promotion.troubles(core.database, project.id, LOOKED_AT)
    ids = sorted({one["memory_id"] for one in troubles} - {None})
    vectors = await mind.index.vectors(ids) if mind.index is not None and ids else {}
    return await asyncio.to_thread(friction.recurring, troubles, vectors, mind.settings.friction_sessions)


async def propose(core: Core, project: Project) -> list[int]:
    """Put what is new of it into the review queue; the ids of the captures. What was decided is not asked again."""
    mind = core.mind()
    if not mind.settings.capture:
        return []
    judged = [
        (friction.candidate(one), Admission(Decision.REVIEW, 0.5, f"the same trouble in {len(one.sessions)} sessions"))
        for one in await found(core, project)
    ]
    async with mind.database.write() as tx:
        kept = await keep(mind, tx, judged, Provenance(Place(project.id, None)))
    return [capture_id for capture_id, _ in kept]
