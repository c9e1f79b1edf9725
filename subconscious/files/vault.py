"""Updates an export folder: writes changed notes, and removes notes of memories that are no longer selected.

A manifest lists the files that an export wrote, with the digests of their contents. A file that was edited after
the export is neither overwritten nor removed, because its text may exist nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from subconscious.domain.errors import RequestError
from subconscious.files import yaml_subset
from subconscious.files.folder import Folder
from subconscious.files.note import NoteError, as_exported, parse, render, wiki_link
from subconscious.files.record import Record, as_json

MANIFEST = ".subconscious-export.json"
FORMAT = "subconscious export"
VERSION = 1
NOTES = "memories"
BY_KIND = "by kind"
BY_MONTH = "by month"
EDITS = ".edits"
"""The folder for copies of notes whose edits can't all be imported. It is hidden, so imports skip it."""
OVERVIEW = "Memories.md"
JSON_FILE = "memories.json"
INDEX = "index"
"""The value of `subconscious` in the front matter of notes that only list other notes; an import skips such notes."""

MAX_SLUG_BYTES = 80
"""The most bytes of the readable part of a file name: names may have 255 bytes, and some systems' paths 260."""

KEY_LENGTH = 8
"""The number of characters of a memory's uid at the end of its file name."""

_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Written:
    """The changes that an export made in its folder; ``edited`` files were edited by a person and left alone."""

    written: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


@dataclass(slots=True)
class Manifest:
    """The files of the last export: digests by file, and names of notes by uid."""

    files: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Return the content of the manifest's file."""
        values = {"format": FORMAT, "version": VERSION, "files": self.files, "notes": self.notes}
        return json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False).encode()


def read_manifest(folder: Folder) -> Manifest | None:
    """Return the manifest of an earlier export; None if there is none. Raises RequestError for a damaged one."""
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
    """Return whether an export writes files with such a name: the manifest that lists the name may have been edited."""
    if not isinstance(name, str) or "\0" in name:
        return False
    inner, _, base = name.rpartition("/")
    return inner in ("", NOTES, BY_KIND, BY_MONTH) and base not in ("", ".", "..") and base.endswith((".md", ".json"))


def update(folder: Folder, form: str, records: Sequence[Record]) -> Written:
    """Make the folder contain exactly these records, as notes (``form`` "markdown") or as one JSON file.

    Files that a person has edited stay as they are. Raises RequestError unless the folder is empty or contains an
    earlier export.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        others = [name for name in folder.names() if name != ".obsidian"]
        if others:
            what = f"{folder.path} is neither empty nor an earlier export ({others[0]} is there)"
            raise RequestError(what, "name another folder: --out DIR")
        folder.close_to_others()
        manifest = Manifest()
    names = note_names({record.uid: record.memory.summary for record in records}, manifest.notes)
    files = as_files(records, names) if form == "markdown" else {JSON_FILE: json_document(records)}
    return _replaced(folder, manifest, files, names if form == "markdown" else {})


def edited_files(folder: Folder, names: Iterable[str]) -> list[str]:
    """Return the files in ``names`` that no export wrote, that were edited since an export, or that can't be read."""
    manifest = read_manifest(folder) or Manifest()
    return [name for name in names if _differs(folder, name, manifest.files.get(name, ""))]


def _differs(folder: Folder, name: str, digests: str) -> bool:
    try:
        there = folder.read(name)
    except RequestError:  # such as a symbolic link: an import says what it is
        return True
    return there is not None and _is_edited(there, digests)


def mark_taken(folder: Folder, statements: Mapping[str, str | None]) -> list[str]:
    """Mark edited notes as imported, so that the next export may overwrite them unless they are edited again.

    ``statements`` has each note's imported statement, by file name. An import applies only edits of statements, kinds
    and tags, so a note with other edits is copied first. Return the names of the copies.
    """
    manifest = read_manifest(folder)
    copies: list[str] = []
    if manifest is None:
        return copies
    for name, statement in statements.items():
        there = folder.read(name) if name in manifest.files else None
        if there is not None and _is_edited(there, manifest.files[name]) and _says(there, statement):
            if not _is_taken_whole(there, manifest.files[name]):
                copies.append(f"{EDITS}/{name.rpartition('/')[2].removesuffix('.md')} {_digest(there)[:8]}.md")
                folder.write(copies[-1], there)
            manifest.files[name] = f"{manifest.files[name]} {_digest(there)}".strip()
    _save(folder, manifest)
    return copies


def _is_taken_whole(content: bytes, digests: str) -> bool:
    """Return whether an import applies every edit in a note: only the statement, the kind or the tags were edited.

    ``digests`` has the digests of the versions of the note that were exported or imported, separated by spaces.
    """
    try:
        return not _is_edited(as_exported(content.decode("utf-8-sig")).encode("utf-8", "replace"), digests)
    except (NoteError, UnicodeDecodeError):
        return False


def _says(content: bytes, statement: str | None) -> bool:
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
    """Save a manifest with the old and the new digests, so that no file counts as edited if the export is cut off."""
    both = {name: f"{before.files.get(name, '')} {_digest(content)}".strip() for name, content in files.items()}
    same = all(digest in before.files.get(name, "").split() for name, digest in _digests(files).items())
    if not same or before.files.keys() != files.keys():
        _save(folder, Manifest(before.files | both, before.notes | dict(names)))


def _save(folder: Folder, manifest: Manifest) -> None:
    content = manifest.to_json()
    if folder.read(MANIFEST) != content:
        folder.write(MANIFEST, content)


def _is_edited(there: bytes, digests: str) -> bool:
    """Return whether a file differs from what an export wrote."""
    return _digest(there) not in digests.split()


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _digest(content) for name, content in files.items()}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_files(records: Sequence[Record], names: Mapping[str, str]) -> dict[str, bytes]:
    """Return the content of each file: a note for each memory, and index notes by kind and month."""
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


def slug(text: str) -> str:
    """Return the words of a text in lower case, joined by hyphens; "memory" if it has none.

    Letters are composed and in lower case, because macOS decomposes them and Windows ignores the case.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    joined = _NO_WORD.sub("-", plain).strip("-")
    cut = joined.encode("utf-8", "ignore")[:MAX_SLUG_BYTES].decode("utf-8", "ignore")
    if len(cut) < len(joined) and "-" in cut:
        cut = cut.rpartition("-")[0]
    return cut.strip("-") or "memory"


def note_name(summary: str, uid: str) -> str:
    """Return a note's name without ".md"; it ends with a part of the uid, because two memories may share a summary."""
    return f"{slug(summary)}-{uid[:KEY_LENGTH]}"


def note_names(summaries: dict[str, str], known: dict[str, str]) -> dict[str, str]:
    """Return a note's file name for each uid in ``summaries``. A name in ``known`` is kept if the summary changes."""
    names = {uid: known[uid] for uid in summaries if uid in known}
    taken = {name.casefold() for name in names.values()}
    for uid, summary in summaries.items():
        if uid not in names:
            name = note_name(summary, uid)
            name = f"{name}{uid[KEY_LENGTH:]}" if name.casefold() in taken else name
            names[uid] = name
            taken.add(name.casefold())
    return names
