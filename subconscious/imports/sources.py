"""Finds files to import, and recognizes transcripts and notes by their first and last bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from subconscious.domain.errors import TranscriptError
from subconscious.system.safe_files import read_end
from subconscious.transcripts import Reading, read_turns
from subconscious.transcripts.records import AGENT_FILE, parse, timestamp

EXAMINED_BYTES = 128 << 10
"""The most bytes that are read at each end of a transcript; if the start has no session id, more are read there."""

MAX_NOTE_BYTES = 1 << 20
"""The most bytes of a Markdown note; larger files are not imported."""

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "target", "vendor", "venv"})
"""Names of folders that are skipped: their Markdown files are not the project's own."""


class Sort(StrEnum):
    """The type of a file to import; ``FOREIGN`` files are not imported."""

    SESSION = "session"
    AGENT = "agent"
    NOTE = "note"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import. ``folder`` is the folder in which its session started, or the folder of a note.

    ``reason`` says why a foreign file is not imported.
    """

    path: str
    sort: Sort
    bytes: int = 0
    session_id: str = ""
    folder: str = ""
    begun: float = 0.0
    last: float = 0.0
    reason: str = ""


def files_below(places: Iterable[str]) -> Iterator[Path]:
    """Yield the files in ``places``, and the transcripts and Markdown files below the folders in it; each file once."""
    seen: set[tuple[int, int]] = set()
    for place in places:
        for path in _below(Path(os.path.abspath(place))):  # noqa: PTH100 - keeps symlinks, as hooks report them
            status = _status(path)
            identity = (status.st_dev, status.st_ino) if status else (0, hash(path))
            if identity not in seen:
                seen.add(identity)
                yield path


def _below(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield place
        return
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if name not in SKIPPED_FOLDERS)
        # Notes in Claude Code's own folder were written by the model, not by a person.
        endings = (".jsonl",) if ".claude" in Path(folder).parts else (".jsonl", ".md", ".markdown")
        yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(endings))


def examine_file(path: Path) -> SourceFile:
    """Return the type and the session of a file, from its first and last bytes; unreadable files are FOREIGN."""
    status = _status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return _foreign(path, "it does not exist" if status is None else "it is not a regular file")
    if not os.access(path, os.R_OK):
        return _foreign(path, "it can't be read: its permissions forbid it")
    if not status.st_size:
        return _foreign(path, "it is empty")
    if path.suffix.lower() in (".md", ".markdown"):
        return _note(path, status)
    if path.suffix.lower() != ".jsonl":
        return _foreign(path, "it is neither a transcript (.jsonl) nor markdown (.md)")
    try:
        return _transcript(path, status)
    except TranscriptError as error:
        return _foreign(path, error.message)
    except OSError as error:  # replaced during the examination
        return _foreign(path, f"it can't be read: {error.strerror}")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _foreign(path: Path, reason: str) -> SourceFile:
    return SourceFile(str(path), Sort.FOREIGN, reason=reason.removeprefix(f"{path} "))


def _note(path: Path, status: os.stat_result) -> SourceFile:
    if status.st_size > MAX_NOTE_BYTES:
        return _foreign(path, f"it is a markdown file of more than {MAX_NOTE_BYTES >> 20} MB")
    at = status.st_mtime
    return SourceFile(str(path), Sort.NOTE, status.st_size, folder=str(path.parent), begun=at, last=at)


def _transcript(path: Path, status: os.stat_result) -> SourceFile:
    reading = _read_beginning(path)
    if reading.foreign or not reading.sessions:
        return _foreign(path, reading.reason or "it names no session")
    first = next(iter(reading.turns), None)
    begun = first.time if first else reading.state.time or status.st_mtime
    agent = path.name.startswith(AGENT_FILE)
    known = path.stem in reading.sessions
    return SourceFile(
        path=str(path),
        sort=Sort.AGENT if agent else Sort.SESSION,
        bytes=status.st_size,
        session_id=path.stem if known else reading.sessions[-1],
        folder=(first.cwd if first else "") or reading.cwd,
        begun=begun,
        last=max(begun, _last_time(path, status)),
    )


def _read_beginning(path: Path) -> Reading:
    """Read the first lines, or a whole batch if the first lines name no session, as in a long series of summaries."""
    reading = read_turns(path, final=True, max_bytes=EXAMINED_BYTES)
    if reading.sessions or reading.foreign or not reading.more:
        return reading
    return read_turns(path, final=True)


def _last_time(path: Path, status: os.stat_result) -> float:
    """Return the time of the last line with a time, or the time of the file's last change if no line has one."""
    lines = read_end(path, EXAMINED_BYTES).split(b"\n")
    for line in reversed(lines):
        record = parse(line)
        if record and (at := timestamp(record, 0.0)):
            return at
    return status.st_mtime
