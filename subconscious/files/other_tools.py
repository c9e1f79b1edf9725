"""Reads memories of other tools: claude-mem, mem0, basic-memory, and Claude Code's own notes.

None of these tools records reliably who said what, so all imported memories wait for review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subconscious.claude_files.client_folders import config_folder, notes_folder
from subconscious.claude_files.note import UnusableNoteError, list_notes, note_text, parse
from subconscious.domain.kinds import KINDS
from subconscious.files import yaml_subset
from subconscious.files.reading import (
    Item,
    UnreadableError,
    claims_of,
    file_text,
    load_json,
    load_zipped_json,
    markdown_files,
    moment_of,
)
from subconscious.files.yaml_subset import FrontMatterError
from subconscious.store.foreign import ForeignError, open_foreign
from subconscious.text.front_matter import split_front_matter

KIND = "learning"
"""The kind for entries without a known kind."""

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
_PLACED = ("id", "project", "merged_into_project", "created_at_epoch")
_OBSERVED = (*_PLACED, "type", "title", "subtitle", "narrative", "text", "facts", "concepts")
_SUMMED = (*_PLACED, "learned")

_LISTED = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)$", re.MULTILINE)
_CATEGORY = re.compile(r"\[([^\[\]()]{1,60})\][ \t]+(?=\S)")
_FENCE = re.compile(r"[ \t]{0,12}(?P<mark>`{3,}|~{3,})")
_NO_CATEGORY = re.compile(r"[xX]?|\W|[\d:.,\s-]*:[\d:.,\s-]*")
"""Text in brackets that is not a category: the mark of a task, or the time of a line in a transcript."""
_CONTEXT = re.compile(r"\(([^()]{1,300})\)\Z")
_TAG = re.compile(r"(?:(?<=\s)|\A)#([\w/-]{1,60})")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool whose memories can be imported.

    ``read`` reads them from a path; ``gives`` tells the user which path to name.
    """

    read: Callable[[Path, str], Iterator[Item]]
    gives: str


def read_claude_mem(path: Path, project: str) -> Iterator[Item]:
    """Yield the observations in claude-mem's database, and the lessons in its summaries.

    ``project`` is the name of the project's folder; "" for all projects.
    """
    try:
        with open_foreign(path) as database:
            found = 0
            for table, wanted, as_item in _TABLES:
                if database.columns(table):
                    found += 1
                    rows = database.rows(table, wanted)
                    yield from (as_item(row) for row in rows if _is_of(row, project))
            if not found:
                yield Item(path.name, problem="it is not a database of claude-mem: its tables are missing")
    except ForeignError as error:
        yield Item(path.name, problem=str(error))
    except OSError as error:
        yield Item(path.name, problem=f"it can't be read: {error.strerror}")


def _is_of(row: Mapping[str, object], project: str) -> bool:
    """Return whether a row belongs to a project, to one of its worktrees (PROJECT/WORKTREE), or to no project."""
    names = [str(row.get(key) or "").casefold() for key in ("project", "merged_into_project")]
    return not project or not names[0] or project.casefold() in (*names, names[0].partition("/")[0])


def _observation(row: Mapping[str, object]) -> Item:
    facts = "\n".join(f"- {fact}" for fact in _strings(row.get("facts")))
    body = _text(row, "narrative") or _text(row, "text") or _text(row, "subtitle")
    text = "\n".join(part for part in (_text(row, "title"), body, facts) if part)
    claims = {"kind": kind_of(row.get("type")), "tags": _strings(row.get("concepts"))}
    return _item(f"claude-mem observation {row.get('id')}", text, claims, row.get("created_at_epoch"))


def _lesson(row: Mapping[str, object]) -> Item:
    name = f"claude-mem summary {row.get('id')}"
    return _item(name, _text(row, "learned"), {"kind": KIND}, row.get("created_at_epoch"))


_TABLES: tuple[tuple[str, tuple[str, ...], Callable[[Mapping[str, object]], Item]], ...] = (
    ("observations", _OBSERVED, _observation),
    ("session_summaries", _SUMMED, _lesson),
)


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _strings(raw: object) -> list[str]:
    """Return the strings of a JSON array in a column; none if it is invalid."""
    try:
        values = json.loads(raw) if isinstance(raw, str) else []
    except (ValueError, RecursionError):
        return []
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []


def read_mem0(path: Path, project: str) -> Iterator[Item]:
    """Yield the memories of a mem0 export: a JSON file with the result of `get_all`, or the zip file of OpenMemory."""
    del project
    try:
        document = load_zipped_json(path, "memories.json") if path.suffix == ".zip" else load_json(path)
    except UnreadableError as error:
        yield Item(path.name, problem=str(error))
        return
    about = document if isinstance(document, dict) else {}
    entries = next((about[name] for name in ("results", "memories") if name in about), document)
    if not isinstance(entries, list):
        yield Item(path.name, problem="it is not a mem0 export: it has no list of memories")
        return
    categories = _named(about.get("categories"))
    yield from (_mem0_item(entry, number, categories) for number, entry in enumerate(entries, start=1))
    if about.get("next"):
        yield Item(path.name, problem="it is one page of several; import the other pages, too")


def _named(categories: object) -> dict[str, str]:
    """Return the names of OpenMemory's categories by their ids."""
    rows = [row for row in categories if isinstance(row, dict)] if isinstance(categories, list) else []
    return {str(row.get("id")): row["name"] for row in rows if isinstance(row.get("name"), str)}


def _mem0_item(entry: object, number: int, categories: Mapping[str, str]) -> Item:
    if not isinstance(entry, dict):
        return Item(f"mem0 memory #{number}", problem="it is not a memory")
    name = f"mem0 memory {entry.get('id') or f'#{number}'}"
    if (state := entry.get("state", "active")) != "active":
        return Item(name, problem=f"its state is {str(state)[:20]}")
    text = next((entry[key] for key in ("memory", "text", "content") if isinstance(entry.get(key), str)), "")
    metadata = entry.get("metadata") if isinstance(entry.get("metadata"), dict) else {}
    tags = [*_list(entry.get("categories")), *(categories.get(one, "") for one in _list(entry.get("category_ids")))]
    named = [(metadata or {}).get(key) for key in ("type", "kind", "category")]
    kind = next((kind for one in (*named, *tags) if (kind := kind_of(one, "")) != ""), KIND)
    claims = {"kind": kind, "tags": list(filter(None, tags))}
    return _item(name, text.strip(), claims, entry.get("updated_at") or entry.get("created_at"))


def _list(values: object) -> list[str]:
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []


def read_basic_memory(path: Path, project: str) -> Iterator[Item]:
    """Yield each observation in basic-memory's notes; a note without observations is yielded as one item."""
    del project
    for file in markdown_files(path) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        try:
            text = file_text(file).replace("\r\n", "\n")
        except UnreadableError as error:
            yield Item(name, problem=str(error))
            continue
        yield from _observations(name, text, _changed(file))


def _changed(file: Path) -> float | None:
    """Return the time when a file was last changed; None if it can't be read."""
    try:
        return file.stat(follow_symlinks=False).st_mtime
    except OSError:
        return None


def _observations(name: str, text: str, changed: float | None = None) -> Iterator[Item]:
    front, body = _front(text)
    title = front.get("title") if isinstance(front.get("title"), str) else name.rpartition("/")[2].removesuffix(".md")
    claims = claims_of(front)
    moment = claims.get("said", changed)
    found = [one for line in _LISTED.findall(_without_fences(body)) if (one := _observation_in(line.rstrip()))]
    if not found:
        yield _item(name, body.strip(), claims | {"kind": kind_of(front.get("type"))}, moment)
    for number, (category, text) in enumerate(found, start=1):
        context = _CONTEXT.search(text)
        bare = _CONTEXT.sub("", text)
        tags = [*claims.get("tags", ()), *_TAG.findall(bare)]
        own = {"kind": kind_of(category), "tags": list(dict.fromkeys(tags)), "reason": context[1] if context else ""}
        plain = " ".join(_TAG.sub("", bare).split())
        yield _item(f"{name} observation {number}", f"{title}: {plain}", claims | own, moment)


def _without_fences(body: str) -> str:
    """Return a text without its fenced blocks; a block that is not closed reaches to the end of the text."""
    kept: list[str] = []
    mark = ""
    for line in body.split("\n"):
        found = _FENCE.match(line)
        if mark:
            mark = "" if line.strip() == mark else mark
        elif found:
            mark = found["mark"]
        else:
            kept.append(line)
    return "\n".join(kept)


def _observation_in(line: str) -> tuple[str, str] | None:
    """Return the category and the text of a list item; None if the item is not an observation.

    An observation begins with a category in brackets, or contains a tag. Without a category, "" is returned for it.
    """
    found = _CATEGORY.match(line)
    if found and not _NO_CATEGORY.fullmatch(found[1].strip()):
        return found[1], line[found.end() :]
    return ("", line) if not found and _TAG.search(line) and "[[" not in line else None


def _front(text: str) -> tuple[Mapping[str, yaml_subset.Value], str]:
    """Return the values of the front matter that can be read, and the text after it."""
    front, body = split_front_matter(text)
    values: dict[str, yaml_subset.Value] = {}
    for part in re.split(r"\n(?=[^\s#-])", front or ""):
        try:
            values = {**yaml_subset.load(part), **values}
        except FrontMatterError:
            continue
    return values, body


def read_claude_notes(path: Path, project: str) -> Iterator[Item]:
    """Yield the notes that Claude Code wrote for itself."""
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
            claims = {"kind": note.kind, "tags": [note.type] if note.type else []}
            yield _item(file.name, note.text, claims, _changed(file))


def _item(name: str, text: str, claims: Mapping[str, Any], moment: object) -> Item:
    if not text:
        return Item(name, problem="it has no text")
    at = moment_of(moment)
    return Item(name, None, text, dict(claims) | ({"said": at} if at is not None else {}))


def kind_of(named: object, otherwise: str = KIND) -> str:
    """Return the kind of memory that another tool's kind corresponds to; ``otherwise`` if there is none."""
    name = named.strip().casefold() if isinstance(named, str) else ""
    found = _SAME_KIND.get(name, name)
    return found if found in KINDS and found != "meta" else otherwise


TOOLS: Mapping[str, Tool] = {
    "claude-mem": Tool(read_claude_mem, "its database (~/.claude-mem/claude-mem.db)"),
    "mem0": Tool(read_mem0, "a JSON file with what its `get_all` returns, or the zip file of OpenMemory"),
    "basic-memory": Tool(read_basic_memory, "its folder of notes"),
    "claude-notes": Tool(read_claude_notes, "the folder of Claude Code's own notes (this project's)"),
}


def usual_place(tool: str, root: str, config_dir: str) -> Path | None:
    """Return the default path of a tool's memories; None if the tool has no default path.

    ``root`` is the project's folder, ``config_dir`` Claude Code's own folder, or "" for the default.
    """
    if tool == "claude-mem":
        return Path.home() / ".claude-mem" / "claude-mem.db"
    if tool == "claude-notes":
        return notes_folder(config_folder(config_dir, ""), root)
    return None
