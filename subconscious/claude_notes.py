"""Keeps searchable copies of the notes that Claude Code and Gemini CLI write for themselves, without writing to them.

The copy of a note is a memory that can be searched and shown. It is never added to a session's context unasked,
because the client loads its notes itself. It does not fade, and is never merged, summarized, shared or promoted. It is
archived when the note's file is gone. A note that looks like an attack is not copied; `doctor` names it.

A project's notes folder is scanned after every event of the project's sessions, before every search, and about once a
minute while nothing happens. A scan lists file names and times, which costs less than watching folders that may come
and go.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from subconscious.claude_files.client_folders import config_folder, notes_folder
from subconscious.claude_files.instructions import Instructions
from subconscious.claude_files.known_statements import NO_STATEMENTS, KnownStatements
from subconscious.claude_files.note import Note, UnusableNoteError, list_notes, note_text, parse
from subconscious.clients import VARIABLE, instructions_of, notes_of
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import (
    CLAUDE_NOTE,
    Candidate,
    Evidence,
    Level,
    Memory,
    Origin,
    Scope,
    Session,
    Strength,
    Verdict,
)
from subconscious.poisoning import check, rules_version
from subconscious.poisoning.gate import explanation, screen
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction import ledger
from subconscious.redaction.cleaning import clean
from subconscious.store import claude_notes, memories, poison
from subconscious.store.claude_notes import NoteRecord
from subconscious.store.rows import content_hash
from subconscious.system.projects import root_of
from subconscious.text.words import cut

if TYPE_CHECKING:
    import aiosqlite

    from subconscious.context.disk import Disk
    from subconscious.context.entry import Entry
    from subconscious.embeddings.background import Embedding
    from subconscious.settings.settings import Settings
    from subconscious.store.connect import Database

log = logging.getLogger("subconscious.knowledge")

PAUSE = 60.0
"""The seconds between two scans of the folders in use while nothing happens in them."""

NOTES_PER_SCAN = 50
"""The most new or changed notes that one scan reads; limited because a search waits for the scan."""

NOTED = 600.0
"""Seconds after a recorded scan during which further scans without changes are not recorded."""

CONTENT_LENGTH = 4000
"""The most characters of a note that are searched and shown."""
SUMMARY_LENGTH = 100

MOST_FOLDERS = 50
"""The most folders that are scanned between events: those with the latest events."""


@dataclass(frozen=True, slots=True)
class NotesFolder:
    """The folder of a project's notes."""

    project_id: str
    folder: str


@dataclass(frozen=True, slots=True)
class Read:
    """The result of reading a note's file: the parsed note, or the ``problem`` that makes the note unusable."""

    stamp: str
    text: str = ""
    note: Note | None = None
    verdict: Verdict = field(default_factory=Verdict)
    problem: str = ""

    @property
    def digest(self) -> str:
        """Return a digest of the note's text; "" if the file has no usable note."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32] if self.note else ""


class ClaudeNotes:
    """The note folders in use, and the loop that scans them."""

    def __init__(self, database: Database, disk: Disk, embedding: Embedding, settings: Callable[[], Settings]) -> None:
        self._database = database
        self._disk = disk
        self._embedding = embedding
        self._settings = settings
        self._instructions = Instructions()
        self._folders: dict[NotesFolder, None] = {}
        self._due: dict[NotesFolder, None] = {}
        self._woken = asyncio.Event()
        self._scanning = asyncio.Lock()

    async def schedule_scan(self, entry: Entry, project_id: str) -> None:
        """Schedule a scan of the project's notes after an event of a session."""
        if entry.client:
            folder = notes_of(entry.client, entry.payload.transcript_path)
        else:
            config = config_folder(entry.config_dir, entry.payload.transcript_path)
            folder = str(await asyncio.to_thread(lambda: notes_folder(config, root_of(entry.folder))))
        if folder:
            self._add_due(NotesFolder(project_id, folder))

    def _add_due(self, place: NotesFolder) -> None:
        self._folders.pop(place, None)
        self._folders[place] = None  # the latest comes last
        while len(self._folders) > MOST_FOLDERS:
            del self._folders[next(iter(self._folders))]
        self._due[place] = None
        self._woken.set()

    async def with_client_texts(self, ctx: RecallContext, entry: Entry) -> RecallContext:
        """Return a copy of the context with the statements that the client itself loads into an entry's session."""
        config = config_folder(entry.config_dir, entry.payload.transcript_path)
        return await self._with_texts(
            ctx, config, entry.folder, instructions_of(entry.client, entry.payload.transcript_path)
        )

    async def with_client_texts_of(self, ctx: RecallContext, session: Session | None) -> RecallContext:
        """Return a copy of the context that includes the statements that the client loads into a stored session.

        Without a session, return the context itself.
        """
        if session is None:
            return ctx
        others = instructions_of(json.loads(session.options).get(VARIABLE, ""), session.transcript)
        return await self._with_texts(ctx, config_folder("", session.transcript), session.cwd, others)

    async def _with_texts(
        self, ctx: RecallContext, config: Path, folder: str, others: tuple[str, ...]
    ) -> RecallContext:
        if not ctx.settings.claude_notes or not folder.startswith("/"):
            return ctx
        return replace(ctx, client_texts=await asyncio.to_thread(self._client_texts, config, folder, others))

    def _client_texts(self, config: Path, folder: str, others: tuple[str, ...]) -> KnownStatements:
        try:
            return self._instructions.known_statements(config, folder, others)
        except (OSError, ValueError, RecursionError):
            # Without the instructions, a text may be surfaced although the client has loaded it.
            log.exception("the client's instructions for %s can't be read", folder)
            return NO_STATEMENTS

    async def run(self) -> None:
        """Scan folders after events, and every ``PAUSE`` seconds while there are none, until cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), PAUSE)
            self._woken.clear()
            due, self._due = self._due or dict(self._folders), {}
            for place in due:
                await self._scan_safely(place)

    async def _scan_safely(self, place: NotesFolder, database: Database | None = None) -> None:
        try:
            await self.scan(place, database)
        except (sqlite3.Error, OSError) as error:
            self._disk.note(error)
            log.error("the notes in %s can't be read or stored: %s", place.folder, error)  # noqa: TRY400 - a full disk, again and again
        except Exception:
            # An error with one folder must not affect the others; the next event tries again.
            log.exception("the notes in %s can't be read", place.folder)

    async def refresh(self, project_id: str | None, database: Database | None = None) -> None:
        """Scan a project's notes folders before a search; if ``project_id`` is None (all projects), the folders in use.

        ``database`` is the view of the database that the search reads from.
        """
        places = [place for place in self._folders if project_id in (None, place.project_id)]
        if project_id is not None:
            known = await claude_notes.folders(database or self._database, project_id)
            places += [NotesFolder(project_id, folder) for folder in known]
        for place in dict.fromkeys(places):
            await self._scan_safely(place, database)

    async def scan(self, place: NotesFolder, database: Database | None = None) -> None:
        """Update the copies of a folder's notes from its files."""
        database = database or self._database
        async with self._scanning:
            known = await claude_notes.notes(database, place.project_id)
            own = {path: row for path, row in known.items() if Path(path).parent == Path(place.folder)}
            wanted = self._settings().claude_notes
            rules = await asyncio.to_thread(rules_version)
            found = await asyncio.to_thread(_changed, Path(place.folder), own, rules) if wanted else Changes((), {})
            gone = [row for path, row in own.items() if path not in found.present]
            lost = await claude_notes.without_file(database, place.project_id)
            if found.read or gone or lost:
                left = await _keep(database, place, found, gone, lost)
                await self._embedding.refresh(left)
                self._embedding.wake()
            elif found.present:
                await _note_scan(database, place)
            if found.more:
                self._add_due(place)


async def _note_scan(database: Database, place: NotesFolder) -> None:
    """Record a scan for `doctor`, but not every scan: otherwise each search would write to the database."""
    looked_at = (await claude_notes.folders(database, place.project_id)).get(place.folder, 0.0)
    if abs(time() - looked_at) > NOTED:
        async with database.write() as tx:
            await claude_notes.record_read(tx, place.project_id, place.folder)


@dataclass(frozen=True, slots=True)
class Changes:
    """The paths of the existing files (``present``), and the content of those that are new or changed (``read``).

    ``more`` is true if some new or changed files are left for the next scan.
    """

    present: Sequence[str]
    read: Mapping[str, Read]
    more: bool = False


def _changed(folder: Path, known: Mapping[str, NoteRecord], rules: str) -> Changes:
    """Return the files of a folder, and the content of those that have changed. Run it in a thread."""
    stamps = {str(path): f"{stamp}:{rules}" for path, stamp in list_notes(folder).items()}
    fresh = {path: stamp for path, stamp in stamps.items() if path not in known or known[path].stamp != stamp}
    read: dict[str, Read] = {}
    for path, stamp in list(fresh.items())[:NOTES_PER_SCAN]:
        with suppress(FileNotFoundError):  # deleted since: the next scan handles it
            read[path] = _read(Path(path), stamp)
    return Changes(tuple(stamps), read, more=len(fresh) > NOTES_PER_SCAN)


def _read(path: Path, stamp: str) -> Read:
    """Return one note, redacted and checked. A note that can't be used is read again only after it changes."""
    try:
        with ledger.reading("note"):
            text = clean(note_text(path))
        note = parse(path, text)
    except UnusableNoteError as error:
        return Read(stamp, problem=error.message)
    except FileNotFoundError:
        raise
    except OSError as error:
        return Read(stamp, problem=f"it can't be read: {error.strerror}")
    verdict = screen(_candidate(path, note, 0.0), check)
    verdict = replace(verdict, rules=verdict.rules or rules_version())
    if verdict.level.rank >= Level.HIGH.rank:
        return Read(stamp, problem=explanation(verdict))
    return Read(stamp, text, note, verdict)


async def _keep(
    database: Database, place: NotesFolder, found: Changes, gone: Sequence[NoteRecord], lost: Sequence[int]
) -> list[int]:
    """Store the changes in one transaction; return the ids of the memories that were archived.

    ``gone`` are the records of files that no longer exist, ``lost`` the ids of copies that belong to no file.
    """
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    known = await claude_notes.notes(database, place.project_id)
    left: list[int] = []
    async with database.write() as tx:
        renamed = {row.digest: row for row in gone if row.digest and row.memory_id is not None}
        for path, read in found.read.items():
            old = known.get(path) or renamed.pop(read.digest, None)
            left += await _replace(tx, place, path, read, old)
            if old is not None and old.path != path:
                await claude_notes.remove(tx, old)
        for row in gone:
            if row.digest in renamed or row.memory_id is None:
                left += await _drop(tx, row)
        left += [number for number in lost if await _archive(tx, number)]
        await claude_notes.link(tx, place.project_id)
        await claude_notes.record_read(tx, place.project_id, place.folder)
        await vectors.activate(tx, left, False)
    return left


async def _replace(
    tx: aiosqlite.Connection, place: NotesFolder, path: str, read: Read, old: NoteRecord | None
) -> list[int]:
    """Store the present content of one file; return the ids of the memories that were archived (none or one)."""
    row = NoteRecord(place.project_id, path, "", read.stamp, problem=read.problem, read_at=time())
    if read.note is None:
        await claude_notes.save(tx, replace(row, name=Path(path).stem.casefold()))
        return [old.memory_id] if old and old.memory_id and await _archive(tx, old.memory_id) else []
    same = old is not None and old.memory_id is not None and old.digest == read.digest
    number = old.memory_id if old is not None and same else await _insert(tx, place, Path(path), read.note, read.stamp)
    row = replace(row, name=read.note.name, digest=read.digest, memory_id=number, links=read.note.links)
    await claude_notes.save(tx, row)
    if number is not None:
        await poison.record_check(tx, number, read.verdict)
        await claude_notes.move(tx, number, path)
    if same or old is None or old.memory_id is None:
        return []
    return [old.memory_id] if await _archive(tx, old.memory_id, "the note was changed") else []


async def _insert(tx: aiosqlite.Connection, place: NotesFolder, path: Path, note: Note, stamp: str) -> int:
    modified = int(stamp.partition(":")[0]) / 1e9
    candidate = _candidate(path, note, min(time(), max(0.0, modified)))
    return (await memories.insert(tx, _memory(place, candidate))).id


async def _drop(tx: aiosqlite.Connection, row: NoteRecord) -> list[int]:
    await claude_notes.remove(tx, row)
    return [row.memory_id] if row.memory_id and await _archive(tx, row.memory_id) else []


async def _archive(tx: aiosqlite.Connection, memory_id: int, reason: str = "the note is gone or unusable") -> bool:
    return await claude_notes.archive(tx, memory_id, reason)


def _candidate(path: Path, note: Note, at: float) -> Candidate:
    """Return a note as a candidate: the assistant's words, with the note's file as evidence."""
    content = cut(note.text, CONTENT_LENGTH)
    return Candidate(
        kind=note.kind,
        summary=cut(" ".join((note.description or note.body).split()), SUMMARY_LENGTH),
        content=content,
        evidence=Evidence(content, f"note {note.name}", str(path), 0, 0),
        origin=Origin.ASSISTANT,
        strength=Strength.IMPLIED,
        raw_confidence=Strength.IMPLIED.prior,
        extractor=CLAUDE_NOTE,
        time=at,
        tags=tuple(dict.fromkeys(one for one in (note.type, note.name) if one)),
    )


def _memory(place: NotesFolder, candidate: Candidate) -> Memory:
    return Memory(
        id=0,
        project_id=place.project_id,
        scope=Scope.PROJECT,
        kind=candidate.kind,
        category=KINDS[candidate.kind].category,
        summary=candidate.summary,
        content=candidate.content,
        origin=candidate.origin,
        confidence=candidate.raw_confidence,
        raw_confidence=candidate.raw_confidence,
        extractor=candidate.extractor,
        created_at=time(),
        said_at=candidate.time,
        content_hash=content_hash(candidate.content),
        agent="claude-code",
        turn_id=candidate.evidence.turn_id,
        transcript=candidate.evidence.file,
        evidence=candidate.evidence.quote,
        tags=candidate.tags,
    )
