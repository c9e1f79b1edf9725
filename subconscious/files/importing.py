"""Carries out a planned import of notes.

Memories that this store exported are restored, and memories with edited notes are corrected. New notes are stored if a
person vouches for them, and wait for review otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import time
from typing import Any

import aiosqlite

from subconscious.app import App
from subconscious.capture.admission import Provenance, keep
from subconscious.domain.errors import SubconsciousError
from subconscious.domain.kinds import KINDS
from subconscious.domain.link_types import LINK_TYPES
from subconscious.domain.model import Admission, Candidate, Decision, Link, Memory, Origin, Verdict
from subconscious.files.import_plan import PlannedNote, State, as_answer, candidate_of, parse_note, plan
from subconscious.files.record import RECORDED_COLUMNS, Owner, Record, export_key, is_ours
from subconscious.memories import corrections as correcting
from subconscious.memories import poisoning_recheck
from subconscious.memories.memory_commands import MAX_RECORD_LENGTH
from subconscious.poisoning import check
from subconscious.poisoning.gate import apply_verdict, screen
from subconscious.poisoning.quarantine import refuse_held
from subconscious.poisoning.suspicions import as_candidate
from subconscious.redaction.cleaning import clean
from subconscious.store import captures, events, memories, projects, transfer, unconfirmed
from subconscious.store.capture_rows import QUARANTINED, SessionRef
from subconscious.store.connect import new_act
from subconscious.store.projects import Project
from subconscious.store.rows import content_hash
from subconscious.supersession import merging
from subconscious.system.projects import Identity
from subconscious.text.wording import CONTENT_LENGTH, SUMMARY_LENGTH
from subconscious.text.words import cut
from subconscious.wire.files import ImportedNote, NoteOutcome

FROM_FILE = "it comes from a file: a person must approve it"
CONFLICT = "it was edited in a file, and the memory has changed since the export: a person decides which one applies"
LONG_EDIT = f"it was edited in a file and has more than {CONTENT_LENGTH} characters: a person must approve it"
LABELS = "its kind and tags change only if you import it without --yes and answer that you vouch for it"
ARCHIVED = "it is archived: an approval would bring it back, so it is imported only if you vouch for it"
VOUCHED = "a person vouched for it"
RESTORED = "restored from an export of this store"
FOREIGN = "restored from an export that you vouched for"
"""The reason of the events that created these memories; only between these, such an export may restore links."""

IDENTIFIERS = ("extractor", "agent", "session_id", "turn_id", "branch", "commit")
"""The texts of another store's record that are kept, though a preview shows only the branch; they are redacted."""
NEUTRAL = "neutral"

UNCHANGED: NoteOutcome = {"became": "", "memory_id": None}


async def import_notes(
    app: App, raw: Sequence[Mapping[str, Any]], project: Project, *, vouched: bool = False, assigned: bool = False
) -> list[ImportedNote]:
    """Import notes; return the result of each, in the order of ``raw``. Only a person may request this."""
    planned = await plan(app, raw, project, assigned=assigned)
    results: dict[int, NoteOutcome] = {}
    signed = [(at, one) for at, one in enumerate(planned) if one.state is State.RESTORE]
    results |= await _restore_records(app, signed, project)
    unsigned: list[tuple[int, PlannedNote]] = []
    for at, one in enumerate(planned):
        if one.state is State.FOREIGN and not vouched and one.note.record and one.note.record.status == "archived":
            results[at] = {"became": "left out", "memory_id": None, "reason": ARCHIVED}
        elif one.state in (State.NEW, State.FOREIGN, State.CONFLICT):
            unsigned.append((at, one))
        if one.state is State.EDITED:
            if vouched and len(one.note.statement) <= CONTENT_LENGTH:
                results[at] = await _correct(app, one)
            elif one.note.statement:
                unsigned.append((at, one))
            else:
                results[at] = {"became": "refused", "memory_id": None, "reason": LABELS}
    if vouched:
        trusted = await asyncio.to_thread(_restorable, unsigned, checked=app.recall_context().settings.poisoning)
        results |= await _restore_records(app, trusted, project)
    rest = [(at, one) for at, one in unsigned if at not in results]
    for group in _by_project(rest).values():
        results |= await _store_or_queue(app, group, vouched=vouched)
    return [{**as_answer(one), **results.get(at, UNCHANGED)} for at, one in enumerate(planned)]


async def _correct(app: App, one: PlannedNote) -> NoteOutcome:
    """Apply the edits in a note, for which a person has vouched, to its memory."""
    assert one.memory is not None  # noqa: S101 - only notes about a stored memory are edited
    memory, act, reason = one.memory, new_act(), f"edited in {one.note.name}"
    try:
        if one.note.statement:
            request = correcting.CorrectionRequest(memory.id, "refined", text=one.note.statement, reason=reason)
            done = await correcting.correct(app, request)
            memory, act = done.replacement or memory, done.act
        else:
            await refuse_held(app.database, [memory.id])
        kind, tags = one.note.labels
        async with app.database.write() as tx:
            await memories.relabel(tx, memory, kind, tags, "user", reason, act)
    except SubconsciousError as error:
        return {"became": "refused", "memory_id": None, "reason": error.message}
    return {"became": "corrected", "memory_id": memory.id}


async def _restore_records(
    app: App, chosen: Sequence[tuple[int, PlannedNote]], project: Project
) -> dict[int, NoteOutcome]:
    """Restore memories that this store exported, after redacting and checking their texts again."""
    if not chosen:
        return {}
    targets: list[tuple[PlannedNote, str | None]] = []
    for _, one in chosen:
        owner = one.note.record.project if one.note.record else None
        target = one.project if one.state is not State.RESTORE else await _owner(app, owner) if owner else None
        targets.append((one, target.id if owner and target else None))
    restored = await asyncio.to_thread(_cleaned, targets, checked=app.recall_context().settings.poisoning)
    results: dict[int, NoteOutcome] = {}
    quarantined: list[int] = []
    async with app.database.write() as tx:
        for (at, one), (memory, record, verdict) in zip(chosen, restored, strict=True):
            reason = "" if one.state is State.RESTORE else FOREIGN
            stored = await _restore_memory(tx, memory, record, project, reason)
            archived, _ = await poisoning_recheck.note_check(tx, stored, verdict) if verdict else ([], False)
            quarantined += archived
            results[at] = {"became": "quarantined" if stored.id in archived else "restored", "memory_id": stored.id}
    await app.embedding.refresh(quarantined)
    app.embedding.wake()
    return results


def _cleaned(
    targets: Sequence[tuple[PlannedNote, str | None]], *, checked: bool
) -> list[tuple[Memory, Record, Verdict | None]]:
    """Return notes as memories of projects, redacted and checked by the current rules.

    CPU-bound: run it in a thread.
    """
    cleaned: list[tuple[Memory, Record, Verdict | None]] = []
    for one, project_id in targets:
        assert one.note.record is not None  # noqa: S101 - only records are restored
        memory, record = _memory(one.note.record, project_id), one.note.record
        if one.state is not State.RESTORE:
            memory, record = _as_vouched(memory, one), _without_weight(record)
        cleaned.append((memory, record, screen(as_candidate(memory), check) if checked else None))
    return cleaned


def _restorable(chosen: Sequence[tuple[int, PlannedNote]], *, checked: bool) -> list[tuple[int, PlannedNote]]:
    """Return the new notes with a record that nothing is suspicious in. CPU-bound: run it in a thread."""
    with_record = [(at, one) for at, one in chosen if one.note.record and one.memory is None]
    memories_of = _cleaned([(one, one.project.id if one.project else None) for _, one in with_record], checked=checked)
    vouched = Admission(Decision.AUTO, 1.0, VOUCHED)
    return [
        pair
        for pair, (_, _, verdict) in zip(with_record, memories_of, strict=True)
        if verdict is None or apply_verdict(vouched, verdict).decision is Decision.AUTO
    ]


def _as_vouched(memory: Memory, one: PlannedNote) -> Memory:
    """Return the memory of a record that a person vouches for, with the edits in its note, which are their words.

    It contains no texts or flags that the person has not seen in the preview (`import_plan.as_answer`). The transcript
    is on another machine: what has its path here is another file.
    """
    kind, tags = one.note.labels
    now = time()
    content = cut(one.note.statement, MAX_RECORD_LENGTH) if one.note.statement else memory.content
    identifiers: dict[str, Any] = {
        name: value and _clean_again(value) for name in IDENTIFIERS for value in [getattr(memory, name)]
    }
    memory = replace(
        memory,
        **identifiers,
        kind=kind,
        category=KINDS[kind].category,
        tags=tuple(map(_clean_again, tags)),
        summary=cut(" ".join(content.split()), SUMMARY_LENGTH),
        content=content,
        content_hash=content_hash(content),
        created_at=min(memory.created_at, now),
        said_at=min(memory.said_at, now),
        archived_at=None if memory.archived_at is None else min(memory.archived_at, now),
        last_used_at=None,
        sentiment=NEUTRAL,
        verified=False,
        pinned=False,
        recurrence=1,
        uses=0,
        transcript="",
        evidence="",
        intent="",
    )
    return replace(memory, origin=Origin.USER, confidence=1.0) if one.note.statement else memory


def _without_weight(record: Record) -> Record:
    """Return another store's record with the default importance, and with no times that are still to come.

    Its links and corrections lose their texts, which no preview shows.
    """
    now = time()
    fading = record.fading and record.fading.model_copy(
        update={
            "importance": "normal",
            "touched_at": min(record.fading.touched_at, now),
            "reset_at": min(record.fading.reset_at, now),
        }
    )
    links = [
        one.model_copy(
            update={"evidence": "", "created_by": clean(one.created_by), "created_at": min(one.created_at, now)}
        )
        for one in record.links
    ]
    corrections = [
        one.model_copy(update={"reason": "", "created_at": min(one.created_at, now)}) for one in record.corrections
    ]
    return record.model_copy(update={"fading": fading, "links": tuple(links), "corrections": tuple(corrections)})


def _by_project(chosen: Sequence[tuple[int, PlannedNote]]) -> dict[str, list[tuple[int, PlannedNote]]]:
    found: dict[str, list[tuple[int, PlannedNote]]] = {}
    for at, one in chosen:
        found.setdefault(one.project.id if one.project else "", []).append((at, one))
    return found


def _memory(record: Record, project: str | None) -> Memory:
    values = {name: getattr(record.memory, name) for name in RECORDED_COLUMNS}
    for name in ("summary", "content", "rationale", "evidence", "intent"):
        values[name] = _clean_again(values[name])
    for name in ("tags", "files"):
        values[name] = tuple(map(_clean_again, values[name]))
    return Memory(id=0, project_id=project, content_hash=content_hash(values["content"]), **values)


def _clean_again(text: str) -> str:
    """Return ``text`` redacted; unchanged if the redaction would only remove white space at its ends."""
    cleaned = clean(text)
    return text if cleaned.strip() == text.strip() else cleaned


async def _owner(app: App, owner: Owner) -> Project:
    """Return the project of a record; create it if the store does not have it."""
    known = [one for one in await projects.named(app.database, owner.id) if one.id == owner.id]
    if known:
        return known[0]
    return await projects.find_or_create(
        app.database, Identity(owner.root, owner.name, owner.remote, owner.first_commit)
    )


async def _restore_memory(
    tx: aiosqlite.Connection, memory: Memory, record: Record, project: Project, reason: str
) -> Memory:
    stored_memory = await memories.insert(tx, memory, "user", reason=reason)
    if record.fading is not None:
        await transfer.restore_decay(tx, stored_memory.id, record.fading.model_dump())
    if record.waiting:
        # An unconfirmed memory is confirmed through its capture, which gets a new key: the old key may be purged.
        candidate = as_candidate(stored_memory)
        candidate = replace(candidate, evidence=replace(candidate.evidence, turn_id=f"restored {stored_memory.id}"))
        admission = Admission(Decision.REVIEW, stored_memory.confidence, reason or RESTORED, reservation="")
        place = SessionRef(stored_memory.project_id or project.id, stored_memory.session_id)
        number = await captures.insert(tx, candidate, admission, place, unconfirmed.DAYS, "user")
        if number is not None:
            await captures.bind(tx, number, stored_memory.id)
    return stored_memory


async def restore_links(
    app: App, raw: Sequence[Mapping[str, Any]], *, restored: Mapping[str, int] | None = None
) -> int:
    """Restore links, corrections and merges between stored memories; return how many.

    ``restored`` are the memories that the running import made of vouched records of another store, by the uids of
    these records. Links of such records connect only these memories: a file must not end or change what this store
    learned, or what an earlier import brought.
    """
    key = await asyncio.to_thread(export_key, app.home.root)
    found = await asyncio.to_thread(lambda: [parse_note(one) for one in raw])
    records = [(one.record, is_ours(one.record, key)) for one in found if one.record]
    came = await events.subjects_by_reason(app.database, "create", "memory", [FOREIGN])
    done = 0
    async with app.database.write() as tx:
        numbers = {uid: number for number, uid in (await transfer.keys_within(tx)).items()}
        vouched = {uid: number for uid, number in (restored or {}).items() if str(number) in came.get(FOREIGN, ())}
        for record, is_signed in records:
            known = numbers if is_signed else vouched
            if record.uid in known:
                done += await _restore_links_of(tx, record if is_signed else _without_weight(record), known)
    return done


async def _restore_links_of(tx: aiosqlite.Connection, record: Record, numbers: Mapping[str, int]) -> int:
    own, done = numbers[record.uid], 0
    for link in record.links:
        if link.target in numbers and link.type in LINK_TYPES:
            values = link.model_dump(exclude={"target"}) | {"evidence": clean(link.evidence)}
            done += await transfer.restore_link(tx, Link(0, own, numbers[link.target], **values))
    for correction in record.corrections:
        if correction.replacement is None or correction.replacement in numbers:
            values = {"memory_id": own, "replacement_id": numbers.get(correction.replacement or "")}
            values |= correction.model_dump(exclude={"replacement"}) | {"reason": clean(correction.reason)}
            done += await transfer.restore_correction(tx, values)
    for merge in record.merges:
        if merge.into in numbers:
            values = {"memory_id": own, "into_id": numbers[merge.into], **merge.model_dump(exclude={"into"})}
            done += await transfer.restore_merge(tx, values)
    return done


async def _store_or_queue(
    app: App, chosen: Sequence[tuple[int, PlannedNote]], *, vouched: bool
) -> dict[int, NoteOutcome]:
    """Queue notes of unknown authors for review, or store them as statements of the person who vouches for them.

    All notes concern the same project.
    """
    ctx = app.recall_context()
    project = chosen[0][1].project
    assert project is not None  # noqa: S101 - every planned note has one
    admitted = await asyncio.to_thread(
        lambda: [_admission(one, vouched=vouched, checked=ctx.settings.poisoning) for _, one in chosen]
    )
    repeats = await merging.repeated(ctx, admitted, project.id)
    provenance = Provenance(SessionRef(project.id, None), agent="import", actor="user")
    results: dict[int, NoteOutcome] = {}
    async with app.database.write() as tx:
        for (at, _), pair in zip(chosen, admitted, strict=True):
            results[at] = await _outcome(tx, await keep(ctx, tx, [pair], provenance, repeats))
    await app.embedding.refresh(repeats.changed)
    app.embedding.wake()
    return results


async def _outcome(tx: aiosqlite.Connection, kept: Sequence[tuple[int, Memory | None]]) -> NoteOutcome:
    if not kept:
        return {"became": "known", "memory_id": None}
    number, memory = kept[0]
    capture = await captures.require(tx, number)
    names = {"captured": "stored", "review": "waits", "unconfirmed": "waits", QUARANTINED: "quarantined"}
    became = names.get(capture["status"], "discarded")
    outcome: NoteOutcome = {"became": became, "memory_id": memory.id if memory else None}
    if became in ("discarded", "quarantined"):
        outcome["reason"] = capture["reason"]
    return outcome


def _admission(one: PlannedNote, *, vouched: bool, checked: bool) -> tuple[Candidate, Admission]:
    """Return a note's candidate, and whether to store or review it. Conflicts and long edits are always reviewed."""
    is_own_statement = vouched and one.state in (State.NEW, State.FOREIGN)
    candidate = candidate_of(one, Origin.USER if vouched else Origin.TOOL)
    if is_own_statement:
        admission = Admission(Decision.AUTO, 1.0, VOUCHED)
    else:
        reason = {State.CONFLICT: CONFLICT, State.EDITED: LONG_EDIT if vouched else FROM_FILE}.get(one.state, FROM_FILE)
        about = f" (memory {one.memory.id})" if one.memory else ""
        admission = Admission(Decision.REVIEW, candidate.raw_confidence, reason + about, reservation=FROM_FILE)
    return candidate, apply_verdict(admission, screen(candidate)) if checked else admission
