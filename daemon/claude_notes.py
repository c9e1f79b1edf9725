"""Keeps searchable copies of the notes that Claude Code writes for itself; their files are read and never written.

The copy of a note is a memory of the assistant's that is found and shown, and nothing else: it is not given unasked,
since the client loads its notes itself, and does not fade, merge or count for anything. It goes with its file. A note
that looks like an attack has no copy; `doctor` names it.

A project's folder is looked at after every event of its sessions, before every search, and now and then between: a
look lists names and times, and costs less than a watcher that has to follow folders which come and go.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from subconscious.claude_files.instructions import Instructions
from subconscious.claude_files.note import Note, UnusableNoteError, list_notes, note_text, parse
from subconscious.claude_files.places import config_folder, notes_folder
from subconscious.claude_files.told import NOTHING, Told
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import clean
from subconscious.kinds import KINDS
from subconscious.model import (
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
from subconscious.poisoning.gate import screen, told
from subconscious.projects import root_of
from subconscious.redaction import ledger
from subconscious.store import claude_notes, memories, poison
from subconscious.store.claude_notes import Row
from subconscious.store.rows import content_hash
from subconscious.text.words import cut

if TYPE_CHECKING:
    import aiosqlite

    from .core import Core
    from .entry import Entry

log = logging.getLogger("subconscious.daemon")

PAUSE = 60.0
"""Seconds between two looks at the folders of projects in use while nothing happens in them."""

A_LOOK = 50
"""Notes that one look reads: a search waits for it."""

NOTED = 600.0
"""Seconds for which a look without changes is not recorded again."""

CONTENT_LENGTH = 4000
"""Characters of a note that are found and shown."""
SUMMARY_LENGTH = 100

MOST_PLACES = 50
"""Folders that are looked at between events: those in which something happened last."""


@dataclass(frozen=True, slots=True)
class Place:
    """A project's folder of notes."""

    project_id: str
    folder: str


@dataclass(frozen=True, slots=True)
class Read:
    """A file as it was read: its note, or why it has none."""

    stamp: str
    text: str = ""
    note: Note | None = None
    verdict: Verdict = field(default_factory=Verdict)
    problem: str = ""

    @property
    def digest(self) -> str:
        """What its text is known by; "" for one that is not used."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32] if self.note else ""


class ClaudeNotes:
    """The folders in use, and the loop that looks at them."""

    def __init__(self) -> None:
        self._instructions = Instructions()
        self._places: dict[Place, None] = {}
        self._wanted: dict[Place, None] = {}
        self._woken = asyncio.Event()
        self._looking = asyncio.Lock()

    async def know(self, entry: Entry, project_id: str) -> None:
        """Something happened in a session: look at its project's notes soon."""
        config = config_folder(entry.config_dir, entry.payload.transcript_path)
        folder = await asyncio.to_thread(lambda: notes_folder(config, root_of(entry.folder)))
        self._want(Place(project_id, str(folder)))

    def _want(self, place: Place) -> None:
        self._places.pop(place, None)
        self._places[place] = None  # the latest comes last
        while len(self._places) > MOST_PLACES:
            del self._places[next(iter(self._places))]
        self._wanted[place] = None
        self._woken.set()

    async def told(self, mind: Mind, entry: Entry) -> Mind:
        """The mind, knowing what the client itself tells the session of an entry."""
        return await self._informed(mind, config_folder(entry.config_dir, entry.payload.transcript_path), entry.folder)

    async def told_in(self, mind: Mind, session: Session | None) -> Mind:
        """The same where a session is worked on later."""
        if session is None:
            return mind
        return await self._informed(mind, config_folder("", session.transcript), session.cwd)

    async def _informed(self, mind: Mind, config: Path, folder: str) -> Mind:
        if not mind.settings.claude_notes or not folder.startswith("/"):
            return mind
        return replace(mind, elsewhere=await asyncio.to_thread(self._told, config, folder))

    def _told(self, config: Path, folder: str) -> Told:
        try:
            return self._instructions.told(config, folder)
        except (OSError, ValueError, RecursionError):
            # What can't be compared is told twice at worst.
            log.exception("the client's instructions for %s can't be read", folder)
            return NOTHING

    async def run(self, core: Core) -> None:
        """Look whenever something happened, and now and then besides, until cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), PAUSE)
            self._woken.clear()
            wanted, self._wanted = self._wanted or dict(self._places), {}
            for place in wanted:
                await self._look_safely(core, place)

    async def _look_safely(self, core: Core, place: Place) -> None:
        try:
            await self.look(core, place)
        except (sqlite3.Error, OSError) as error:
            core.disk.note(error)
            log.error("the notes in %s can't be read or kept: %s", place.folder, error)  # noqa: TRY400 - a full disk, again and again
        except Exception:
            # No error with one folder may affect the others; the next event tries again.
            log.exception("the notes in %s can't be read", place.folder)

    async def refresh(self, core: Core, project_id: str | None) -> None:
        """Look at the folders known for a project before somebody searches it; of all projects, at those in use."""
        places = [place for place in self._places if project_id in (None, place.project_id)]
        if project_id is not None:
            places += [Place(project_id, folder) for folder in await claude_notes.folders(core.database, project_id)]
        for place in dict.fromkeys(places):
            await self._look_safely(core, place)

    async def look(self, core: Core, place: Place) -> None:
        """Let the copies of a folder's notes agree with its files."""
        async with self._looking:
            known = await claude_notes.rows(core.database, place.project_id)
            own = {path: row for path, row in known.items() if Path(path).parent == Path(place.folder)}
            wanted = core.in_force(core.settings).claude_notes
            rules = await asyncio.to_thread(rules_version)
            found = await asyncio.to_thread(_changed, Path(place.folder), own, rules) if wanted else Changes((), {})
            gone = [row for path, row in own.items() if path not in found.present]
            lost = await claude_notes.unbound(core.database, place.project_id)
            if found.read or gone or lost:
                await _keep(core, place, found, gone, lost)
            elif found.present:
                await _note_look(core, place)
            if found.more:
                self._want(place)


async def _note_look(core: Core, place: Place) -> None:
    """Record for `doctor` that a folder was looked at; not every time, or each search would write."""
    looked_at = (await claude_notes.folders(core.database, place.project_id)).get(place.folder, 0.0)
    if abs(time() - looked_at) > NOTED:
        async with core.database.write() as tx:
            await claude_notes.note_look(tx, place.project_id, place.folder)


@dataclass(frozen=True, slots=True)
class Changes:
    """The files that are there, by path, and what was read of those that are new or have changed.

    ``more`` of these are left for the next look.
    """

    present: Sequence[str]
    read: Mapping[str, Read]
    more: bool = False


def _changed(folder: Path, known: Mapping[str, Row], rules: str) -> Changes:
    """List a folder, and read what has changed. For a thread."""
    stamps = {str(path): f"{stamp}:{rules}" for path, stamp in list_notes(folder).items()}
    fresh = {path: stamp for path, stamp in stamps.items() if path not in known or known[path].stamp != stamp}
    read: dict[str, Read] = {}
    for path, stamp in list(fresh.items())[:A_LOOK]:
        with suppress(FileNotFoundError):  # deleted since: the next look knows
            read[path] = _read(Path(path), stamp)
    return Changes(tuple(stamps), read, more=len(fresh) > A_LOOK)


def _read(path: Path, stamp: str) -> Read:
    """Read, clean and check one note. What can't be used is not tried again until it changes."""
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
        return Read(stamp, problem=told(verdict))
    return Read(stamp, text, note, verdict)


async def _keep(core: Core, place: Place, found: Changes, gone: Sequence[Row], lost: Sequence[int]) -> None:
    """Store what has changed, as one transaction, and tell the indexes; ``lost`` copies have no file any more."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    known = await claude_notes.rows(core.database, place.project_id)
    left: list[int] = []
    async with core.database.write() as tx:
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
        await claude_notes.note_look(tx, place.project_id, place.folder)
        await vectors.activate(tx, left, False)
    await core.embedding.refresh(left)
    core.embedding.wake()


async def _replace(tx: aiosqlite.Connection, place: Place, path: str, read: Read, old: Row | None) -> list[int]:
    """Store one file as it is now; return the memory that went out of use by it, if one did."""
    row = Row(place.project_id, path, "", read.stamp, problem=read.problem, read_at=time())
    if read.note is None:
        await claude_notes.save(tx, replace(row, name=Path(path).stem.casefold()))
        return [old.memory_id] if old and old.memory_id and await _archive(tx, old.memory_id) else []
    same = old is not None and old.memory_id is not None and old.digest == read.digest
    number = old.memory_id if old is not None and same else await _insert(tx, place, Path(path), read.note, read.stamp)
    row = replace(row, name=read.note.name, digest=read.digest, memory_id=number, links=read.note.links)
    await claude_notes.save(tx, row)
    if number is not None:
        await poison.note_checked(tx, number, read.verdict)
        await claude_notes.move(tx, number, path)
    if same or old is None or old.memory_id is None:
        return []
    return [old.memory_id] if await _archive(tx, old.memory_id, "Claude has changed its note") else []


async def _insert(tx: aiosqlite.Connection, place: Place, path: Path, note: Note, stamp: str) -> int:
    modified = int(stamp.partition(":")[0]) / 1e9
    candidate = _candidate(path, note, min(time(), max(0.0, modified)))
    return (await memories.insert(tx, _memory(place, candidate))).id


async def _drop(tx: aiosqlite.Connection, row: Row) -> list[int]:
    await claude_notes.remove(tx, row)
    return [row.memory_id] if row.memory_id and await _archive(tx, row.memory_id) else []


async def _archive(tx: aiosqlite.Connection, memory_id: int, reason: str = "Claude's note is gone or unusable") -> bool:
    return await claude_notes.archive(tx, memory_id, reason)


def _candidate(path: Path, note: Note, at: float) -> Candidate:
    """A note as the check and the store see it: the assistant's words, with its file as evidence."""
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


def _memory(place: Place, candidate: Candidate) -> Memory:
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
