"""Export and import of memories as files: what leaves, what may come back, and as whose words.

Only a record that this store signed gets its origin, confidence and status back. Everything else is a file that
somebody wrote: it waits for review, unless the person who imports it vouches for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import SubconsciousError
from subconscious.files.record import (
    CorrectedBy,
    Fading,
    Fields,
    LinkTo,
    MergedInto,
    Owner,
    Record,
    RecordError,
    as_json,
    export_key,
    is_ours,
    parse_record,
    signed,
)
from subconscious.flow import merging
from subconscious.flow.remembering import Provenance, clean, keep
from subconscious.kinds import KINDS
from subconscious.link_types import LINK_TYPES
from subconscious.model import Admission, Candidate, Decision, Evidence, Link, Memory, Origin, Scope, Strength, Verdict
from subconscious.poisoning import check
from subconscious.poisoning.gate import screen, withhold
from subconscious.projects import Identity
from subconscious.store import captures, memories, projects, transfer, unconfirmed
from subconscious.store.capture_rows import QUARANTINED, Place
from subconscious.store.projects import Project
from subconscious.store.rows import content_hash, opened
from subconscious.store.transfer import Selection

from . import correcting, watching
from .acts import CONTENT_LENGTH, RECORD_LENGTH, SUMMARY_LENGTH, cut
from .core import Core
from .suspicions import as_candidate

EXTRACTOR = "file-import-1"
FROM_FILE = "it comes from a file: a person must approve it"
CONFLICT = "it was edited in a file, and the memory has changed since the export: a person decides which holds"
LONG_EDIT = f"it was edited in a file and has more than {CONTENT_LENGTH} characters: a person must approve it"
RESTORED = "restored from an export of this store"

_OWN_COLUMNS = frozenset(Fields.model_fields)


class State(StrEnum):
    """What an import would do with one note."""

    RESTORE = "restore"
    """Signed by this store, and not in it any more."""
    UNCHANGED = "unchanged"
    OLDER = "older"
    """Signed by this store, which has changed the memory since: the store's version stays."""
    EDITED = "edited"
    CONFLICT = "conflict"
    """Edited, and the memory has changed since the export."""
    NEW = "new"
    KNOWN = "known"
    """Imported before, in the same words."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Offered:
    """One note as a caller offers it: a record, a statement, or a record whose statement was edited."""

    name: str
    record: Record | None
    statement: str
    claims: Mapping[str, Any]
    problem: str = ""

    @property
    def text(self) -> str:
        """What it says."""
        return self.statement or (self.record.memory.content if self.record else "")


@dataclass(frozen=True, slots=True)
class Judged:
    """One note with what would become of it; ``memory`` is the stored one that it is about."""

    offered: Offered
    state: State
    memory: Memory | None = None
    reason: str = ""


async def export(core: Core, which: Selection, after: int, limit: int) -> dict[str, Any]:
    """Return a page of signed records, and the id to go on behind; None at the end."""
    found = await transfer.page(core.database, which, after, limit)
    records = await _records(core, found)
    key = await asyncio.to_thread(export_key, core.home.root)
    documents = await asyncio.to_thread(lambda: [as_json(signed(record, key)) for record in records])
    return {"records": documents, "next": found[-1].id if len(found) == limit else None}


async def _records(core: Core, found: Sequence[Memory]) -> list[Record]:
    if not found:
        return []
    database, ids = core.database, [memory.id for memory in found]
    keys = await transfer.keys(database)
    owners = await _owners(core, found)
    waiting = await transfer.waiting(database, ids)
    fading, links = await transfer.fading(database, ids), await transfer.links_from(database, ids)
    corrections, merges = await transfer.corrections(database, ids), await transfer.merges(database, ids)
    return [
        Record(
            uid=keys[memory.id],
            id=memory.id,
            project=owners.get(memory.project_id or ""),
            memory=Fields(**{name: value for name, value in opened(memory).items() if name in _OWN_COLUMNS}),
            waiting=memory.id in waiting,
            fading=next((Fading(**_picked(row, Fading)) for row in fading.get(memory.id, ())), None),
            links=tuple(
                LinkTo(target=keys[row["target_id"]], **_picked(row, LinkTo)) for row in links.get(memory.id, ())
            ),
            corrections=tuple(
                CorrectedBy(replacement=keys.get(row["replacement_id"]), **_picked(row, CorrectedBy))
                for row in corrections.get(memory.id, ())
            ),
            merges=tuple(
                MergedInto(into=keys[row["into_id"]], **_picked(row, MergedInto)) for row in merges.get(memory.id, ())
            ),
        )
        for memory in found
    ]


def _picked(row: Mapping[str, Any], part: type[Any]) -> dict[str, Any]:
    return {name: row[name] for name in part.model_fields if name in row}


async def _owners(core: Core, found: Sequence[Memory]) -> dict[str, Owner]:
    ids = {memory.project_id for memory in found if memory.project_id is not None}
    known = [one for number in sorted(ids) for one in await projects.named(core.database, number) if one.id == number]
    return {one.id: Owner(**asdict(one)) for one in known}


def offered_from(raw: Mapping[str, Any]) -> Offered:
    """Read a note as a request brings it; what is wrong with it is kept as its problem."""
    name = str(raw.get("name", ""))[:1000]
    claims = raw.get("claims") if isinstance(raw.get("claims"), Mapping) else {}
    statement = raw.get("statement")
    said = clean(statement).strip() if isinstance(statement, str) else ""
    try:
        record = parse_record(raw["record"]) if raw.get("record") is not None else None
    except RecordError as error:
        return Offered(name, None, said, {}, str(error))
    problem = "" if record or said else "it says nothing"
    return Offered(name, record, said, claims if isinstance(claims, Mapping) else {}, problem)


async def plan(core: Core, raw: Sequence[Mapping[str, Any]], project: Project) -> list[Judged]:
    """Say what an import would do with each note; changes nothing."""
    key = await asyncio.to_thread(export_key, core.home.root)
    found = await asyncio.to_thread(lambda: [offered_from(one) for one in raw])
    numbers = {uid: number for number, uid in (await transfer.keys(core.database)).items()}
    about = {one.record.uid: numbers[one.record.uid] for one in found if one.record and one.record.uid in numbers}
    stored = await memories.get_many(core.database, list(about.values()))
    judged = []
    async with core.database.write() as tx:
        held = await captures.in_quarantine(tx, list(stored))
        for one in found:
            memory = stored.get(about.get(one.record.uid, 0)) if one.record else None
            judged.append(await _judged(tx, one, memory, key, project, held))
    return _without_doubles(judged)


def _without_doubles(judged: Sequence[Judged]) -> list[Judged]:
    """Refuse the second of two notes about one memory: nobody can say which of them is meant."""
    first: dict[str, str] = {}
    found = []
    for one in judged:
        uid = one.offered.record.uid if one.offered.record and one.state is not State.REFUSED else ""
        double = uid in first
        found.append(replace(one, state=State.REFUSED, reason=f"{first[uid]} is the same memory") if double else one)
        first |= {uid: one.offered.name} if uid and not double else {}
    return found


async def _judged(
    tx: aiosqlite.Connection, one: Offered, memory: Memory | None, key: bytes, project: Project, held: set[int]
) -> Judged:
    if one.problem:
        return Judged(one, State.REFUSED, reason=one.problem)
    ours = one.record is not None and is_ours(one.record, key)
    if memory is not None and memory.id in held:
        return Judged(one, State.REFUSED, memory, f"memory {memory.id} is in quarantine")
    if one.record is not None and ours and not one.statement:
        return _of_ours(one, one.record, memory)
    known = await captures.is_known(tx, _candidate(one, project, Origin.TOOL))
    if memory is not None and one.record is not None:
        judged = _edited(one, one.record, memory, ours=ours)
        # An edit that waits can still be vouched for; a conflict that waits is decided in the review.
        over = judged.state is State.CONFLICT and known
        if judged.state is not State.UNCHANGED and (over or await _is_said(tx, one.text, memory)):
            return Judged(one, State.KNOWN, memory)
        return judged
    cut_off = f"only its first {RECORD_LENGTH} characters are imported" if len(one.text) > RECORD_LENGTH else ""
    return Judged(one, State.KNOWN if known else State.NEW, reason=cut_off)


async def _is_said(tx: aiosqlite.Connection, text: str, memory: Memory) -> bool:
    """Whether an active memory says a text already: an edit that was taken over once is no question again."""
    worded = replace(memory, content_hash=content_hash(" ".join(text.split())))
    return await memories.same_wording(tx, worded) is not None


def _of_ours(one: Offered, record: Record, memory: Memory | None) -> Judged:
    if memory is None:
        return Judged(one, State.RESTORE)
    differs = [name for name in ("content", "kind", "tags") if getattr(memory, name) != getattr(record.memory, name)]
    differs += ["status"] if (memory.archived_at is None) != (record.memory.archived_at is None) else []
    if differs:
        return Judged(one, State.OLDER, memory, f"the store has changed since: {', '.join(differs)}")
    return Judged(one, State.UNCHANGED, memory)


def _edited(one: Offered, record: Record, memory: Memory, *, ours: bool) -> Judged:
    """A note about a stored memory that is not what this store wrote: its statement is all that is read of it."""
    if content_hash(one.text) == memory.content_hash:
        return Judged(one, State.UNCHANGED, memory)
    if memory.archived_at is not None:
        return Judged(one, State.CONFLICT, memory, f"memory {memory.id} is archived")
    # Without a valid signature nobody knows which version the note was edited from.
    if not ours or content_hash(record.memory.content) != memory.content_hash:
        return Judged(one, State.CONFLICT, memory, f"memory {memory.id} says something else by now")
    return Judged(one, State.EDITED, memory)


def as_answer(judged: Judged) -> dict[str, Any]:
    """Return one note as an answer reports it."""
    now = judged.memory.content if judged.memory else ""
    return {
        "name": judged.offered.name,
        "state": judged.state.value,
        "about": judged.offered.text[:400],
        "id": judged.memory.id if judged.memory else None,
        "now": now[:400] if judged.state in (State.EDITED, State.CONFLICT) else "",
        "reason": judged.reason,
    }


async def take(
    core: Core, raw: Sequence[Mapping[str, Any]], project: Project, *, vouched: bool = False
) -> list[dict[str, Any]]:
    """Carry an import out: a person's deed. Return what became of each note, in their order."""
    judged = await plan(core, raw, project)
    results: dict[int, dict[str, Any]] = {}
    ours = [(at, one) for at, one in enumerate(judged) if one.state is State.RESTORE]
    results |= await _restore(core, ours, project)
    strange = [(at, one) for at, one in enumerate(judged) if one.state in (State.NEW, State.CONFLICT)]
    for at, one in enumerate(judged):
        if one.state is State.EDITED:
            if vouched and len(one.offered.statement) <= CONTENT_LENGTH:
                results[at] = await _correct(core, one)
            else:
                strange.append((at, one))
    results |= await _take_in(core, strange, project, vouched=vouched)
    return [as_answer(one) | results.get(at, {"became": "", "memory_id": None}) for at, one in enumerate(judged)]


async def _correct(core: Core, one: Judged) -> dict[str, Any]:
    """Let an edited note correct its memory, in the words of the person who vouches for it."""
    assert one.memory is not None  # noqa: S101 - only notes about a stored memory are edited
    wish = correcting.Wish(one.memory.id, "refined", text=one.offered.statement, reason=f"edited in {one.offered.name}")
    try:
        done = await correcting.correct(core, wish)
    except SubconsciousError as error:
        return {"became": "refused", "memory_id": None, "reason": error.message}
    return {"became": "corrected", "memory_id": done.replacement.id if done.replacement else None}


async def _restore(core: Core, chosen: Sequence[tuple[int, Judged]], project: Project) -> dict[int, dict[str, Any]]:
    """Bring memories of this store back, checked and redacted again."""
    if not chosen:
        return {}
    records = [one.offered.record for _, one in chosen if one.offered.record]
    owners = {record.project.id: await _owner(core, record.project) for record in records if record.project}
    made = await asyncio.to_thread(_cleaned, records, owners, checked=core.mind().settings.poisoning)
    results: dict[int, dict[str, Any]] = {}
    gone: list[int] = []
    async with core.database.write() as tx:
        for (at, _), (memory, record, verdict) in zip(chosen, made, strict=True):
            kept = await _put_back(tx, memory, record, project)
            left, _ = await watching.note_check(tx, kept, verdict) if verdict else ([], False)
            gone += left
            results[at] = {"became": "quarantined" if kept.id in left else "restored", "memory_id": kept.id}
    await core.embedding.refresh(gone)
    core.embedding.wake()
    return results


def _cleaned(
    records: Sequence[Record], owners: Mapping[str, Project], *, checked: bool
) -> list[tuple[Memory, Record, Verdict | None]]:
    """Make memories of records: redacted and checked by the rules of today. CPU-bound: run it in a thread."""
    made: list[tuple[Memory, Record, Verdict | None]] = []
    for record in records:
        memory = _memory(record, owners)
        made.append((memory, record, screen(as_candidate(memory), check) if checked else None))
    return made


def _memory(record: Record, owners: Mapping[str, Project]) -> Memory:
    values = {name: getattr(record.memory, name) for name in _OWN_COLUMNS}
    for name in ("summary", "content", "rationale", "evidence", "intent"):
        values[name] = _clean_again(values[name])
    for name in ("tags", "files"):
        values[name] = tuple(map(_clean_again, values[name]))
    project = owners[record.project.id].id if record.project else None
    return Memory(id=0, project_id=project, content_hash=content_hash(values["content"]), **values)


def _clean_again(text: str) -> str:
    """What redaction leaves of a text; white space at its ends, which is cut with private spans, stays as it was."""
    cleaned = clean(text)
    return text if cleaned.strip() == text.strip() else cleaned


async def _owner(core: Core, owner: Owner) -> Project:
    """The project of a record: the stored one, or the same one made again."""
    known = [one for one in await projects.named(core.database, owner.id) if one.id == owner.id]
    if known:
        return known[0]
    return await projects.settle(core.database, Identity(owner.root, owner.name, owner.remote, owner.first_commit))


async def _put_back(tx: aiosqlite.Connection, memory: Memory, record: Record, project: Project) -> Memory:
    kept = await memories.insert(tx, memory, "user")
    if record.fading is not None:
        await transfer.restore_fading(tx, kept.id, record.fading.model_dump())
    if record.waiting:
        # Its capture is what lets it be confirmed; under a key of its own, since the old one may be purged.
        candidate = as_candidate(kept)
        candidate = replace(candidate, evidence=replace(candidate.evidence, turn_id=f"restored {kept.id}"))
        admission = Admission(Decision.REVIEW, kept.confidence, RESTORED, reservation="")
        place = Place(kept.project_id or project.id, kept.session_id)
        number = await captures.insert(tx, candidate, admission, place, unconfirmed.DAYS, "user")
        if number is not None:
            await captures.bind(tx, number, kept.id)
    return kept


async def connect(core: Core, raw: Sequence[Mapping[str, Any]]) -> int:
    """Restore links, corrections and merges between memories that are all stored by now; return how many."""
    key = await asyncio.to_thread(export_key, core.home.root)
    found = await asyncio.to_thread(lambda: [offered_from(one) for one in raw])
    ours = [one.record for one in found if one.record and is_ours(one.record, key)]
    done = 0
    async with core.database.write() as tx:
        numbers = {uid: number for number, uid in (await transfer.keys_within(tx)).items()}
        for record in ours:
            if record.uid in numbers:
                done += await _connect(tx, record, numbers)
    return done


async def _connect(tx: aiosqlite.Connection, record: Record, numbers: Mapping[str, int]) -> int:
    own, done = numbers[record.uid], 0
    for link in record.links:
        if link.target in numbers and link.type in LINK_TYPES:
            values = link.model_dump(exclude={"target"}) | {"evidence": clean(link.evidence)}
            done += await transfer.restore_link(tx, Link(0, own, numbers[link.target], **values))
    for said in record.corrections:
        if said.replacement is None or said.replacement in numbers:
            values = {"memory_id": own, "replacement_id": numbers.get(said.replacement or "")}
            values |= said.model_dump(exclude={"replacement"}) | {"reason": clean(said.reason)}
            done += await transfer.restore_correction(tx, values)
    for merge in record.merges:
        if merge.into in numbers:
            values = {"memory_id": own, "into_id": numbers[merge.into], **merge.model_dump(exclude={"into"})}
            done += await transfer.restore_merge(tx, values)
    return done


async def _take_in(
    core: Core, chosen: Sequence[tuple[int, Judged]], project: Project, *, vouched: bool
) -> dict[int, dict[str, Any]]:
    """Let notes of unknown authors wait for review, or count as the words of the person who vouches for them."""
    if not chosen:
        return {}
    mind = core.mind()
    judged = await asyncio.to_thread(
        lambda: [_admitted(one, project, vouched=vouched, checked=mind.settings.poisoning) for _, one in chosen]
    )
    repeats = await merging.repeated(mind, judged, project.id)
    where = Provenance(Place(project.id, None), agent="import", actor="user")
    results: dict[int, dict[str, Any]] = {}
    async with core.database.write() as tx:
        for (at, _), pair in zip(chosen, judged, strict=True):
            kept = await keep(mind, tx, [pair], where, repeats)
            results[at] = await _became(tx, kept)
    await core.embedding.refresh(repeats.changed)
    core.embedding.wake()
    return results


async def _became(tx: aiosqlite.Connection, kept: Sequence[tuple[int, Memory | None]]) -> dict[str, Any]:
    if not kept:
        return {"became": "known", "memory_id": None}
    number, memory = kept[0]
    capture = await captures.held(tx, number)
    names = {"captured": "stored", "review": "waits", "unconfirmed": "waits", QUARANTINED: "quarantined"}
    became = names.get(capture["status"], "discarded")
    reason = {"reason": capture["reason"]} if became in ("discarded", "quarantined") else {}
    return {"became": became, "memory_id": memory.id if memory else None} | reason


def _admitted(one: Judged, project: Project, *, vouched: bool, checked: bool) -> tuple[Candidate, Admission]:
    """A note as the gate sees it. A conflict waits for a person's decision also where they vouch for the words."""
    own_word = vouched and one.state is State.NEW
    candidate = _candidate(one.offered, project, Origin.USER if vouched else Origin.TOOL)
    if own_word:
        admission = Admission(Decision.AUTO, 1.0, "a person vouched for it")
    else:
        reason = {State.CONFLICT: CONFLICT, State.EDITED: LONG_EDIT if vouched else FROM_FILE}.get(one.state, FROM_FILE)
        about = f" (memory {one.memory.id})" if one.memory else ""
        admission = Admission(Decision.REVIEW, candidate.raw_confidence, reason + about, reservation=FROM_FILE)
    return candidate, withhold(admission, screen(candidate)) if checked else admission


def _candidate(one: Offered, project: Project, origin: Origin) -> Candidate:
    """The candidate that a note is; kind, reason, tags and date are what the file claims, and only that."""
    claimed = one.record.memory if one.record else None
    kind = _claim(one, "kind", claimed.kind if claimed else "")
    text = clean(one.text).strip()
    content = cut(text, RECORD_LENGTH)
    at = claimed.said_at if claimed else _moment(one.claims.get("said"))
    tags = claimed.tags if claimed else one.claims.get("tags") or ()
    source = one.record.uid if one.record else f"{project.id}/{one.name}"
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
        scope=Scope.PROJECT,
        rationale=clean(_claim(one, "reason", claimed.rationale if claimed else "")),
        branch=_claim(one, "branch", claimed.branch if claimed else "")[:1000],
        tags=tuple(clean(str(tag))[:200] for tag in list(tags)[:50]) if isinstance(tags, (list, tuple)) else (),
    )


def _claim(one: Offered, name: str, recorded: str) -> str:
    value = one.claims.get(name)
    return recorded or (value[:RECORD_LENGTH] if isinstance(value, str) else "")


def _moment(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 else time()
