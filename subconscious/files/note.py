"""Converts a memory to a Markdown note, and back.

Front matter and text are for people and for Obsidian. The comment at the end contains the exact record. A note counts
as edited if its statement differs from the statement in its record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from subconscious.domain.link_types import LINK_TYPES
from subconscious.files import yaml_subset
from subconscious.files.record import LinkTo, Record, RecordError, parse_record
from subconscious.files.yaml_subset import FrontMatterError, Value
from subconscious.text.front_matter import is_cut_off, split_front_matter

MARK = "<!-- subconscious "
_COMMENT = re.compile(r"^<!-- subconscious (\{.*\}) -->[ \t]*$", re.MULTILINE)

_TITLE = re.compile(r"\A\s*#[ \t]+[^\n]*(?:\n|\Z)")
_SECTION = re.compile(r"^## (?:Reason|Evidence|Links)[ \t]*$", re.MULTILINE)
# Headings, HTML, wiki links and pictures in a text are escaped by a backslash, which is removed on reading: a picture
# would be fetched when the note is opened. Backslashes in front of them are doubled, since a pair escapes nothing.
# Possessive quantifiers, which match only at the start of a run, match a megabyte of backslashes in linear time.
_ESCAPE = re.compile(r"(?m)^(\\*+)(?=#{1,6}(?:\s|\Z))|(?<!\\)(\\*+)(?=<\\*+[A-Za-z/!?]|[!\[]\\*+\[)")
_Front = dict[str, yaml_subset.Scalar | list[str]]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed note.

    ``record`` is None for a note written by hand. ``statement`` is the note's statement, None if it is the same as in
    the record.
    """

    record: Record | None
    statement: str | None
    front: Mapping[str, Value]


class NoteError(ValueError):
    """A note that can't be read; the message says why."""


def render(record: Record, names: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """Return the note of a record, with the memory's links to other notes.

    ``names`` and ``titles`` are the names and titles of notes, by the uids of their memories. Only links to memories
    in ``names`` are shown, but the record in the note's last line contains all links.
    """
    links = [link for link in record.links if link.target in names and link.status in ("active", "proposed")]
    parts = [
        f"---\n{yaml_subset.dump(_front(record, links, names))}---\n",
        f"# {_escaped(_one_line(record.memory.summary))}\n",
        _statement(record),
        _section("Reason", _escaped(record.memory.rationale)),
        _section("Evidence", _quoted(record.memory.evidence)),
        _section("Links", "\n".join(_link_line(link, names, titles) for link in links)),
        f"{MARK}{_in_comment(record)} -->\n",
    ]
    return "\n".join(part for part in parts if part)


def _front(
    record: Record, links: Iterable[LinkTo], names: Mapping[str, str]
) -> dict[str, yaml_subset.Scalar | list[str]]:
    memory = record.memory
    summary = _one_line(memory.summary)
    # Claude Code's own notes have "name" and "description". Obsidian searches "aliases".
    front: _Front = {"name": names[record.uid]} if record.uid in names else {}
    front |= {
        "description": summary,
        "id": record.id,
        "aliases": [summary],
        "kind": memory.kind,
        "status": record.status,
        "confidence": round(memory.confidence, 4),
        "origin": memory.origin.value,
        "project": record.project.name if record.project else "",
        "branch": memory.branch,
        "created": iso(memory.created_at),
        "said": iso(memory.said_at),
        "session": memory.session_id or "",
        "tags": [shown_tag(tag) for tag in memory.tags],
        "files": list(memory.files),
    }
    if memory.archived_at is not None and record.status == "archived":
        front["archived"] = iso(memory.archived_at)
    typed: dict[str, list[str]] = {}
    for link in links:
        typed.setdefault(_type_name(link), []).append(f"[[{names[link.target]}]]")
    return front | typed


def shown_tag(tag: str) -> str:
    """Return a tag as notes show it, with hyphens instead of spaces, because Obsidian's tags can't contain spaces."""
    return tag.replace(" ", "-")


def _type_name(link: LinkTo) -> str:
    """Return the property name of a link's type; proposed links have properties of their own."""
    name = link.type.lower() if link.type in LINK_TYPES else "linked"
    return name if link.status == "active" else f"proposed_{name}"


def _statement(record: Record) -> str:
    return f"{_escaped(record.memory.content)}\n"


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}\n" if text.strip() else ""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in _escaped(text).splitlines())


def _link_line(link: LinkTo, names: Mapping[str, str], titles: Mapping[str, str]) -> str:
    return f"- {_type_name(link).replace('_', ' ')} {wiki_link(names[link.target], titles.get(link.target, ''))}"


def wiki_link(name: str, title: str) -> str:
    """Return a wiki link to the note ``name`` that shows ``title``."""
    shown = re.sub(r"[\[\]|]", " ", _one_line(title)).strip()
    return f"[[{name}|{shown}]]" if shown else f"[[{name}]]"


def _one_line(text: str) -> str:
    """Return a text as one line, in which nothing can be parsed as a wiki link or a comment."""
    return re.sub(r"\[{2,}", "[", " ".join(text.split())).replace("<!--", "<-")


def _escaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: found[0] * 2 + "\\", text)


def _unescaped(text: str) -> str:
    """Undo `_escaped`. An even number of backslashes is not an escape: a person wrote these, so they stay."""
    return _ESCAPE.sub(lambda found: found[0][: len(found[0]) // 2] if len(found[0]) % 2 else found[0], text)


def _in_comment(record: Record) -> str:
    """Return the record as JSON that can neither end the comment around it nor be parsed as a link."""
    raw = json.dumps(record.model_dump(mode="json"), ensure_ascii=True, sort_keys=True)
    # These occur in strings only, where JSON allows escapes.
    for characters, escaped in (("--", "-\\u002d"), ("<", "\\u003c"), (">", "\\u003e"), ("[[", "[\\u005b")):
        raw = raw.replace(characters, escaped)
    return raw


def iso(moment: float) -> str:
    """Return a time in ISO format, in UTC, without fractions of a second; "" if it is out of range."""
    try:
        return f"{_EPOCH + timedelta(seconds=moment):%Y-%m-%dT%H:%M:%SZ}"
    except OverflowError:
        return ""


def parse(text: str) -> Note:
    """Parse a note. Raises NoteError if it is invalid or empty."""
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    front_text, body = _split(text)
    try:
        front = yaml_subset.load(front_text)
    except FrontMatterError as error:
        raise NoteError(str(error)) from error
    record, content = _split_record(body)
    statement = _parse_statement(content)
    if record is not None and _is_same(statement, _unescaped(_statement(record))):
        return Note(record, None, front)
    if not statement and record is None:
        statement = _title(content)
    if not statement:
        raise NoteError("it has no text: the statement under its title is empty")
    return Note(record, statement, front)


def as_exported(text: str) -> str:
    """Return a note in which the statement, kind and tags are replaced by those in its record.

    If nothing else was edited, the result is the note that was exported. Raises NoteError for a note without a record.
    """
    front_text, body = _split(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    record, content = _split_record(body)
    title = _TITLE.match(content)
    if record is None or title is None:
        raise NoteError("it has no title, or no record (a comment in the last line)")
    try:
        front = yaml_subset.load(front_text)
    except FrontMatterError as error:
        raise NoteError(str(error)) from error
    tags: Value = [shown_tag(tag) for tag in record.memory.tags]
    labelled: dict[str, Value] = {**front, "kind": record.memory.kind, "tags": tags}
    section = _SECTION.search(content, title.end())
    rest = body[section.start() if section else len(content) :]
    return f"---\n{yaml_subset.dump(labelled)}---\n{title[0]}\n{_statement(record)}\n{rest}"


def _title(text: str) -> str:
    found = _TITLE.match(text)
    return found[0].strip().lstrip("#").strip() if found else ""


def _split(text: str) -> tuple[str, str]:
    if is_cut_off(text):
        raise NoteError("its front matter has no closing line of dashes; the file may be incomplete")
    front, body = split_front_matter(text)
    return front or "", body


def _split_record(body: str) -> tuple[Record | None, str]:
    """Return the record in the last comment that an export wrote, and the text before that comment.

    For a note without such a comment, return None and the whole text.
    """
    found = list(_COMMENT.finditer(body))
    if not found:
        if MARK in body:
            raise NoteError(
                "its last line, which holds the exported memory, is cut off or broken;"
                " restore that line, or delete it to import the note as a new statement"
            )
        return None, body
    try:
        return parse_record(json.loads(found[-1][1])), body[: found[-1].start()]
    except (RecordError, RecursionError) as error:
        raise NoteError(f"the exported memory in its last line can't be used: {error}") from error
    except ValueError as error:
        raise NoteError("the exported memory in its last line is not valid JSON") from error


def _parse_statement(text: str) -> str:
    """Return the statement: the text between the title and the first section."""
    text = _TITLE.sub("", text, count=1)
    section = _SECTION.search(text)
    return _unescaped(text[: section.start()] if section else text).strip()


def _is_same(one: str, other: str) -> bool:
    """Return whether two texts are equal except for white space, which editors change."""
    return one.split() == other.split()
