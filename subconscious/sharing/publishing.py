"""Chooses the memories of a store that are shared, and makes the versions that a sync writes to Git.

Only memories that a person chose are shared, after they were redacted and checked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.app import App
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Level, Memory, Scope, Verdict
from subconscious.files.record import (
    Fields,
    Owner,
    Record,
    RecordError,
    as_json,
    export_key,
    is_ours,
    parse_record,
    signed,
)
from subconscious.poisoning.gate import explanation, screen
from subconscious.poisoning.suspicions import as_candidate
from subconscious.redaction.cleaning import clean
from subconscious.sharing.merge import Entry, digest_of
from subconscious.sharing.shared_texts import current_texts
from subconscious.store import captures, events, memories, shares, transfer
from subconscious.store.projects import Project
from subconscious.store.rows import content_hash
from subconscious.store.shares import EXTRACTOR, Share
from subconscious.wire.files import Document, HeldMemory

RULES = {"decisions": "decision", "learnings": "learning", "dead-ends": "dead_end", "patterns": "pattern"}
"""The kind of memory that each rule shares."""

LEAVING = (
    *("scope", "kind", "category", "summary", "content", "origin", "confidence", "raw_confidence", "extractor"),
    *("created_at", "said_at", "rationale", "sentiment", "verified", "archived_at", "branch", "commit"),
)
"""Columns that are shared, besides tags and files; a memory's session, transcript, quote and prompt are not."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The data that a sync writes to Git, and the memories that it leaves out (``held``), each with the reason."""

    entries: dict[str, Entry]
    held: list[HeldMemory]


async def choose(app: App, project: Project, ids: Sequence[int]) -> list[Memory]:
    """Mark memories as shared, and return them. Raises RequestError if one must not be shared, or does not exist."""
    found = await memories.get_many(app.database, ids)
    for number in ids:
        if number not in found:
            raise RequestError(f"there is no memory {number}", "`subconscious list` shows those that exist")
        if why := await _refusal(app, found[number], project):
            raise RequestError(
                f"memory {number} can't be shared: {why}", "run `subconscious list` to see this project's memories"
            )
    keys = await transfer.keys(app.database)
    async with app.database.write() as tx:
        for memory in found.values():
            await _choose(tx, memory, keys, project)
    return list(found.values())


async def _choose(
    tx: aiosqlite.Connection, memory: Memory, keys: Mapping[int, str], project: Project, rule: str = ""
) -> None:
    uid = memory.turn_id.split(" ")[1] if memory.extractor == EXTRACTOR else keys[memory.id]
    await shares.choose(tx, memory.id, uid, project.id, rule)
    await events.record(tx, "share", "memory", memory.id, actor="user", reason=rule and f"rule {rule}")


async def _refusal(app: App, memory: Memory, project: Project) -> str:
    if memory.scope is Scope.USER:
        return "it applies to you in all projects"
    if memory.project_id != project.id:
        return "it belongs to another project"
    if memory.is_claude_note:
        return "it is a copy of one of Claude Code's notes"
    if memory.unconfirmed:
        return "it is unconfirmed"
    async with app.database.write() as tx:
        return "it is in quarantine" if await captures.in_quarantine(tx, [memory.id]) else ""


async def apply_rules(app: App, project: Project) -> None:
    """Share the memories that the rules of a project choose, except those that the user stopped sharing."""
    for rule in await shares.rules(app.database, project.id):
        ids = await shares.by_kind(app.database, project.id, RULES[rule])
        found = await memories.get_many(app.database, ids)
        keys = await transfer.keys(app.database) if found else {}
        async with app.database.write() as tx:
            for memory in found.values():
                if memory.scope is Scope.PROJECT and memory.extractor != EXTRACTOR:
                    await _choose(tx, memory, keys, project, rule)


async def publish(app: App, project: Project, entries: Mapping[str, Entry], *, preview: bool = False) -> Outgoing:
    """Return the versions to write to Git; ``entries`` are the memories that Git contains now."""
    chosen = [one for one in await shares.of_project(app.database, project.id) if one.uid in entries]
    texts = await current_texts(app, project, settle=not preview)
    key = await asyncio.to_thread(export_key, app.home.root)
    out = Outgoing({}, [])
    for share in chosen:
        entry = entries[share.uid]
        if share.withdrawn_at is not None:
            _withdraw(out, share, entry, key)
        elif (text := texts.get(share.uid)) is not None:
            memory = text.memory
            record = await asyncio.to_thread(_record, memory, share.uid, project)
            # Checked again, because the memory may have changed since it was chosen.
            if why := await _refusal(app, memory, project) or await asyncio.to_thread(_danger, app, record):
                out.held.append({"id": memory.id, "reason": why})
                continue
            version: Document = {"record": as_json(signed(record, key)), "at": text.at}
            base = _publish(out, share, entry, version, text.decided)
            if base and not preview:
                async with app.database.write() as tx:
                    await shares.written(tx, share, statement_of(version), base)
    return out


def _withdraw(out: Outgoing, share: Share, entry: Entry, key: bytes) -> None:
    """Add to ``out`` the removal from Git of the versions that this store signed."""
    own = {digest for digest, version in entry.versions.items() if _is_own(version, share.uid, key)}
    if own:
        out.entries[share.uid] = Entry({}, frozenset(own), entry.commit)


def _publish(out: Outgoing, share: Share, entry: Entry, version: Document, decided: Iterable[str]) -> set[str]:
    """Add a version to ``out``, unless Git already has it, or a newer version that waits for a decision in this store.

    Returns the digests of the versions that this text takes into account, to be stored as the share's base; an empty
    set if a newer version in Git waits for a decision.
    """
    said = statement_of(version)
    known = {*share.base, *decided}
    same = {digest for digest, other in entry.versions.items() if statement_of(other) == said}
    over = (entry.versions.keys() & known) - same
    # A version that is recorded here may be missing in Git, if an earlier sync was interrupted.
    lost = set(share.base) - entry.versions.keys() - entry.replaced
    if same:  # another author's equal version is kept; rejected versions are removed
        if over:
            out.entries[share.uid] = Entry({}, frozenset(over), entry.commit)
        return known | same
    if entry.versions and not over and not lost and said == share.statement:
        return set()
    if digest_of(version) in entry.replaced | over:
        version = version | {"at": time()}
    commit = str(version["record"]["memory"]["commit"])
    out.entries[share.uid] = Entry({digest_of(version): version}, frozenset(over), commit)
    return known | {digest_of(version)}


def statement_of(version: Document) -> str:
    """Return a string to compare versions by: the text's hash, the kind, and whether the memory is active."""
    try:
        memory = version["record"]["memory"]
        return f"{content_hash(memory['content'])} {memory['kind']} {memory['archived_at'] is None}"
    except (KeyError, TypeError, AttributeError):
        return ""


def _record(memory: Memory, uid: str, project: Project) -> Record:
    """Return the shared record of a memory, redacted again. CPU-bound: run it in a thread."""
    values = {name: getattr(memory, name) for name in LEAVING}
    values |= {name: clean(values[name]) for name in ("summary", "content", "rationale", "branch")}
    values["tags"] = tuple(map(clean, memory.tags))
    values["files"] = tuple(clean(name) for name in memory.files if not name.startswith(("/", "~", "..")))
    return Record(uid=uid, id=0, project=Owner(id="", name=project.name, root=""), memory=Fields(**values))


def _danger(app: App, record: Record) -> str:
    """Return why a record looks like an attack on its readers; "" if it does not."""
    memory = Memory(id=0, project_id="", content_hash="", **record.memory.model_dump())
    verdict = screen(as_candidate(memory)) if app.recall_context().settings.poisoning else Verdict()
    return explanation(verdict) if verdict.level.rank >= Level.MEDIUM.rank else ""


def _is_own(version: Document, uid: str, key: bytes) -> bool:
    try:
        record = parse_record(version.get("record"))
    except RecordError:
        return False
    return record.uid == uid and is_ours(record, key)
