"""The export folder: which files it has, what is written and what is removed.

A manifest lists the files that an export wrote, each with the digest of its content. A file that somebody has edited
since is neither overwritten nor removed: its words may be nowhere else.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from subconscious.errors import RequestError
from subconscious.files import yaml_subset
from subconscious.files.folder import Folder
from subconscious.files.names import note_names
from subconscious.files.note import NoteError, parse, render, wiki_link
from subconscious.files.record import Record, as_json

MANIFEST = ".subconscious-export.json"
FORMAT = "subconscious export"
VERSION = 1
NOTES = "memories"
BY_KIND = "by kind"
BY_MONTH = "by month"
OVERVIEW = "Memories.md"
JSON_FILE = "memories.json"
INDEX = "index"
"""The value of the front matter's `subconscious` in a note that lists others; an import leaves those out."""


@dataclass(frozen=True, slots=True)
class Written:
    """What an export changed; ``edited`` files were left as they are."""

    written: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


@dataclass(slots=True)
class Manifest:
    """The files of the last export: their digests, and the notes' names by uid."""

    files: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Return the manifest as it is stored."""
        values = {"format": FORMAT, "version": VERSION, "files": self.files, "notes": self.notes}
        return json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False).encode()


def read_manifest(folder: Folder) -> Manifest | None:
    """Return the manifest of an earlier export; None where there is none. Raises RequestError for a broken one."""
    raw = folder.read(MANIFEST)
    if raw is None:
        return None
    broken = RequestError(f"{folder.path / MANIFEST} is damaged", "export into an empty folder: --out DIR")
    try:
        values = json.loads(raw)
        manifest = Manifest(dict(values["files"]), dict(values["notes"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise broken from error
    if values.get("format") != FORMAT or values.get("version") != VERSION:
        raise broken
    if not all(map(_is_ours, (*manifest.files, *(f"{NOTES}/{name}.md" for name in manifest.notes.values())))):
        raise broken
    return manifest


def _is_ours(name: object) -> bool:
    """Whether an export may have written a file of this name: a manifest is a file that anybody can edit."""
    if not isinstance(name, str) or "\0" in name:
        return False
    inner, _, base = name.rpartition("/")
    return inner in ("", NOTES, BY_KIND, BY_MONTH) and base not in ("", ".", "..") and base.endswith((".md", ".json"))


def update(folder: Folder, form: str, records: Sequence[Record]) -> Written:
    """Make the folder hold exactly these records. Raises RequestError unless it is empty or an earlier export."""
    manifest = read_manifest(folder)
    if manifest is None:
        others = [name for name in folder.names() if name != ".obsidian"]
        if others:
            what = f"{folder.path} is neither empty nor an earlier export ({others[0]} lies there)"
            raise RequestError(what, "name another folder: --out DIR")
        folder.close_to_others()
        manifest = Manifest()
    names = note_names({record.uid: record.memory.summary for record in records}, manifest.notes)
    files = as_files(records, names) if form == "markdown" else {JSON_FILE: json_document(records)}
    return _replaced(folder, manifest, files, names if form == "markdown" else {})


def edited_files(folder: Folder, names: Iterable[str]) -> list[str]:
    """Return those files that are not as an export wrote them, or that none wrote."""
    manifest = read_manifest(folder) or Manifest()
    found = []
    for name in names:
        there = folder.read(name)
        if there is not None and _is_edited(there, manifest.files.get(name, "")):
            found.append(name)
    return found


def mark_taken(folder: Folder, statements: Mapping[str, str]) -> None:
    """Let the next export replace edited notes whose statement was imported, unless they were edited again."""
    manifest = read_manifest(folder)
    if manifest is None:
        return
    for name, statement in statements.items():
        there = folder.read(name) if name in manifest.files else None
        if there is not None and _says(there, statement):
            manifest.files[name] = f"{manifest.files[name]} {_digest(there)}".strip()
    _save(folder, manifest)


def _says(content: bytes, statement: str) -> bool:
    try:
        return parse(content.decode("utf-8-sig")).statement == statement
    except (NoteError, UnicodeDecodeError):
        return False


def _replaced(folder: Folder, before: Manifest, files: Mapping[str, bytes], names: Mapping[str, str]) -> Written:
    _announce(folder, before, files, names)
    kept: dict[str, str] = {}
    written, removed, edited, unchanged = [], [], [], 0
    for name, content in files.items():
        there = folder.read(name)
        if there is not None and there != content and _is_edited(there, before.files.get(name, "")):
            edited.append(name)
            kept |= {name: before.files[name]} if name in before.files else {}
            continue
        kept[name] = _digest(content)
        if there == content:
            unchanged += 1
        else:
            folder.write(name, content)
            written.append(name)
    for name in before.files.keys() - files.keys():
        there = folder.read(name)
        if there is not None and _is_edited(there, before.files[name]):
            edited.append(name)
            kept[name] = before.files[name]
        else:
            folder.remove(name)
            removed.append(name)
    _save(folder, Manifest(kept, dict(names)))
    return Written(tuple(written), unchanged, tuple(sorted(removed)), tuple(sorted(edited)))


def _announce(folder: Folder, before: Manifest, files: Mapping[str, bytes], names: Mapping[str, str]) -> None:
    """List what is about to be written, with the old digests and the new: after a crash, both contents are ours."""
    both = {name: f"{before.files.get(name, '')} {_digest(content)}".strip() for name, content in files.items()}
    same = all(digest in before.files.get(name, "").split() for name, digest in _digests(files).items())
    if not same or before.files.keys() != files.keys():
        _save(folder, Manifest(before.files | both, before.notes | dict(names)))


def _save(folder: Folder, manifest: Manifest) -> None:
    content = manifest.to_json()
    if folder.read(MANIFEST) != content:
        folder.write(MANIFEST, content)


def _is_edited(there: bytes, digests: str) -> bool:
    """Whether a file is not as an export wrote it."""
    return _digest(there) not in digests.split()


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _digest(content) for name, content in files.items()}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_files(records: Sequence[Record], names: Mapping[str, str]) -> dict[str, bytes]:
    """Return the content of each file of a vault: a note for each memory, and notes that list them."""
    titles = {record.uid: record.memory.summary for record in records}
    texts = {f"{NOTES}/{names[record.uid]}.md": render(record, names, titles) for record in records}
    kinds: dict[str, list[Record]] = defaultdict(list)
    months: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        kinds[record.memory.kind].append(record)
        months[_month(record)].append(record)
    texts |= {f"{BY_KIND}/{kind}.md": _index(kind, found, names) for kind, found in kinds.items()}
    texts |= {f"{BY_MONTH}/{month}.md": _index(month, found, names) for month, found in months.items()}
    texts[OVERVIEW] = _overview(kinds, months)
    return {name: text.encode("utf-8", "replace") for name, text in texts.items()}


def _month(record: Record) -> str:
    try:
        return f"{datetime.fromtimestamp(record.memory.said_at, UTC):%Y-%m}"
    except (OverflowError, OSError, ValueError):
        return "undated"


def _index(title: str, records: Iterable[Record], names: Mapping[str, str]) -> str:
    latest = sorted(records, key=lambda record: (-record.memory.said_at, record.uid))
    lines = [f"- {wiki_link(names[record.uid], record.memory.summary)}{_state(record)}" for record in latest]
    return "\n".join([_index_head(), f"# {title}\n", *lines, ""])


def _state(record: Record) -> str:
    return "" if record.status == "active" else f" ({record.status})"


def _overview(kinds: Mapping[str, Sequence[Record]], months: Mapping[str, Sequence[Record]]) -> str:
    lines = [_index_head(), "# Memories\n", "## By kind\n"]
    lines += [f"- [[{BY_KIND}/{kind}|{kind}]] ({len(found)})" for kind, found in sorted(kinds.items())]
    lines += ["\n## By month\n"]
    lines += [
        f"- [[{BY_MONTH}/{month}|{month}]] ({len(found)})" for month, found in sorted(months.items(), reverse=True)
    ]
    return "\n".join([*lines, ""])


def _index_head() -> str:
    return f"---\n{yaml_subset.dump({'subconscious': INDEX})}---\n"


def json_document(records: Sequence[Record]) -> bytes:
    """Return all records as one JSON document."""
    document = {"format": FORMAT, "version": VERSION, "memories": [as_json(record) for record in records]}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"
