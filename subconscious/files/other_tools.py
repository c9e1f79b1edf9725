"""What other tools remember, as notes to import: claude-mem, mem0, basic-memory, and Claude Code's own notes.

None of them says reliably who said a thing, so an import lets all of it wait for review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subconscious.claude_files.note import UnusableNoteError, list_notes, note_text, parse
from subconscious.claude_files.places import config_folder, notes_folder
from subconscious.files import yaml_subset
from subconscious.files.reading import (
    Item,
    UnreadableError,
    claims_of,
    load_json,
    markdown_files,
    moment_of,
)
from subconscious.files.reading import note_text as markdown_text
from subconscious.files.yaml_subset import FrontMatterError
from subconscious.kinds import KINDS
from subconscious.store.foreign import ForeignError, reading

KIND = "learning"
"""The kind of what names none that we know."""

_SAME_KIND = {
    "bugfix": "learning",
    "change": "progress",
    "constraint": "decision",
    "convention": "preference",
    "discovery": "learning",
    "feature": "progress",
    "preferences": "preference",
    "problem": "blocker",
    "refactor": "progress",
    "requirement": "decision",
    "rule": "preference",
}
_OBSERVED = ("id", "project", "type", "title", "subtitle", "narrative", "text", "facts", "concepts", "created_at_epoch")
_SUMMED = ("id", "project", "learned", "created_at_epoch")
_DIRECTED = ("id", "project", "scope", "content", "status", "created_at_epoch")
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_OBSERVATION = re.compile(r"^[ \t]*[-*] \[([^\[\]\n]{1,60})\][ \t]+(\S.*)$", re.MULTILINE)
_TASK = frozenset(("x", "X", "-", "/", ">", ""))
_CONTEXT = re.compile(r"\(([^()]{1,300})\)\Z")
_TAG = re.compile(r"(?:(?<=\s)|\A)#([\w/-]{1,60})")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: how its files are read, and what a person gives for them."""

    read: Callable[[Path, str], Iterator[Item]]
    gives: str


def read_claude_mem(path: Path, project: str) -> Iterator[Item]:
    """Give the observations, lessons and directives of claude-mem's database.

    ``project`` is the name of the folder whose are wanted; "" for all.
    """
    try:
        with reading(path) as database:
            found = 0
            for table, wanted, as_item in _TABLES:
                if database.columns(table):
                    found += 1
                    rows = database.rows(table, wanted)
                    yield from (as_item(row) for row in rows if _is_of(row, project))
            if not found:
                yield Item(path.name, problem="it has none of claude-mem's tables")
    except ForeignError as error:
        yield Item(path.name, problem=str(error))
    except OSError as error:
        yield Item(path.name, problem=f"it can't be read: {error.strerror}")


def _is_of(row: Mapping[str, object], project: str) -> bool:
    return not project or row.get("project") in (None, "", project) or row.get("scope") == "global"


def _observation(row: Mapping[str, object]) -> Item:
    facts = "\n".join(f"- {fact}" for fact in _strings(row.get("facts")))
    body = _text(row, "narrative") or _text(row, "text") or _text(row, "subtitle")
    said = "\n".join(part for part in (_text(row, "title"), body, facts) if part)
    claims = {"kind": kind_of(row.get("type")), "tags": _strings(row.get("concepts"))}
    return _item(f"claude-mem observation {row.get('id')}", said, claims, row.get("created_at_epoch"))


def _lesson(row: Mapping[str, object]) -> Item:
    name = f"claude-mem summary {row.get('id')}"
    return _item(name, _text(row, "learned"), {"kind": KIND}, row.get("created_at_epoch"))


def _directive(row: Mapping[str, object]) -> Item:
    name = f"claude-mem directive {row.get('id')}"
    said = _text(row, "content") if row.get("status", "active") == "active" else ""
    return _item(name, said, {"kind": "preference"}, row.get("created_at_epoch"))


_TABLES: tuple[tuple[str, tuple[str, ...], Callable[[Mapping[str, object]], Item]], ...] = (
    ("observations", _OBSERVED, _observation),
    ("session_summaries", _SUMMED, _lesson),
    ("directives", _DIRECTED, _directive),
)


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _strings(raw: object) -> list[str]:
    """The texts of a JSON array in a column."""
    try:
        values = json.loads(raw) if isinstance(raw, str) else []
    except (ValueError, RecursionError):
        return []
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []


def read_mem0(path: Path, project: str) -> Iterator[Item]:
    """Give the memories of a mem0 export: what its `get_all` returns, or a list of that."""
    del project
    try:
        document = load_json(path)
    except UnreadableError as error:
        yield Item(path.name, problem=str(error))
        return
    entries = document
    if isinstance(document, dict):
        entries = next((document[name] for name in ("results", "memories") if name in document), None)
    if not isinstance(entries, list):
        yield Item(path.name, problem="it is no mem0 export: it has no list of memories")
        return
    yield from (_mem0_item(entry, number) for number, entry in enumerate(entries, start=1))


def _mem0_item(entry: object, number: int) -> Item:
    if not isinstance(entry, dict):
        return Item(f"mem0 memory #{number}", problem="it is no memory")
    name = f"mem0 memory {entry.get('id') or f'#{number}'}"
    said = next((entry[key] for key in ("memory", "text", "content") if isinstance(entry.get(key), str)), "")
    metadata = entry.get("metadata") if isinstance(entry.get("metadata"), dict) else {}
    categories = entry.get("categories") if isinstance(entry.get("categories"), list) else []
    tags = [one for one in categories or [] if isinstance(one, str)]
    named = [(metadata or {}).get(key) for key in ("type", "kind", "category")]
    kind = next((kind for one in (*named, *tags) if (kind := kind_of(one, "")) != ""), KIND)
    return _item(name, said.strip(), {"kind": kind, "tags": tags}, entry.get("updated_at") or entry.get("created_at"))


def read_basic_memory(path: Path, project: str) -> Iterator[Item]:
    """Give each observation of the notes of basic-memory; a note without any as a whole."""
    del project
    for file in markdown_files(path) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        try:
            text = markdown_text(file).replace("\r\n", "\n")
        except UnreadableError as error:
            yield Item(name, problem=str(error))
            continue
        yield from _observations(name, text)


def _observations(name: str, text: str) -> Iterator[Item]:
    front, body = _front(text)
    title = front.get("title") if isinstance(front.get("title"), str) else name.rpartition("/")[2].removesuffix(".md")
    claims = claims_of(front)
    found = [(kind, said) for kind, said in _OBSERVATION.findall(body) if kind.strip() not in _TASK]
    if not found:
        yield _item(name, body.strip(), claims | {"kind": kind_of(front.get("type"))}, None)
    for number, (category, observed) in enumerate(found, start=1):
        said = observed.rstrip()
        context = _CONTEXT.search(said)
        bare = _CONTEXT.sub("", said)
        tags = [*claims.get("tags", ()), *_TAG.findall(bare)]
        own = {"kind": kind_of(category), "tags": list(dict.fromkeys(tags)), "reason": context[1] if context else ""}
        plain = " ".join(_TAG.sub("", bare).split())
        yield _item(f"{name} observation {number}", f"{title}: {plain}", claims | own, None)


def _front(text: str) -> tuple[Mapping[str, yaml_subset.Value], str]:
    """The front matter, or nothing where it is not of the kind that we read, and the text behind it."""
    front = _FRONT.match(text)
    if front is None:
        return {}, text
    try:
        return yaml_subset.load(front[1]), text[front.end() :]
    except FrontMatterError:
        return {}, text[front.end() :]


def read_claude_notes(path: Path, project: str) -> Iterator[Item]:
    """Give the notes that Claude Code wrote for itself."""
    del project
    try:
        listed = list_notes(path)
    except OSError as error:
        yield Item(path.name, problem=f"it can't be read: {error.strerror}")
        return
    for file in listed:
        try:
            note = parse(file, note_text(file))
        except UnusableNoteError as error:
            yield Item(file.name, problem=error.message)
        except OSError as error:
            yield Item(file.name, problem=f"it can't be read: {error.strerror}")
        else:
            yield _item(file.name, note.text, {"kind": note.kind, "tags": [note.type] if note.type else []}, None)


def _item(name: str, said: str, claims: Mapping[str, Any], moment: object) -> Item:
    if not said:
        return Item(name, problem="it says nothing")
    at = moment_of(moment)
    return Item(name, None, said, dict(claims) | ({"said": at} if at is not None else {}))


def kind_of(named: object, otherwise: str = KIND) -> str:
    """Return our kind for what another tool calls a sort of memory."""
    name = named.strip().casefold() if isinstance(named, str) else ""
    found = _SAME_KIND.get(name, name)
    return found if found in KINDS and found != "meta" else otherwise


TOOLS: Mapping[str, Tool] = {
    "claude-mem": Tool(read_claude_mem, "its database (~/.claude-mem/claude-mem.db)"),
    "mem0": Tool(read_mem0, "a JSON file with what its `get_all` returns"),
    "basic-memory": Tool(read_basic_memory, "its folder of notes"),
    "claude-notes": Tool(read_claude_notes, "the folder of Claude Code's own notes (this project's)"),
}


def usual_place(tool: str, root: str, config_dir: str) -> Path | None:
    """Return where a tool keeps its memories unless told otherwise; None where it has no such place.

    ``root`` is the project's folder, ``config_dir`` the client's own folder, or "" for the usual one.
    """
    if tool == "claude-mem":
        return Path.home() / ".claude-mem" / "claude-mem.db"
    if tool == "claude-notes":
        return notes_folder(config_folder(config_dir, ""), root)
    return None
