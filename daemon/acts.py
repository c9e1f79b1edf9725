"""What people do to memories, from the client's prompt or from a terminal: remember, archive, bring back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any
from uuid import uuid4

from subconscious.capture.offline import extract
from subconscious.errors import HeldError
from subconscious.flow import confirming, merging
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import Provenance, keep
from subconscious.model import (
    Admission,
    Candidate,
    Decision,
    Evidence,
    Memory,
    Origin,
    Role,
    Scope,
    Strength,
    Turn,
)
from subconscious.search.sections import sections
from subconscious.store import captures, consolidations, fading, memories, merges
from subconscious.store.capture_rows import capture_key
from subconscious.text.words import cut as cut

from .core import Core

FORGOTTEN = "a person took it out of use"
CONTENT_LENGTH = 400
RECORD_LENGTH = 4000
"""Characters of what has named sections: it is kept as it is, and told by the section that is asked for."""
SUMMARY_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Telling:
    """Words that somebody asks to be remembered, already free of secrets: whose, where they stand, when."""

    text: str
    origin: Origin
    turn_id: str
    at: float
    file: str = ""
    branch: str = ""
    kind: str | None = None
    scope: Scope | None = None
    tags: tuple[str, ...] = ()

    def candidate(self) -> Candidate:
        """The candidate they are; kind, scope, tags and files as the extractor reads them, unless they are given."""
        asked = f"Remember: {self.text}"
        turn = Turn(self.turn_id, "", Role.USER, Origin.USER, asked, self.at, self.file, 0, 0, self.branch)
        read = next(iter(extract([turn])), None)
        explicit = self.origin is Origin.USER
        return Candidate(
            kind=self.kind or (read.kind if read else "learning"),
            summary=cut(_in_short(self.text), SUMMARY_LENGTH),
            content=cut(self.text, RECORD_LENGTH if is_record(self.text) else CONTENT_LENGTH),
            evidence=Evidence(self.text, self.turn_id, self.file, 0, 0),
            origin=self.origin,
            strength=Strength.EXPLICIT if explicit else Strength.IMPLIED,
            raw_confidence=1.0 if explicit else Strength.IMPLIED.prior,
            extractor="told",
            time=self.at,
            scope=self.scope or (read.scope if read else Scope.PROJECT),
            branch=self.branch,
            tags=self.tags or (read.tags if read else ()),
            files=read.files if read else (),
        )


SEPARATORS = " :;,\u2013\u2014"
"""What people type between a command and its text: `/subconscious:remember : dates are UTC`."""


def is_record(text: str) -> bool:
    """Whether a text has two named sections or more; its lines then mean something."""
    return sum(bool(part.name) for part in sections(text)) > 1


def _in_short(text: str) -> str:
    """What a summary is made from: of a record, what stands before its sections, or else in the first."""
    parts = [part for part in sections(text) if part.body] if is_record(text) else []
    said = " ".join((parts[0].body if parts else text).split())
    return said.lstrip(SEPARATORS) or said


async def remember(core: Core, mind: Mind, told: Telling, where: Provenance) -> dict[str, Any]:
    """Keep what somebody asked to be remembered; return the capture, new or the one that was there already."""
    said = told.candidate()
    judged = [(said, _admit(said))]
    repeats = await merging.repeated(mind, judged, where.place.project_id)
    sure = [said] if said.origin is Origin.USER else []
    contrary = await confirming.contradicted(mind.database, sure, where.place.project_id)
    async with mind.database.write() as tx:
        kept = await keep(mind, tx, judged, where, repeats)
        await confirming.retire(tx, contrary, confirming.CONTRADICTED)
    await core.embedding.refresh(repeats.changed)
    core.embedding.wake()
    if kept:
        return await captures.get(mind.database, kept[0][0])
    return await captures.by_key(mind.database, capture_key(said))


def _admit(candidate: Candidate) -> Admission:
    """A person's word is final; what the assistant wants remembered waits for one."""
    if candidate.origin is Origin.USER:
        return Admission(Decision.AUTO, 1.0, "a person asked for it")
    return Admission(Decision.REVIEW, candidate.raw_confidence, "the assistant asked for it: a person decides")


async def set_archived(core: Core, ids: Sequence[int], archived: bool, actor: str, reason: str) -> list[Memory]:
    """Archive memories or bring them back; those that are so already are left as they are."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    chosen = [await memories.get(core.database, memory_id) for memory_id in ids]
    if not archived:
        await refuse_held(core, ids)
    change = memories.archive if archived else memories.unarchive
    act = uuid4().hex
    async with core.database.write() as tx:
        if archived:
            await confirming.retire(tx, ids, reason or FORGOTTEN, actor)
        else:
            await confirming.approve(tx, ids, reason)
        changed = [memory.id for memory in chosen if await change(tx, memory, actor, reason, act)]
        await vectors.activate(tx, changed, not archived)
        if archived:
            changed += (fallen := await consolidations.fall(tx, changed, actor, reason, act))
            await vectors.activate(tx, fallen, False)
        else:
            await fading.rehabilitate(tx, changed, actor, act)
            await merges.part(tx, changed, actor, act)
    await core.embedding.refresh(changed)
    core.embedding.wake()
    await core.calibrate()  # what a person archives soon after its capture was captured wrongly
    return [replace(memory, archived_at=time() if archived else None) for memory in chosen]


async def refuse_held(core: Core, ids: Sequence[int]) -> None:
    """What is in quarantine comes back by a person's release alone, and is for nobody else to read."""
    async with core.database.write() as tx:
        held = await captures.in_quarantine(tx, ids)
    if held:
        raise HeldError(min(held))
