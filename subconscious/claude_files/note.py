"""Parses a note of Claude Code: a markdown file with YAML front matter that states one fact."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from subconscious.claude_files.client_folders import INDEX
from subconscious.domain.errors import SubconsciousError
from subconscious.system.safe_files import UnreadableTextError, read_utf8
from subconscious.text.front_matter import is_cut_off, split_front_matter

MOST_NOTES = 500
"""The most notes of one folder that are read; the client's index lists at most 200 lines."""
MOST_ENTRIES = 5000
"""The most entries of the folder that are examined."""
LARGEST = 32 << 10
"""The largest note that is read, in bytes: a note states one fact."""
MOST_LINKS = 20
LONGEST_NAME = 100

KIND_OF = {"user": "preference", "feedback": "preference", "project": "learning", "reference": "research"}
"""Maps the client's types of notes to our kinds of memories."""
KIND = "learning"
"""The kind of memory that is made from a note with a missing or unknown type."""


_PAIR = re.compile(r"^[ \t]*([\w-]+):(.*)$", re.MULTILINE)
_LINK = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")


class UnusableNoteError(SubconsciousError):
    """A note that can't be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Note:
    """The parts of a note. ``name`` is the name that links use; ``type`` is stated in the front matter, or ""."""

    name: str
    type: str
    description: str
    body: str
    links: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind of memory for the note's type."""
        return KIND_OF.get(self.type, KIND)

    @property
    def text(self) -> str:
        """The complete text: description and body, or only the body if it begins with the description."""
        if self.body.startswith(self.description):
            return self.body
        return f"{self.description}\n{self.body}".strip()


def list_notes(folder: Path) -> dict[Path, str]:
    """Return the notes in a folder, each with a stamp that changes with the file; empty if there is no such folder.

    Raises OSError if the folder can't be read at the moment.
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
    """Whether an entry is a regular file with a printable name; links are excluded, as they may lead to any file."""
    named = entry.name.endswith(".md") and entry.name != INDEX and not entry.name.startswith(".")
    return named and entry.name.isprintable() and entry.is_file(follow_symlinks=False)


def note_text(file: Path) -> str:
    """Return a note's text. Raises UnusableNoteError if it is too large or not text, OSError if it is gone."""
    try:
        return read_utf8(file, LARGEST)
    except UnreadableTextError as error:
        raise UnusableNoteError(str(error)) from error


def parse(file: Path, text: str) -> Note:
    """Parse a note. Raises UnusableNoteError if it is empty or incomplete."""
    if is_cut_off(text):
        raise UnusableNoteError("its front matter has no closing line of dashes; the file may be incomplete")
    front, body = split_front_matter(text)
    pairs = {name: _unquoted(value.strip()) for name, value in _PAIR.findall(front or "")}
    body = body.strip()
    description = pairs.get("description", "")
    if not (body or description):
        raise UnusableNoteError("it is empty")
    links = dict.fromkeys(_note_name(link) for link in _LINK.findall(body))
    name = _note_name(pairs.get("name", "")) or _note_name(file.stem)
    return Note(name, pairs.get("type", ""), description, body, tuple(links)[:MOST_LINKS])


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _note_name(link: str) -> str:
    """Return a note's name as used in links and file names, without extension and label."""
    bare = link.partition("|")[0].strip().removesuffix(".md")
    return bare.casefold()[:LONGEST_NAME]
