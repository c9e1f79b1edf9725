"""Statements that Claude Code loads into a session: CLAUDE.md, rules files, its own notes and their index.

The client loads CLAUDE.md, .claude/CLAUDE.md, CLAUDE.local.md and .claude/rules from the session's folder and from all
its parents; CLAUDE.md and rules from the user's own configuration folder; files that these import with ``@path``; and
the beginning of the notes' index. AGENTS.md is loaded only if it is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from subconscious.claude_files.client_folders import INDEX, is_loaded, notes_folder
from subconscious.claude_files.known_statements import KnownStatements, Statement, statements
from subconscious.claude_files.note import list_notes
from subconscious.system.projects import root_of
from subconscious.system.safe_files import read_beginning
from subconscious.text.front_matter import split_front_matter

MOST_BYTES = 256 << 10
"""The most bytes of one file that are read."""
MOST_BYTES_IN_ALL = 2 << 20
MOST_FILES = 300
MOST_RULES = 100
"""The most rules files of one folder that are read."""
MOST_ENTRIES = 2000
"""The most directory entries of one rules folder that are examined."""
DEEPEST = 5
"""The greatest depth of nested rules folders, and of imports in imported files."""
INDEX_LINES, INDEX_BYTES = 200, 25_000
"""The part of the notes' index that the client loads: its first lines, up to a number of bytes."""
MOST_IMPORTS = 20
"""The most imports in one file that are followed."""
CACHED = 1000
"""The most files with cached statements."""
MOST_BUILT = 50
"""The most session folders for which the statements of all loaded files are cached together."""

_IMPORT = re.compile(r"(?:^|(?<=\s))@([\w./~-]{1,300})", re.MULTILINE)
_FENCE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_PATHS = re.compile(r"^paths?[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _File:
    """A parsed file: its statements, its imports, and whether it applies only to certain paths (``narrow``)."""

    stamp: tuple[int, int, int]
    statements: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    narrow: bool = False


@dataclass(slots=True)
class Instructions:
    """Reads instruction files and caches them until they change. Blocking: use it in a thread."""

    _known: dict[tuple[Path, bool], _File] = field(default_factory=dict)
    _built: dict[tuple[Path, str, tuple[str, ...]], tuple[object, KnownStatements]] = field(default_factory=dict)

    def known_statements(self, config: Path, folder: str, others: tuple[str, ...] = ()) -> KnownStatements:
        """Return the statements in the files that sessions in ``folder`` load at their start or may read later.

        ``others`` are the files that another client loads instead of CLAUDE.md: plain names (searched in the folder and
        its parents), paths relative to the home folder, or absolute paths. For Claude Code, it is empty.
        """
        files: dict[Path, tuple[bool, _File]] = {}
        remaining = MOST_BYTES_IN_ALL
        for path, loaded in islice(self._files(config, folder, others), MOST_FILES):
            read = self._read(path, index=path.name == INDEX)
            remaining -= 0 if path in files else min(read.stamp[1], MOST_BYTES)
            if remaining < 0:
                break
            files.setdefault(path, (loaded, read))
        seen = tuple((path, loaded, read.stamp) for path, (loaded, read) in files.items())
        key = config, folder, others
        known = self._built.get(key)
        if known is None or known[0] != seen:
            known = seen, KnownStatements(list(_all_statements(files)))
            if len(self._built) >= MOST_BUILT:
                self._built.clear()
            self._built[key] = known
        return known[1]

    def _files(self, config: Path, folder: str, others: tuple[str, ...]) -> Iterator[tuple[Path, bool]]:
        """Yield the files that a session may read, and for each whether the session loads it at its start."""
        folder_path = Path(os.path.realpath(folder))
        if others:
            yield from ((path, True) for path in _others(folder_path, others))
            return
        for path in _instruction_files(config, folder_path):
            yield from ((one, True) for one in self._with_imports(path, (folder_path, config), DEEPEST))
        notes = notes_folder(config, root_of(folder))
        on = is_loaded(config, folder)
        yield notes / INDEX, on
        index = self._read(notes / INDEX, index=True)
        for note in _listed(notes):
            yield note, on and any(note.name in line for line in index.statements)

    def _with_imports(self, path: Path, folders: tuple[Path, Path], depth: int) -> Iterator[Path]:
        """Yield a file, and the files it imports that are in one of ``folders`` (the session's and Claude Code's).

        Imports from elsewhere are skipped: the client asks the user before loading them, and the reply is not known
        here.
        """
        yield path
        for named in self._read(path).imports[:MOST_IMPORTS] if depth else ():
            target = path.parent / named
            if _is_within(target, folders):
                yield from self._with_imports(target, folders, depth - 1)

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
    front, body = split_front_matter(text)
    imports = tuple(_IMPORT.findall(_FENCE.sub("", body)))
    return _File(stamp, tuple(statements(body)), imports, bool(front and _PATHS.search(front)))


def _all_statements(files: Mapping[Path, tuple[bool, _File]]) -> Iterator[Statement]:
    for path, (loaded, read) in files.items():
        yield from (Statement(text, path.name, loaded and not read.narrow) for text in read.statements)


def _listed(notes: Path) -> Iterable[Path]:
    try:
        return list_notes(notes)
    except OSError:
        return ()


def _instruction_files(config: Path, folder_path: Path) -> Iterator[Path]:
    yield config / "CLAUDE.md"
    yield from _rules(config / "rules", DEEPEST)
    for above in (*reversed(folder_path.parents), folder_path):
        yield from (above / "CLAUDE.md", above / ".claude" / "CLAUDE.md", above / "CLAUDE.local.md")
        yield from _rules(above / ".claude" / "rules", DEEPEST)


def _others(folder_path: Path, names: tuple[str, ...]) -> Iterator[Path]:
    for name in names:
        if "/" in name:
            yield Path.home() / name  # an absolute ``name`` replaces the home folder
        else:
            yield from (above / name for above in (*reversed(folder_path.parents), folder_path))


def _rules(folder: Path, depth: int) -> list[Path]:
    """Return the rules files of a folder and its sub-folders; linked folders are skipped: links may form a loop."""
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
    """Return whether an imported file, with links resolved, is inside one of ``folders``."""
    try:
        real = Path(os.path.realpath(target))
    except (OSError, ValueError):
        return False
    return any(real.is_relative_to(folder) for folder in folders)
