"""Imports transcripts of past sessions and Markdown notes, file by file, with their original dates."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import NamedTuple

from subconscious.app import App
from subconscious.capture.admission import Provenance, keep
from subconscious.capture.ingest import Gain, learn_batch
from subconscious.capture.transcript_source import Source
from subconscious.context.entry import Entry
from subconscious.domain.errors import TranscriptError
from subconscious.domain.model import Session
from subconscious.imports import notes
from subconscious.imports.sources import MAX_NOTE_BYTES, Sort, SourceFile, examine_file, files_below
from subconscious.redaction.cleaning import clean
from subconscious.store import captures, events, projects, sessions
from subconscious.store.capture_rows import QUARANTINED, UNCONFIRMED, SessionRef
from subconscious.store.projects import Project, find_or_create, project_at
from subconscious.store.rows import content_hash
from subconscious.supersession import merging
from subconscious.system.projects import Identity, root_of
from subconscious.system.safe_files import read_regular
from subconscious.transcripts.records import storable
from subconscious.wire import imports as wire
from subconscious.wire.fields import fields_of


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of importing a file or a batch of it; ``skipped`` counts lines without a turn, by reason.

    ``repeated`` counts statements that are stored already, for instance from the same line in another file. The batch
    ends at the byte ``position``; ``more`` means that the file has further batches. ``reason`` says why the file can't
    be imported; "" if it can. ``event`` is the newest event of the import, which undoes it as a whole; 0 if it changed
    nothing.
    """

    path: str
    sort: Sort
    project: str = ""
    lines: int = 0
    turns: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    captured: int = 0
    queued: int = 0
    discarded: int = 0
    repeated: int = 0
    position: int = 0
    more: bool = False
    reason: str = ""
    event: int = 0


async def plan(app: App, paths: Sequence[str], folder: str) -> list[wire.SourceFile]:
    """Return the files below ``paths``, oldest first, each with its project's root and how many bytes are imported.

    Unless ``folder`` is "", files of other projects are left out. Files that can't be imported are always listed.
    """
    positions = await sessions.positions(app.database)
    return await asyncio.to_thread(_plan, paths, folder, positions)


def _plan(paths: Sequence[str], folder: str, positions: Mapping[str, sessions.Position]) -> list[wire.SourceFile]:
    roots: dict[str, str] = {}

    def root(path: str) -> str:
        if path not in roots:
            roots[path] = root_of(path)
        return roots[path]

    project = root(folder) if folder else ""
    files = [examine_file(path) for path in files_below(paths)]
    # A session's own file comes before those of its agents, because it has the session's folder and time.
    files.sort(key=lambda file: (file.begun, file.sort is Sort.AGENT, file.path))
    rows = [
        fields_of(
            wire.SourceFile,
            file,
            project=root(file.folder) if file.folder else "",
            read=_read_bytes(file, positions),
        )
        for file in files
    ]
    return [row for row in rows if row["sort"] == Sort.FOREIGN or project in ("", row["project"])]


def _read_bytes(file: SourceFile, positions: Mapping[str, sessions.Position]) -> int:
    position = positions.get(file.path)
    if position is None:
        return 0
    if file.sort is Sort.NOTE:
        return file.bytes if position.state == _note_state_if_readable(Path(file.path)) else 0
    return position.position


async def import_file(app: App, path: Path, folder: str = "", *, vouched: bool = False) -> ImportResult:
    """Import the next batch of a file. ``folder`` is a folder in a note's project; transcripts name their own folder.

    With ``vouched``, the statements of a note count as the words of the person who imports it.
    """
    file = await asyncio.to_thread(examine_file, path)
    if file.sort is Sort.FOREIGN:
        return ImportResult(file.path, file.sort, reason=file.reason)
    if file.sort is Sort.NOTE:
        try:
            return await _import_note(app, file, folder or file.folder, vouched)
        except OSError as error:
            return ImportResult(file.path, Sort.FOREIGN, reason=f"it can't be read: {error.strerror}")
    project_id, batch = await _import_batch(app, file, file.folder or str(path.parent))
    return await _result(app, file, project_id, batch)


async def capture(app: App, path: Path, folder: str) -> tuple[str, list[int]]:
    """Read a whole transcript; return the ids of its session and of the new captures.

    Raises TranscriptError for a file that is not a transcript.
    """
    file = await asyncio.to_thread(examine_file, path)
    if file.sort not in (Sort.SESSION, Sort.AGENT):
        raise TranscriptError(
            f"{path} is not a transcript: {file.reason or 'it is markdown'}",
            "give the path of a Claude Code transcript (.jsonl) under ~/.claude/projects",
        )
    new: list[int] = []
    more = True
    while more:
        _, batch = await _import_batch(app, file, folder or file.folder or str(path.parent))
        new.extend(batch.new)
        more = batch.reading.more
    return file.session_id, new


async def _import_batch(app: App, file: SourceFile, folder: str) -> tuple[str, Gain]:
    session = await sessions.get(app.database, file.session_id)
    project_id = session.project_id if session else (await project_of_past(app, folder)).id
    is_open = session is not None and session.status == "open"
    if not is_open:
        async with app.database.write() as tx:
            await sessions.insert_imported(tx, _past(file, project_id, folder))
    # No folder is passed: the branch that is checked out there now may differ from the session's branch.
    source = Source(file.session_id, project_id, file.path)
    return project_id, await learn_batch(app, app.recall_context(), source, final=not is_open)


def _past(file: SourceFile, project_id: str, folder: str) -> Session:
    return Session(
        id=file.session_id,
        project_id=project_id,
        transcript=file.path if file.sort is Sort.SESSION else "",
        cwd=folder,
        status="ended",
        started_at=min(file.begun, time()),
        last_event_at=min(file.last, time()),
    )


async def project_of_past(app: App, folder: str) -> Project:
    """Return the project of a folder; if the folder no longer exists, its path identifies the project."""
    if await asyncio.to_thread(Path(folder).is_dir):
        return await app.project_of(folder)
    root = await asyncio.to_thread(root_of, folder)
    known = await project_at(app.database, folder)
    if known is not None:
        return known
    if await asyncio.to_thread(Path(root).is_dir):
        return await app.project_of(root)
    return await find_or_create(app.database, Identity(root=root, name=Path(root).name or "/"))


async def _result(app: App, file: SourceFile, project_id: str, batch: Gain) -> ImportResult:
    reading = batch.reading
    result = ImportResult(
        path=file.path,
        sort=file.sort,
        project=await projects.root(app.database, project_id),
        lines=reading.lines,
        turns=len(reading.turns),
        skipped=reading.skipped,
        repeated=batch.known,
        position=reading.offset,
        more=reading.more,
    )
    return await _with_counts(app, result, batch.new)


async def _with_counts(app: App, result: ImportResult, new: Sequence[int]) -> ImportResult:
    # Counted by the stored status, since a session's limit can change the decision on a single capture.
    statuses = Counter(capture["status"] for capture in await captures.get_many(app.database, new))
    return replace(
        result,
        captured=statuses["captured"],
        queued=statuses["review"] + statuses[UNCONFIRMED] + statuses[QUARANTINED],
        discarded=statuses["discarded"],
    )


async def _import_note(app: App, file: SourceFile, folder: str, vouched: bool) -> ImportResult:
    """Import a whole note if it is new, or has changed since it was last imported."""
    state = await asyncio.to_thread(_note_state, Path(file.path))
    position = await sessions.position(app.database, file.path, "")
    if position.state == state:
        return ImportResult(file.path, file.sort, position=file.bytes)
    project = await app.project_of(folder)
    note = await asyncio.to_thread(_open_note, file, project, vouched)
    ctx = app.recall_context()
    judged = await asyncio.to_thread(notes.judge, note, ctx.settings) if ctx.settings.capture else []
    repeats = await merging.repeated(ctx, judged, project.id)
    async with app.database.write() as tx:
        kept = await keep(ctx, tx, judged, Provenance(SessionRef(project.id, None), agent="import"), repeats)
        await sessions.advance(tx, sessions.Position(file.path, "", file.bytes, state), time())
    await app.embedding.refresh(repeats.changed)
    app.embedding.wake()
    result = ImportResult(
        file.path,
        file.sort,
        project.root,
        len(note.text.splitlines()),
        repeated=len(judged) - len(kept),
        position=file.bytes,
    )
    return await _with_counts(app, result, [capture_id for capture_id, _ in kept])


def _open_note(file: SourceFile, project: Project, vouched: bool) -> notes.Note:
    """Return a note; its id contains its path in the project, so that copies in other checkouts have the same id."""
    path = Path(file.path)
    within = path.is_relative_to(project.root)
    place = str(path.relative_to(project.root)) if within else str(Path(path.parent.name, path.name))
    text = clean(storable(_note_text(path)))
    return notes.Note(f"note:{project.id}:{place}", place, file.path, text, min(file.last, time()), vouched)


def _note_state(path: Path) -> str:
    return json.dumps({"note": content_hash(_note_text(path))})


def _note_state_if_readable(path: Path) -> str:
    try:
        return _note_state(path)
    except OSError:  # replaced since it was listed
        return ""


def _note_text(path: Path) -> str:
    """Return a note's text with normalized line ends. Raises OSError if it is not a regular file, or too large."""
    text = read_regular(path, MAX_NOTE_BYTES).decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


OFFERED = "offered-import"
"""The action of the event that is recorded when a project is checked (only once) for past sessions to import."""

NOTHING_TO_IMPORT = "0 sessions"
"""The reason of that event if the check found nothing."""

BYTES_PER_SECOND = 3 << 20
"""Rounded speed of an import without a model, in bytes per second (docs/figures.md)."""

MIN_SECONDS = 5


class UnreadTranscripts(NamedTuple):
    """The number of transcripts that have not been read yet, and their size in bytes."""

    sessions: int
    bytes: int


async def is_worthwhile(app: App, project_id: str) -> bool:
    """Return whether a project may have past sessions to import: none was imported, and no check found none."""
    if await sessions.any_imported(app.database, project_id):
        return False
    return NOTHING_TO_IMPORT not in await events.reasons_of(app.database, OFFERED, "project", project_id)


async def offer(app: App, entry: Entry, project: Project) -> str:
    """Return a line for the user about sessions to import; "" if there are none, or if this was checked before."""
    transcript = entry.payload.transcript_path
    if not transcript.startswith("/") or await events.last_time(app.database, OFFERED, "project", project.id):
        return ""
    known = await sessions.positions(app.database)
    found = await asyncio.to_thread(_unread, Path(transcript), known)
    async with app.database.write() as tx:
        await events.record(tx, OFFERED, "project", project.id, reason=f"{found.sessions} sessions")
    if not found.sessions:
        return ""
    what = "1 earlier session" if found.sessions == 1 else f"{found.sessions} earlier sessions"
    seconds = max(MIN_SECONDS, round(found.bytes / BYTES_PER_SECOND))
    command = f"{_command(app.home.root)} import"
    return f"Subconscious can learn from {what} of this project (about {seconds} s). In a terminal: {command}"


def _command(root: Path) -> str:
    """Return the command to type for `subconscious`: its path if installed, since new users rarely have it on PATH."""
    installed = root / "bin" / "subconscious"
    if not installed.exists():
        return "subconscious"
    home = Path.home()
    return f"~/{installed.relative_to(home)}" if installed.is_relative_to(home) else str(installed)


def _unread(own: Path, known: Collection[str]) -> UnreadTranscripts:
    """Return the number and size of the unread transcripts in the folder of the session's transcript ``own``."""
    try:
        with os.scandir(own.parent) as folder:
            passed = {*known, str(own)}
            others = [file for file in folder if file.name.endswith(".jsonl") and file.path not in passed]
            sizes = [file.stat(follow_symlinks=False).st_size for file in others if file.is_file(follow_symlinks=False)]
    except OSError:
        return UnreadTranscripts(0, 0)
    return UnreadTranscripts(sum(size > 0 for size in sizes), sum(sizes))
