"""What can be imported: transcripts and notes, known by their first and last bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from subconscious.errors import TranscriptError
from subconscious.safe_files import read_end
from subconscious.transcripts import Reading, read_turns
from subconscious.transcripts.records import parse, timestamp

LOOK_BYTES = 128 << 10
"""Bytes of a transcript that are looked at, at its start and at its end."""

LONGEST_NOTE = 1 << 20
"""Bytes of markdown beyond which a file is no note that somebody wrote."""

AGENT_FILE = "agent-"
"""How the names of sub-agents' transcripts begin."""

PASSED_BY = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "target", "vendor", "venv"})
"""Folders whose markdown is not the project's own."""


class Sort(StrEnum):
    """What a file is to an import."""

    SESSION = "session"
    AGENT = "agent"
    NOTE = "note"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Found:
    """One file, as its beginning and its end show it. ``folder`` is where its session began, or a note's own.

    ``reason`` says why a foreign one is not imported.
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
    """Give the files that are named, and those below the folders that are named which could be meant; each once."""
    seen: set[tuple[int, int]] = set()
    for place in places:
        for path in _below(Path(os.path.abspath(place))):  # noqa: PTH100 - links stay: hooks name transcripts by them
            status = _status(path)
            mark = (status.st_dev, status.st_ino) if status else (0, hash(path))
            if mark not in seen:
                seen.add(mark)
                yield path


def _below(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield place
        return
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if name not in PASSED_BY)
        # Notes in the client's own folder are the model's, not a person's.
        endings = (".jsonl",) if ".claude" in Path(folder).parts else (".jsonl", ".md", ".markdown")
        yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(endings))


def look(path: Path) -> Found:
    """Say what a file is, from its first and last bytes; whatever it holds, this raises nothing."""
    status = _status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return _foreign(path, "it is not there" if status is None else "it is not a regular file")
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
    except OSError as error:  # replaced while it was looked at
        return _foreign(path, f"it can't be read: {error.strerror}")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _foreign(path: Path, reason: str) -> Found:
    return Found(str(path), Sort.FOREIGN, reason=reason.removeprefix(f"{path} "))


def _note(path: Path, status: os.stat_result) -> Found:
    if status.st_size > LONGEST_NOTE:
        return _foreign(path, f"it is markdown of more than {LONGEST_NOTE >> 20} MB")
    at = status.st_mtime
    return Found(str(path), Sort.NOTE, status.st_size, folder=str(path.parent), begun=at, last=at)


def _transcript(path: Path, status: os.stat_result) -> Found:
    reading = _beginning(path)
    if reading.foreign or not reading.sessions:
        return _foreign(path, reading.reason or "it names no session")
    first = next(iter(reading.turns), None)
    begun = first.time if first else reading.state.time or status.st_mtime
    agent = path.name.startswith(AGENT_FILE)
    known = path.stem in reading.sessions
    return Found(
        path=str(path),
        sort=Sort.AGENT if agent else Sort.SESSION,
        bytes=status.st_size,
        session_id=path.stem if known else reading.sessions[-1],
        folder=(first.cwd if first else "") or reading.cwd,
        begun=begun,
        last=max(begun, _last_time(path, status)),
    )


def _beginning(path: Path) -> Reading:
    """Read the first lines; more of them where those name no session, such as a long run of old summaries."""
    reading = read_turns(path, final=True, max_bytes=LOOK_BYTES)
    if reading.sessions or reading.foreign or not reading.more:
        return reading
    return read_turns(path, final=True)


def _last_time(path: Path, status: os.stat_result) -> float:
    """When the last line that says so was written."""
    lines = read_end(path, LOOK_BYTES).split(b"\n")
    for line in reversed(lines):
        record = parse(line)
        if record and (at := timestamp(record, 0.0)):
            return at
    return status.st_mtime
