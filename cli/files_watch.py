"""``subconscious export --watch``: keeps a folder of notes up to date, and offers to import edits made there."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from watchfiles import Change, watch

from subconscious.domain.errors import RequestError, SubconsciousError
from subconscious.files.folder import open_folder
from subconscious.files.reading import markdown_files
from subconscious.files.vault import edited_files

from . import screen
from .files import Selection, ask_page, import_export, print_edited, print_export, write
from .origin import require_person

STORE_POLL_MILLISECONDS = 3000
"""Time between two checks for changes in the store; changes in the folder are noticed at once."""

AFTER_ALL_IDS = 2**53
"""An id above all others: an export page after it has no memories, only the id of the latest event."""


def watch_folder(out: Path, options: Namespace, selection: Selection) -> int:
    """Export whenever the store changes, and ask about every edit, until Ctrl-C."""
    if options.json or options.format != "markdown":
        raise RequestError(
            "--watch works with Markdown notes only, because it imports edits", "leave out --json and --format json"
        )
    require_person("watch a folder, since edits in it may correct memories")
    _Watch(out, options, selection).run()
    return 0


class _Watch:
    def __init__(self, out: Path, options: Namespace, selection: Selection) -> None:
        self._out = out
        self._options = Namespace(**vars(options) | {"yes": False, "json": False, "tool": None, "project": None})
        self._selection = selection
        self._newest = -1

    def run(self) -> None:
        """Watch until Ctrl-C."""
        self._refresh()
        watching = False
        # Changes made while a question waits for its answer are delivered afterwards.
        for changes in watch(self._out, rust_timeout=STORE_POLL_MILLISECONDS, yield_on_timeout=True):
            # Edits made before the first iteration, which starts the watching, are not reported: all notes are checked.
            self._ask_about(self._names(changes) if watching else self._notes())
            if not watching:
                print(f"Watching {screen.line(self._out)}. Ctrl-C ends it.", flush=True)
            watching = True
            if ask_page(self._selection, AFTER_ALL_IDS, 1)["newest"] != self._newest:
                self._refresh()

    def _notes(self) -> list[str]:
        """Return all notes by their relative paths."""
        return [path.relative_to(self._out).as_posix() for path in markdown_files(self._out)]

    def _refresh(self) -> None:
        """Write the changes of the store into the folder."""
        memories, written = write(self._out, "markdown", self._selection)
        first, self._newest = self._newest < 0, memories.newest
        if first:
            print_export(self._out, len(memories.records), memories.quarantined, written)
        elif written.written or written.removed:
            print(f"{screen.counted(len(written.written), 'file')} written, {len(written.removed)} removed", flush=True)

    def _names(self, changes: Iterable[tuple[Change, str]]) -> list[str]:
        """Return the changed notes by their relative paths; hidden and deleted files are left out."""
        paths = [Path(path) for change, path in changes if change is not Change.deleted]
        inside = [path.relative_to(self._out) for path in paths if path.is_relative_to(self._out)]
        return [
            name.as_posix()
            for name in inside
            if name.suffix == ".md" and not any(part.startswith(".") for part in name.parts)
        ]

    def _ask_about(self, names: Iterable[str]) -> None:
        """Preview edited notes and offer to import them; a note that is not imported keeps its edits."""
        try:
            with open_folder(self._out) as folder:
                edited = edited_files(folder, sorted(set(names)))
            if edited and sys.stdin.isatty():
                import_export(self._out, self._options, edited)
            elif edited:
                print_edited(self._out, edited)
        except SubconsciousError as error:  # such as a symbolic link in the folder, which must not end the watch
            print(screen.wrapped(f"{error.message}; {error.remedy}"), flush=True)
