"""What Claude Code tells a session by itself: CLAUDE.md, rules files, and the index of its notes with what it names.

The client loads CLAUDE.md, .claude/CLAUDE.md, CLAUDE.local.md and .claude/rules of the folder and of all above it, and
the user's own; files that these import with ``@path``; and the beginning of the notes' index. AGENTS.md is loaded only
where it is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from subconscious.claude_files.note import list_notes
from subconscious.claude_files.places import INDEX, is_loaded, notes_folder
from subconscious.claude_files.told import Statement, Told, statements
from subconscious.projects import root_of
from subconscious.safe_files import read_beginning

MOST_BYTES = 256 << 10
"""Bytes of one file that are read."""
MOST_BYTES_IN_ALL = 2 << 20
MOST_FILES = 300
MOST_RULES = 100
"""Rules files of one folder."""
MOST_ENTRIES = 2000
"""Entries of one folder of rules that are looked at."""
DEEPEST = 5
"""Folders within folders of rules, and imports of imported files."""
INDEX_LINES, INDEX_BYTES = 200, 25_000
"""What the client loads of the index of its notes."""
MOST_IMPORTS = 20
"""Imports of one file that are followed."""
CACHED = 1000
"""Files whose statements are remembered."""
MOST_BUILT = 50
"""Folders for which all statements together are remembered."""

_IMPORT = re.compile(r"(?:^|(?<=\s))@([\w./~-]{1,300})", re.MULTILINE)
_FENCE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\n---[ \t]*\r?(?:\n|\Z)", re.DOTALL)
_PATHS = re.compile(r"^paths?[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it was read: its statements, what it imports, and whether it holds for certain paths alone."""

    stamp: tuple[int, int, int]
    said: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    narrow: bool = False


@dataclass(slots=True)
class Instructions:
    """Reads instructions, each file anew only once it has changed. Blocking: use it in a thread."""

    _known: dict[tuple[Path, bool], _File] = field(default_factory=dict)
    _built: dict[tuple[Path, str], tuple[object, Told]] = field(default_factory=dict)

    def told(self, config: Path, folder: str) -> Told:
        """Return what the client tells sessions that begin in ``folder``."""
        files: dict[Path, tuple[bool, _File]] = {}
        room = MOST_BYTES_IN_ALL
        for path, loaded in islice(self._files(config, folder), MOST_FILES):
            read = self._read(path, index=path.name == INDEX)
            room -= 0 if path in files else min(read.stamp[1], MOST_BYTES)
            if room < 0:
                break
            files.setdefault(path, (loaded, read))
        seen = tuple((path, loaded, read.stamp) for path, (loaded, read) in files.items())
        known = self._built.get((config, folder))
        if known is None or known[0] != seen:
            known = seen, Told(list(_said(files)))
            if len(self._built) >= MOST_BUILT:
                self._built.clear()
            self._built[config, folder] = known
        return known[1]

    def _files(self, config: Path, folder: str) -> Iterator[tuple[Path, bool]]:
        """The files that a session may read, and for each whether it is loaded at the start."""
        place = Path(os.path.realpath(folder))
        for path in _instruction_files(config, place):
            yield from ((one, True) for one in self._with_imports(path, (place, config), DEEPEST))
        notes = notes_folder(config, root_of(folder))
        on = is_loaded(config, folder)
        yield notes / INDEX, on
        index = self._read(notes / INDEX, index=True)
        for note in _listed(notes):
            yield note, on and any(note.name in line for line in index.said)

    def _with_imports(self, path: Path, within: tuple[Path, Path], depth: int) -> Iterator[Path]:
        """A file and those that it imports, as far as they lie in the session's folder or in the client's own.

        Of others the client asks the user first; what came of that is not known here.
        """
        yield path
        for named in self._read(path).imports[:MOST_IMPORTS] if depth else ():
            target = path.parent / named
            if _is_within(target, within):
                yield from self._with_imports(target, within, depth - 1)

    def _read(self, path: Path, *, index: bool = False) -> _File:
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self._known.get((path, index))
            if known is None or known.stamp != stamp:
                known = _read_file(path, stamp, index=index)
        except (OSError, ValueError):
            return _File((0, 0, 0))
        if len(self._known) >= CACHED:
            self._known.clear()
        self._known[path, index] = known
        return known


def _read_file(path: Path, stamp: tuple[int, int, int], *, index: bool) -> _File:
    raw = read_beginning(path, INDEX_BYTES if index else MOST_BYTES)
    text = raw.decode("utf-8", "replace")
    if index:
        lines = text.splitlines()[:INDEX_LINES]
        return _File(stamp, tuple(line for line in lines if line.strip()))
    front = _FRONT.match(text)
    body = text[front.end() :] if front else text
    imports = tuple(_IMPORT.findall(_FENCE.sub("", body)))
    return _File(stamp, tuple(statements(body)), imports, bool(front and _PATHS.search(front[1])))


def _said(files: Mapping[Path, tuple[bool, _File]]) -> Iterator[Statement]:
    for path, (loaded, read) in files.items():
        yield from (Statement(text, path.name, loaded and not read.narrow) for text in read.said)


def _listed(notes: Path) -> Iterable[Path]:
    try:
        return list_notes(notes)
    except OSError:
        return ()


def _instruction_files(config: Path, place: Path) -> Iterator[Path]:
    yield config / "CLAUDE.md"
    yield from _rules(config / "rules", DEEPEST)
    for above in (*reversed(place.parents), place):
        yield from (above / "CLAUDE.md", above / ".claude" / "CLAUDE.md", above / "CLAUDE.local.md")
        yield from _rules(above / ".claude" / "rules", DEEPEST)


def _rules(folder: Path, depth: int) -> list[Path]:
    """The rules files of a folder and those within it; a linked folder is not entered, it may lead in a circle."""
    files: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(MOST_ENTRIES), entries, strict=False):
                if entry.is_dir(follow_symlinks=False) and depth:
                    files += _rules(Path(entry.path), depth - 1)
                elif entry.name.endswith(".md"):
                    files.append(Path(entry.path))
    except OSError:
        return files
    return sorted(files)[:MOST_RULES]


def _is_within(target: Path, folders: tuple[Path, Path]) -> bool:
    """Whether an imported file lies below one of some folders, wherever a link leads."""
    try:
        real = Path(os.path.realpath(target))
    except (OSError, ValueError):
        return False
    return any(real.is_relative_to(folder) for folder in folders)
