"""Import: what was said before anybody listened, read file by file, with the dates it had."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import time
from typing import Any

from subconscious.capture import notes
from subconscious.errors import TranscriptError
from subconscious.flow import merging
from subconscious.flow.remembering import Provenance, clean, keep
from subconscious.model import Session
from subconscious.projects import Identity, root_of
from subconscious.safe_files import read_regular
from subconscious.sources import LONGEST_NOTE, Found, Sort, files_below, look
from subconscious.store import captures, projects, sessions
from subconscious.store.capture_rows import QUARANTINED, UNCONFIRMED, Place
from subconscious.store.projects import Project, project_at, settle
from subconscious.store.rows import content_hash
from subconscious.transcripts.records import storable

from .core import Core
from .learn import Gain, Source, learn_batch


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one file, or of one batch of it: every line is read, or skipped for a reason.

    ``repeated`` candidates were judged before, from a line that stands in another file too. ``more`` asks for
    another call. ``reason`` says why nothing of a file was read.
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
    more: bool = False
    reason: str = ""


async def plan(core: Core, paths: Sequence[str], folder: str) -> list[dict[str, Any]]:
    """List the files that could be imported, oldest first, each with its project's root and how far it was read.

    With ``folder`` only the sessions of that folder's project; files that could be nobody's are listed either way.
    """
    known = await sessions.positions(core.database)
    return await asyncio.to_thread(_plan, paths, folder, known)


def _plan(paths: Sequence[str], folder: str, known: Mapping[str, sessions.Position]) -> list[dict[str, Any]]:
    roots: dict[str, str] = {}

    def root(place: str) -> str:
        if place not in roots:
            roots[place] = root_of(place)
        return roots[place]

    wanted = root(folder) if folder else ""
    found = [look(path) for path in files_below(paths)]
    # A session's own file comes before those of its agents: it tells where and when the session was.
    found.sort(key=lambda file: (file.begun, file.sort is Sort.AGENT, file.path))
    rows = [asdict(f) | {"project": root(f.folder) if f.folder else "", "read": _read_bytes(f, known)} for f in found]
    return [row for row in rows if row["sort"] == Sort.FOREIGN or wanted in ("", row["project"])]


def _read_bytes(found: Found, known: Mapping[str, sessions.Position]) -> int:
    place = known.get(found.path)
    if place is None:
        return 0
    if found.sort is Sort.NOTE:
        return found.bytes if place.state == _note_state_if_readable(Path(found.path)) else 0
    return place.position


async def import_file(core: Core, path: Path, folder: str = "", *, vouched: bool = False) -> Fate:
    """Read a file on by one batch. ``folder`` is the project that notes are for; transcripts name their own."""
    found = await asyncio.to_thread(look, path)
    if found.sort is Sort.FOREIGN:
        return Fate(found.path, found.sort, reason=found.reason)
    if found.sort is Sort.NOTE:
        try:
            return await _import_note(core, found, folder or found.folder, vouched)
        except OSError as error:
            return Fate(found.path, Sort.FOREIGN, reason=f"it can't be read: {error.strerror}")
    project_id, gain = await _import_batch(core, found, found.folder or str(path.parent))
    return await _fate(core, found, project_id, gain)


async def capture(core: Core, path: Path, folder: str) -> tuple[str, list[int]]:
    """Read a whole transcript; return its session and the new captures. Raises TranscriptError if it is none."""
    found = await asyncio.to_thread(look, path)
    if found.sort not in (Sort.SESSION, Sort.AGENT):
        raise TranscriptError(
            f"{path}: {found.reason or 'it is markdown'}",
            "give a .jsonl file of Claude Code's, below ~/.claude/projects",
        )
    new: list[int] = []
    more = True
    while more:
        _, gain = await _import_batch(core, found, folder or found.folder or str(path.parent))
        new.extend(gain.new)
        more = gain.reading.more
    return found.session_id, new


async def _import_batch(core: Core, found: Found, folder: str) -> tuple[str, Gain]:
    session = await sessions.get(core.database, found.session_id)
    project_id = session.project_id if session else (await project_of_past(core, folder)).id
    live = session is not None and session.status == "open"
    if not live:
        async with core.database.write() as tx:
            await sessions.note_past(tx, _past(found, project_id, folder))
    # Without a folder: what is checked out there now is not what was then.
    source = Source(found.session_id, project_id, found.path)
    return project_id, await learn_batch(core, core.mind(), source, final=not live)


def _past(found: Found, project_id: str, folder: str) -> Session:
    return Session(
        id=found.session_id,
        project_id=project_id,
        transcript=found.path if found.sort is Sort.SESSION else "",
        cwd=folder,
        status="ended",
        started_at=min(found.begun, time()),
        last_event_at=min(found.last, time()),
    )


async def project_of_past(core: Core, folder: str) -> Project:
    """The project of a folder that may be gone: it is still a project of its own, by that path."""
    if await asyncio.to_thread(Path(folder).is_dir):
        return await core.project_of(folder)
    root = await asyncio.to_thread(root_of, folder)
    known = await project_at(core.database, folder)
    if known is not None:
        return known
    if await asyncio.to_thread(Path(root).is_dir):
        return await core.project_of(root)
    return await settle(core.database, Identity(root=root, name=Path(root).name or "/"))


async def _fate(core: Core, found: Found, project_id: str, gain: Gain) -> Fate:
    reading = gain.reading
    fate = Fate(
        path=found.path,
        sort=found.sort,
        project=await projects.root(core.database, project_id),
        lines=reading.lines,
        turns=len(reading.turns),
        skipped=reading.skipped,
        repeated=gain.known,
        more=reading.more,
    )
    return await _counted(core, fate, gain.new)


async def _counted(core: Core, fate: Fate, new: Sequence[int]) -> Fate:
    # By what stands, not by what was decided of each alone: of one session no more wait than its cap allows.
    standing = Counter(capture["status"] for capture in await captures.many(core.database, new))
    return replace(
        fate,
        captured=standing["captured"],
        queued=standing["review"] + standing[UNCONFIRMED] + standing[QUARANTINED],
        discarded=standing["discarded"],
    )


async def _import_note(core: Core, found: Found, folder: str, vouched: bool) -> Fate:
    """Read a note whole: it is known by what it holds, so an edited one is read again."""
    state = await asyncio.to_thread(_note_state, Path(found.path))
    place = await sessions.position(core.database, found.path, "")
    if place.state == state:
        return Fate(found.path, found.sort)
    project = await core.project_of(folder)
    note = await asyncio.to_thread(_open_note, found, project, vouched)
    mind = core.mind()
    judged = await asyncio.to_thread(notes.judge, note, mind.settings) if mind.settings.capture else []
    repeats = await merging.repeated(mind, judged, project.id)
    async with core.database.write() as tx:
        kept = await keep(mind, tx, judged, Provenance(Place(project.id, None), agent="import"), repeats)
        await sessions.advance(tx, sessions.Position(found.path, "", found.bytes, state), time())
    await core.embedding.refresh(repeats.changed)
    core.embedding.wake()
    fate = Fate(found.path, found.sort, project.root, len(note.text.splitlines()), repeated=len(judged) - len(kept))
    return await _counted(core, fate, [capture_id for capture_id, _ in kept])


def _open_note(found: Found, project: Project, vouched: bool) -> notes.Note:
    """Read a note; it is known by its place in its project, so that another checkout's is the same."""
    path = Path(found.path)
    within = path.is_relative_to(project.root)
    place = str(path.relative_to(project.root)) if within else str(Path(path.parent.name, path.name))
    text = clean(storable(_note_text(path)))
    return notes.Note(f"note:{project.id}:{place}", place, found.path, text, min(found.last, time()), vouched)


def _note_state(path: Path) -> str:
    return json.dumps({"note": content_hash(_note_text(path))})


def _note_state_if_readable(path: Path) -> str:
    try:
        return _note_state(path)
    except OSError:  # replaced since it was found
        return ""


def _note_text(path: Path) -> str:
    """A note's text, with line feeds alone. Raises OSError where it is no file or larger than a note."""
    text = read_regular(path, LONGEST_NOTE).decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
