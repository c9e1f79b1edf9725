"""One note of Claude Code's own: a markdown file with a fact, and what stands before it in YAML."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from subconscious.claude_files.places import INDEX
from subconscious.errors import SubconsciousError
from subconscious.safe_files import NotRegularError, TooLargeError, read_regular

MOST_NOTES = 500
"""Notes of one folder that are read; the client's index lists at most 200 lines."""
MOST_ENTRIES = 5000
"""Entries of its folder that are looked at."""
LARGEST = 32 << 10
"""Bytes of a note: it holds one fact."""
MOST_LINKS = 20
LONGEST_NAME = 100

KIND_OF = {"user": "preference", "feedback": "preference", "project": "learning", "reference": "research"}
"""The client's types of notes -> our kinds."""
KIND = "learning"
"""The kind of a note that names no type."""

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\n---[ \t]*\r?(?:\n|\Z)", re.DOTALL)
_OPENED = re.compile(r"\A\ufeff?---[ \t]*\r?\n")
_PAIR = re.compile(r"^[ \t]*([\w-]+):(.*)$", re.MULTILINE)
_LINK = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")


class UnusableNoteError(SubconsciousError):
    """A note that can't be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note's parts. ``name`` is what links call it, ``type`` one of the client's or ""."""

    name: str
    type: str
    description: str
    body: str
    links: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind that its type stands for."""
        return KIND_OF.get(self.type, KIND)

    @property
    def text(self) -> str:
        """All that it says: the description, unless the body begins with it, and the body."""
        if self.body.startswith(self.description):
            return self.body
        return f"{self.description}\n{self.body}".strip()


def list_notes(folder: Path) -> dict[Path, str]:
    """Return the notes in a folder, each with a stamp that differs once the file does; none where there is no folder.

    Raises OSError where the folder can't be read at the moment.
    """
    try:
        with os.scandir(folder) as entries:
            notes = [entry for entry in islice(entries, MOST_ENTRIES) if _is_note(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found: dict[Path, str] = {}
    for entry in sorted(notes, key=lambda one: one.name)[:MOST_NOTES]:
        with suppress(FileNotFoundError):  # deleted since
            status = entry.stat(follow_symlinks=False)
            found[Path(entry.path)] = f"{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}:{status.st_ino}"
    return found


def _is_note(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file of its own with a name that can be stored; a link could lead to anybody's words."""
    named = entry.name.endswith(".md") and entry.name != INDEX and not entry.name.startswith(".")
    return named and entry.name.isprintable() and entry.is_file(follow_symlinks=False)


def note_text(file: Path) -> str:
    """Return a note's text. Raises UnusableNoteError for what is no text of a note's size, OSError where it is gone."""
    try:
        raw = read_regular(file, LARGEST, follow=False)
    except NotRegularError as error:
        raise UnusableNoteError(f"it is {error.strerror}") from error
    except TooLargeError as error:
        raise UnusableNoteError(f"it is larger than {LARGEST >> 10} KB") from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableNoteError("it is not UTF-8 text") from error
    if "\0" in text:
        raise UnusableNoteError("it is not text")
    return text


def parse(file: Path, text: str) -> Note:
    """Take a note apart. Raises UnusableNoteError while it is empty or half written."""
    front = _FRONT.match(text)
    if front is None and _OPENED.match(text):
        raise UnusableNoteError("its front matter has no end; it may be half written")
    pairs = {name: _unquoted(value.strip()) for name, value in _PAIR.findall(front[1])} if front else {}
    body = text[front.end() :].strip() if front else text.strip()
    description = pairs.get("description", "")
    if not (body or description):
        raise UnusableNoteError("it is empty")
    links = dict.fromkeys(_named(link) for link in _LINK.findall(body))
    name = _named(pairs.get("name", "")) or _named(file.stem)
    return Note(name, pairs.get("type", ""), description, body, tuple(links)[:MOST_LINKS])


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _named(link: str) -> str:
    """A note's name as links and files give it, with or without an ending or a label."""
    bare = link.partition("|")[0].strip().removesuffix(".md")
    return bare.casefold()[:LONGEST_NAME]
