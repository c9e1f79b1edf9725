"""Commands on memories that the terminal and slash commands share: remember, archive, unarchive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time
from uuid import uuid4

from subconscious.app import App
from subconscious.capture.admission import Provenance, keep
from subconscious.capture.offline import extract
from subconscious.domain.errors import RequestError
from subconscious.domain.model import (
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
from subconscious.poisoning.quarantine import refuse_held
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.sections import sections
from subconscious.store import captures, consolidations, fading, memories, merges
from subconscious.store.capture_rows import capture_key
from subconscious.supersession import confirmation, merging
from subconscious.text.wording import CONTENT_LENGTH, SUMMARY_LENGTH
from subconscious.text.words import cut, has_letters
from subconscious.wire.captures import Capture

ARCHIVED_BY_PERSON = "a person took it out of use"
MAX_RECORD_LENGTH = 4000
"""The most characters of a record: a text with named sections, which is stored whole and returned by section."""

SHOWN = 60
"""The most characters of a refused text that its error message shows."""


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """A statement to remember, with its secrets already redacted.

    ``kind``, ``scope`` and ``tags`` are None or empty if the request does not state them.
    """

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
        """Return the candidate. Rules find the files, and a kind, scope and tags that the request lacks."""
        text = f"Remember: {self.text}"
        turn = Turn(self.turn_id, "", Role.USER, Origin.USER, text, self.at, self.file, 0, 0, self.branch)
        read = next(iter(extract([turn])), None)
        explicit = self.origin is Origin.USER
        return Candidate(
            kind=self.kind or (read.kind if read else "learning"),
            summary=cut(_summary_source(self.text), SUMMARY_LENGTH),
            content=cut(self.text, MAX_RECORD_LENGTH if is_record(self.text) else CONTENT_LENGTH),
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
"""Characters that people type between a command and its text, as in `/subconscious:remember : dates are UTC`."""


def is_record(text: str) -> bool:
    """Whether a text is a record: it has at least two named sections, so its line breaks must be kept."""
    return sum(bool(part.name) for part in sections(text)) > 1


def _summary_source(text: str) -> str:
    """Return the text for a summary: for a record, the text before its sections or, if there is none, the first one."""
    parts = [part for part in sections(text) if part.body] if is_record(text) else []
    candidate = " ".join((parts[0].body if parts else text).split())
    return candidate.lstrip(SEPARATORS) or candidate


async def remember(app: App, ctx: RecallContext, request: RememberRequest, provenance: Provenance) -> Capture:
    """Store a statement; return its capture, or the earlier capture of the same statement.

    Raises RequestError if the statement has no words.
    """
    refuse_wordless(request.text)
    candidate = request.candidate()
    judged = [(candidate, _admission(candidate))]
    repeats = await merging.repeated(ctx, judged, provenance.place.project_id)
    typed = [candidate] if candidate.origin is Origin.USER else []
    contradicted = await confirmation.contradicted(ctx.database, typed, provenance.place.project_id)
    async with ctx.database.write() as tx:
        kept = await keep(ctx, tx, judged, provenance, repeats)
        await confirmation.retire(tx, contradicted, confirmation.CONTRADICTED)
    await app.embedding.refresh(repeats.changed)
    app.embedding.wake()
    if kept:
        return await captures.get(ctx.database, kept[0][0])
    return await captures.by_key(ctx.database, capture_key(candidate))


def refuse_wordless(text: str) -> None:
    """Raise RequestError for a text of numbers and symbols alone: nobody could tell later what it is about."""
    if not has_letters(text):
        raise RequestError(
            f'"{cut(text, SHOWN)}" has no words, so nobody can tell later what it is about',
            "write it as a statement, such as: the timeout is 30 seconds",
        )


def _admission(candidate: Candidate) -> Admission:
    """Return the decision: a person's statement is stored, a statement of the assistant waits for review."""
    if candidate.origin is Origin.USER:
        return Admission(Decision.AUTO, 1.0, "a person asked for it")
    return Admission(
        Decision.REVIEW, candidate.raw_confidence, "the assistant or a program asked for it: a person decides"
    )


async def set_archived(app: App, ids: Sequence[int], archived: bool, actor: str, reason: str) -> list[Memory]:
    """Archive memories, or make them active again; return all memories in ``ids``.

    Memories that are already archived, or already active, stay as they are.
    """
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    chosen = [await memories.get(app.database, memory_id) for memory_id in ids]
    if not archived:
        await refuse_held(app.database, ids)
    change = memories.archive if archived else memories.unarchive
    act = uuid4().hex
    async with app.database.write() as tx:
        if archived:
            await confirmation.retire(tx, ids, reason or ARCHIVED_BY_PERSON, actor)
        else:
            await confirmation.approve(tx, ids, reason)
        changed = [memory.id for memory in chosen if await change(tx, memory, actor, reason, act)]
        await vectors.activate(tx, changed, not archived)
        if archived:
            changed += (archived_summaries := await consolidations.archive_dependents(tx, changed, actor, reason, act))
            await vectors.activate(tx, archived_summaries, False)
        else:
            await fading.clear_deprecated(tx, changed, actor, act)
            await merges.end_merges(tx, changed, actor, act)
    await app.embedding.refresh(changed)
    app.embedding.wake()
    await app.calibrate()  # archiving soon after the capture counts as a wrong capture
    return [replace(memory, archived_at=time() if archived else None) for memory in chosen]
