"""Reads exports to import: folders of notes and JSON files.

Files can come from anywhere, so only regular files are opened, up to a limit, and no link is followed. An unreadable
file yields an item with its problem, and the other files are still read.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from subconscious.files.note import NoteError, parse
from subconscious.files.record import as_json
from subconscious.files.vault import FORMAT, INDEX, JSON_FILE, MANIFEST
from subconscious.files.yaml_subset import Value
from subconscious.system.json_bounds import has_too_many_values
from subconscious.system.safe_files import UnreadableTextError, read_regular, read_utf8

LARGEST_NOTE = 1 << 20
LARGEST_JSON = 64 << 20
MOST_VALUES = 5_000_000
MOST_FILES = 50_000
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Item:
    """A note to import, with a ``record``, a ``statement``, or both if the statement was edited.

    ``problem`` says why the note can't be imported; "" if it can.
    """

    name: str
    record: Mapping[str, Any] | None = None
    statement: str | None = None
    claims: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    def as_request(self) -> dict[str, Any]:
        """Return the item as an argument of a request to the daemon."""
        return {"name": self.name, "record": self.record, "statement": self.statement, "claims": dict(self.claims)}


def is_export(path: Path) -> bool:
    """Return whether a path is an export: a folder with a manifest, or a JSON file in our format."""
    if path.is_dir():
        return (path / MANIFEST).is_file() or (path / JSON_FILE).is_file()
    if path.suffix != ".json":
        return False
    try:
        return f'"{FORMAT}"'.encode() in read_regular(path, LARGEST_JSON)[:1000]
    except OSError:
        return False


def read_export(path: Path) -> Iterator[Item]:
    """Yield the notes of an export, in the order in which they can be restored."""
    if not path.is_dir():
        return iter(_in_order(list(read_json(path))))
    document = path / JSON_FILE
    found = list(read_notes(path)) + (list(read_json(document)) if document.exists() else [])
    return iter(_in_order(found))


def _in_order(items: list[Item]) -> list[Item]:
    """Return the items sorted by their records' ids, so that they are restored in the original order."""
    return sorted(items, key=lambda item: (item.record or {}).get("id") or 0)


def read_notes(folder: Path) -> Iterator[Item]:
    """Yield the Markdown notes below a folder."""
    for path in markdown_files(folder):
        name = path.relative_to(folder).as_posix()
        item = read_note(path, name)
        if item is not None:
            yield item


def markdown_files(folder: Path) -> list[Path]:
    """Return the Markdown files below a folder, except hidden files and files in hidden or linked folders."""
    found: list[Path] = []
    for inner, folders, names in os.walk(folder):
        depth = len(Path(inner).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and depth < DEEPEST)
        found += [Path(inner, name) for name in sorted(names) if name.endswith(".md") and not name.startswith(".")]
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]


def read_note(path: Path, name: str) -> Item | None:
    """Return a note; None for an index of other notes."""
    try:
        text = file_text(path)
        note = parse(text)
    except (NoteError, UnreadableError) as error:
        return Item(name, problem=str(error))
    if note.front.get("subconscious") == INDEX:
        return None
    record = as_json(note.record) if note.record else None
    return Item(name, record, note.statement, claims_of(note.front))


class UnreadableError(ValueError):
    """A file that can't be read; the message says why."""


def file_text(path: Path, most: int = LARGEST_NOTE) -> str:
    """Return the text of a file. Raises UnreadableError unless it is UTF-8 text of at most ``most`` bytes."""
    try:
        return read_utf8(path, most).removeprefix("\ufeff")
    except UnreadableTextError as error:
        raise UnreadableError(str(error)) from error
    except OSError as error:
        raise UnreadableError(f"it can't be read: {error.strerror}") from error


def claims_of(front: Mapping[str, Value]) -> dict[str, Any]:
    """Return the kind, reason, branch, tags and date that a note's front matter claims."""
    claims: dict[str, Any] = {}
    for name in ("kind", "reason", "branch"):
        if isinstance(front.get(name), str):
            claims[name] = front[name]
    tags = front.get("tags")
    if isinstance(tags, str):
        tags = [part.strip() for part in tags.split(",")]
    if isinstance(tags, list):
        claims["tags"] = [str(tag) for tag in tags if tag][:50]
    said = moment_of(front.get("said") or front.get("date") or front.get("created"))
    return claims | ({"said": said} if said is not None else {})


def moment_of(value: object) -> float | None:
    """Return the epoch seconds of an ISO date, or of a number of seconds or milliseconds; None for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value) / (1000 if abs(value) > 1e11 else 1)
        return seconds if 0 <= seconds < 1e11 else None
    try:
        moment = datetime.fromisoformat(str(value)) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def load_json(path: Path) -> Any:
    """Return the content of a JSON file. Raises UnreadableError."""
    return _parsed(file_text(path, LARGEST_JSON))


def load_zipped_json(path: Path, name: str) -> Any:
    """Return the content of a JSON file in a zip file. Raises UnreadableError."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_regular(path, LARGEST_JSON))) as archive, archive.open(name) as file:
            raw = file.read(LARGEST_JSON + 1)
    except KeyError as error:
        raise UnreadableError(f"it has no {name}") from error
    except OSError as error:
        raise UnreadableError(f"it can't be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UnreadableError(f"it is not a readable zip file ({error})") from error
    if len(raw) > LARGEST_JSON:
        raise UnreadableError(f"its {name} is larger than {LARGEST_JSON >> 20} MB")
    return _parsed(raw.decode("utf-8", "replace"))


def _parsed(text: str) -> Any:
    if has_too_many_values(text.encode(), MOST_VALUES):
        raise UnreadableError("it has too many values")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError("it is not valid JSON, or it is cut off") from error


def read_json(path: Path) -> Iterator[Item]:
    """Yield the records of a JSON export."""
    try:
        document = load_json(path)
    except UnreadableError as error:
        yield Item(path.name, problem=str(error))
        return
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        yield Item(path.name, problem="it is not an export of Subconscious")
        return
    if document.get("version") != 1:
        yield Item(path.name, problem=f"its format is version {str(document.get('version'))[:20]}, not 1")
        return
    memories = document.get("memories")
    for number, record in enumerate(memories if isinstance(memories, list) else [], start=1):
        name = f"{path.name} #{number}"
        yield Item(name, record) if isinstance(record, dict) else Item(name, problem="it is not a record")
