"""The first step of an import: plans what to do with each note, without changes.

Only a record that this store signed gets its origin, confidence and status back. All other notes are files that anybody
could have written: they wait for review, unless the person who imports them vouches for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from time import time
from typing import Any

import aiosqlite

from subconscious.app import App
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Candidate, Evidence, Memory, Origin, Scope, Strength
from subconscious.files.note import shown_tag
from subconscious.files.owners import target_project
from subconscious.files.record import Record, RecordError, export_key, is_ours, parse_record
from subconscious.memories.memory_commands import MAX_RECORD_LENGTH
from subconscious.poisoning.gate import screen
from subconscious.poisoning.suspicions import noted, of_verdict
from subconscious.redaction.cleaning import clean
from subconscious.store import captures, memories, transfer
from subconscious.store.links import AFFECTS_VALIDITY
from subconscious.store.projects import Project
from subconscious.store.rows import content_hash
from subconscious.text.wording import SUMMARY_LENGTH
from subconscious.text.words import cut
from subconscious.wire import files as wire

EXTRACTOR = "file-import-1"


class State(StrEnum):
    """What an import would do with a note."""

    RESTORE = "restore"
    """Signed by this store, but the store no longer has the memory."""
    UNCHANGED = "unchanged"
    OLDER = "older"
    """Signed by this store, but the memory changed after the export; the stored version is kept."""
    EDITED = "edited"
    CONFLICT = "conflict"
    """The note was edited, and the memory changed after the export, too."""
    NEW = "new"
    FOREIGN = "foreign"
    """The record of another store, which this store has not got."""
    ELSEWHERE = "elsewhere"
    """A record of a project that this store can't identify; an import leaves it out."""
    KNOWN = "known"
    """Imported before, with the same text."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A note to import: a record, a statement, or a record with an edited statement; or the problem with it."""

    name: str
    record: Record | None
    statement: str
    claims: Mapping[str, Any]
    problem: str = ""

    @property
    def text(self) -> str:
        """The statement; if there is none, the content of the record."""
        return self.statement or (self.record.memory.content if self.record else "")

    @property
    def labels(self) -> tuple[str, tuple[str, ...]]:
        """The kind and the tags in the note's front matter; where they are missing or invalid, those of its record."""
        recorded = (self.record.memory.kind, self.record.memory.tags) if self.record else ("learning", ())
        kind, tags = self.claims.get("kind"), self.claims.get("tags")
        known = {shown_tag(tag): tag for tag in recorded[1]}
        given = [known.get(str(tag), clean(str(tag))[:200]) for tag in tags] if isinstance(tags, list) else recorded[1]
        return (kind if kind in KINDS and kind != "meta" else recorded[0]), tuple(dict.fromkeys(given))


@dataclass(frozen=True, slots=True)
class PlannedNote:
    """A note with its state; ``memory`` is the stored memory with the same uid.

    ``project`` is the project that an import of the note concerns, unless the note is restored: then its record says.
    """

    note: ImportedNote
    state: State
    memory: Memory | None = None
    reason: str = ""
    suspicion: str = ""
    """Why the text may be poisoned; "" if it seems harmless, or if an import would not store it."""
    project: Project | None = None
    place: str = ""
    """The name of the project that an import would change, or `ALL_PROJECTS`; "" if it is the one of the import."""


ALL_PROJECTS = "all projects"

IMPORTED = (State.RESTORE, State.NEW, State.FOREIGN, State.EDITED, State.CONFLICT)
"""The states of notes that an import stores."""


async def plan(
    app: App, raw: Sequence[Mapping[str, Any]], project: Project, *, assigned: bool = False
) -> list[PlannedNote]:
    """Return what an import into a project would do with each note. Read-only.

    Records of other projects stay with these. With ``assigned``, those of unknown projects are meant for ``project``.
    """
    key = await asyncio.to_thread(export_key, app.home.root)
    found = await asyncio.to_thread(lambda: [parse_note(one) for one in raw])
    numbers = {uid: number for number, uid in (await transfer.keys(app.database)).items()}
    about = {one.record.uid: numbers[one.record.uid] for one in found if one.record and one.record.uid in numbers}
    stored = await memories.get_many(app.database, list(about.values()))
    owners = {one.record.project for one in found if one.record and one.record.project}
    targets = {owner: await target_project(app.database, owner, project) for owner in owners}
    planned = []
    async with app.database.write() as tx:
        held = await captures.in_quarantine(tx, list(stored))
        for one in found:
            memory = stored.get(about.get(one.record.uid, 0)) if one.record else None
            target = targets[one.record.project] if one.record and one.record.project else project
            target = target or (project if assigned else None)
            planned.append(replace(await _planned(tx, one, memory, key, target, held), project=target or project))
    decided = [replace(one, place=_place(one, project)) for one in _refuse_duplicates(planned)]
    if not app.recall_context().settings.poisoning:
        return decided
    return await asyncio.to_thread(lambda: [_checked(one) for one in decided])


def _place(planned: PlannedNote, here: Project) -> str:
    """Return the name of the project that an import of the note would change; "" if it is ``here`` or none."""
    record = planned.note.record
    if planned.state not in IMPORTED or record is None:
        return ""
    if record.project is None:
        return ALL_PROJECTS
    target = record.project if planned.state is State.RESTORE else planned.project or here
    return "" if target.id == here.id else target.name


def _checked(planned: PlannedNote) -> PlannedNote:
    """Return ``planned``, with a ``suspicion`` if its text would be stored and may be poisoned."""
    if planned.state not in IMPORTED:
        return planned
    return replace(planned, suspicion=of_verdict(screen(candidate_of(planned, Origin.TOOL))))


def parse_note(raw: Mapping[str, Any]) -> ImportedNote:
    """Return the note of a request; if the note is invalid, its ``problem`` says why."""
    name = str(raw.get("name", ""))[:1000]
    claims = raw.get("claims") if isinstance(raw.get("claims"), Mapping) else {}
    statement = raw.get("statement")
    statement = clean(statement).strip() if isinstance(statement, str) else ""
    try:
        record = parse_record(raw["record"]) if raw.get("record") is not None else None
    except RecordError as error:
        return ImportedNote(name, None, statement, {}, str(error))
    problem = "" if record or statement else "it has no text"
    return ImportedNote(name, record, statement, claims if isinstance(claims, Mapping) else {}, problem)


def _refuse_duplicates(planned: Sequence[PlannedNote]) -> list[PlannedNote]:
    """Refuse all but the first of several notes about the same memory, since it is unknown which of them is right."""
    first: dict[str, str] = {}
    found = []
    for one in planned:
        uid = one.note.record.uid if one.note.record and one.state is not State.REFUSED else ""
        is_duplicate = uid in first
        found.append(
            replace(one, state=State.REFUSED, reason=f"it is the same memory as {first[uid]}") if is_duplicate else one
        )
        first |= {uid: one.note.name} if uid and not is_duplicate else {}
    return found


async def _planned(
    tx: aiosqlite.Connection,
    one: ImportedNote,
    memory: Memory | None,
    key: bytes,
    project: Project | None,
    held: set[int],
) -> PlannedNote:
    if one.problem:
        return PlannedNote(one, State.REFUSED, reason=one.problem)
    is_signed = one.record is not None and is_ours(one.record, key)
    if memory is not None and memory.id in held:
        return PlannedNote(one, State.REFUSED, memory, f"memory {memory.id} is in quarantine")
    if one.record is not None and is_signed and not one.statement:
        return _plan_signed(one, one.record, memory)
    new = PlannedNote(one, State.NEW if one.record is None or is_signed else State.FOREIGN, project=project)
    known = await captures.is_known(tx, candidate_of(new, Origin.TOOL))
    if memory is not None and one.record is not None:
        planned = _plan_edited(one, one.record, memory, is_signed=is_signed)
        # A waiting edit can still be vouched for by a new import; a waiting conflict is decided in the review.
        is_queued = planned.state is State.CONFLICT and known
        if planned.state is not State.UNCHANGED and (is_queued or await _is_stored(tx, one.text, memory)):
            return PlannedNote(one, State.KNOWN, memory)
        return planned
    warning = f"only its first {MAX_RECORD_LENGTH} characters are imported" if len(one.text) > MAX_RECORD_LENGTH else ""
    if known:
        return PlannedNote(one, State.KNOWN, reason=warning)
    if project is None and one.record is not None and one.record.project is not None:
        return PlannedNote(one, State.ELSEWHERE, reason=one.record.project.name)
    return replace(new, reason=warning)


async def _is_stored(tx: aiosqlite.Connection, text: str, memory: Memory) -> bool:
    """Return whether an active memory already has this text, for example because the edit was imported before."""
    reworded = replace(memory, content_hash=content_hash(" ".join(text.split())))
    return await memories.same_wording(tx, reworded) is not None


def _plan_signed(one: ImportedNote, record: Record, memory: Memory | None) -> PlannedNote:
    if memory is None:
        return PlannedNote(one, State.RESTORE)
    shown = dict(zip(("kind", "tags"), one.labels, strict=True))
    differences = [
        name
        for name in ("content", "kind", "tags")
        if getattr(memory, name) not in (getattr(record.memory, name), shown.get(name))
    ]
    differences += ["status"] if (memory.archived_at is None) != (record.memory.archived_at is None) else []
    changed = _changed_labels(one, record, memory)
    if changed and not differences and memory.archived_at is None:
        return PlannedNote(one, State.EDITED, memory, changed)
    if differences:
        return PlannedNote(one, State.OLDER, memory, f"the store has changed since: {', '.join(differences)}")
    return PlannedNote(one, State.UNCHANGED, memory)


def _changed_labels(one: ImportedNote, record: Record, memory: Memory) -> str:
    """Return the edits in the front matter of a note that are not in the store yet, as text; "" for none."""
    recorded, stored = (record.memory.kind, record.memory.tags), (memory.kind, memory.tags)
    parts = [
        f"{name}: {_shown(old)} becomes {_shown(new)}"
        for name, old, new, now in zip(("kind", "tags"), recorded, one.labels, stored, strict=True)
        if new not in (old, now)
    ]
    return "; ".join(parts)


def _shown(label: str | Sequence[str]) -> str:
    return label if isinstance(label, str) else ", ".join(label) or "none"


def _plan_edited(one: ImportedNote, record: Record, memory: Memory, *, is_signed: bool) -> PlannedNote:
    """Plan an edited or unsigned note about a stored memory, by comparing only their texts."""
    if content_hash(one.text) == memory.content_hash:
        return PlannedNote(one, State.UNCHANGED, memory)
    if memory.archived_at is not None:
        return PlannedNote(one, State.CONFLICT, memory, f"memory {memory.id} is archived")
    # Without a valid signature, the version from which the note was edited is unknown.
    if not is_signed or content_hash(record.memory.content) != memory.content_hash:
        return PlannedNote(one, State.CONFLICT, memory, f"memory {memory.id} has a different text now")
    return PlannedNote(one, State.EDITED, memory)


MOST_SHOWN = 4000
"""The most characters of a statement that a preview shows: a person who vouches for it must see all that is stored."""


def _whole(text: str) -> str:
    left = len(text) - MOST_SHOWN
    return text if left <= 0 else f"{text[:MOST_SHOWN]} [and {left} more characters]"


def _also_stored(note: ImportedNote) -> str:
    """Return what else of another store's record sessions are shown or search in, as text."""
    assert note.record is not None  # noqa: S101 - only records come from other stores
    memory = note.record.memory
    parts = {
        "reason": memory.rationale,
        "files": ", ".join(memory.files),
        "tags": ", ".join(note.labels[1]),
        "branch": memory.branch,
    }
    return clean("; ".join(f"{name}: {text}" for name, text in parts.items() if text.strip()))


def _ends(record: Record) -> int:
    """Return how many links, corrections and merges of a record end memories or contradict them."""
    links = [link for link in record.links if link.type in AFFECTS_VALIDITY and link.status == "active"]
    merges = [merge for merge in record.merges if merge.undone_at is None]
    return len(links) + len(merges) + len(record.corrections)


def as_answer(planned: PlannedNote) -> wire.PlannedNote:
    """Return a planned note as a row of the response."""
    now = planned.memory.content if planned.memory else ""
    about = _whole(planned.note.text)
    if planned.state is State.FOREIGN and (more := _also_stored(planned.note)):
        about += f" [{_whole(more)}]"
    return {
        "name": planned.note.name,
        "state": planned.state.value,
        "about": about,
        "id": planned.memory.id if planned.memory else None,
        "now": _whole(now) if planned.note.statement and planned.state in (State.EDITED, State.CONFLICT) else "",
        "reason": planned.reason,
        "project": planned.place,
        "ends": _ends(planned.note.record) if planned.state is State.FOREIGN and planned.note.record else 0,
        **noted(planned.suspicion),
    }


def candidate_of(planned: PlannedNote, origin: Origin) -> Candidate:
    """Return a note as a candidate. Its kind, reason, tags and date are what the file claims."""
    one, project = planned.note, planned.project
    claimed = one.record.memory if one.record else None
    kind = _claim(one, "kind", claimed.kind if claimed else "")
    text = clean(one.text).strip()
    content = cut(text, MAX_RECORD_LENGTH)
    at = claimed.said_at if claimed else _time(one.claims.get("said"))
    tags = claimed.tags if claimed else one.claims.get("tags") or ()
    source = one.record.uid if one.record else f"{project.id if project else ''}/{one.name}"
    return Candidate(
        kind=kind if kind in KINDS and kind != "meta" else "learning",
        summary=cut(" ".join(text.split()), SUMMARY_LENGTH),
        content=content,
        evidence=Evidence(content, f"file {source}", one.name, 0, 0),
        origin=origin,
        strength=Strength.EXPLICIT if origin is Origin.USER else Strength.IMPLIED,
        raw_confidence=1.0 if origin is Origin.USER else Strength.IMPLIED.prior,
        extractor=EXTRACTOR,
        time=min(time(), max(0.0, at)),
        scope=claimed.scope if claimed else Scope.PROJECT,
        rationale=clean(_claim(one, "reason", claimed.rationale if claimed else "")),
        branch=_claim(one, "branch", claimed.branch if claimed else "")[:1000],
        tags=tuple(clean(str(tag))[:200] for tag in list(tags)[:50]) if isinstance(tags, (list, tuple)) else (),
    )


def _claim(one: ImportedNote, name: str, recorded: str) -> str:
    value = one.claims.get(name)
    return recorded or (value[:MAX_RECORD_LENGTH] if isinstance(value, str) else "")


def _time(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 else time()
