"""``subconscious export --watch``: keeps a folder of notes current, and asks about what is edited there."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from watchfiles import Change, watch

from subconscious.errors import RequestError, SubconsciousError
from subconscious.files.folder import open_folder
from subconscious.files.reading import markdown_files
from subconscious.files.vault import edited_files

from . import screen
from .files import Wanted, ask_page, import_export, print_edited, print_export, write
from .origin import require_person

LOOK_MILLISECONDS = 3000
"""Time between two looks for changes in the store; changes in the folder are noticed at once."""

BEYOND = 2**53
"""An id behind all others: a page from there on says what the latest event is, and holds no memory."""


def watch_folder(out: Path, options: Namespace, wanted: Wanted) -> int:
    """Export, and again whenever the store changes; ask about every edit. Ends with Ctrl-C."""
    if options.json or options.format != "markdown":
        raise RequestError("--watch shows what happens and asks about edits, so it takes no JSON", "leave that out")
    require_person("watch a folder, since edits in it may become corrections")
    _Watch(out, options, wanted).run()
    return 0


class _Watch:
    def __init__(self, out: Path, options: Namespace, wanted: Wanted) -> None:
        self._out = out
        self._options = Namespace(**vars(options) | {"yes": False, "json": False, "tool": None, "project": None})
        self._wanted = wanted
        self._newest = -1

    def run(self) -> None:
        """Work until Ctrl-C."""
        self._refresh()
        self._ask_about(path.relative_to(self._out).as_posix() for path in markdown_files(self._out))
        print(f"Watching {screen.line(self._out)}. Ctrl-C ends it.", flush=True)
        # What changes while a question waits for its answer is delivered afterwards.
        for changes in watch(self._out, rust_timeout=LOOK_MILLISECONDS, yield_on_timeout=True):
            self._ask_about(self._names(changes))
            if ask_page(self._wanted, BEYOND, 1)["newest"] != self._newest:
                self._refresh()

    def _refresh(self) -> None:
        """Write what has changed in the store."""
        found, done = write(self._out, "markdown", self._wanted)
        first, self._newest = self._newest < 0, found.newest
        if first:
            print_export(self._out, len(found.records), found.quarantined, done)
        elif done.written or done.removed:
            print(f"{screen.counted(len(done.written), 'file')} written, {len(done.removed)} removed", flush=True)

    def _names(self, changes: Iterable[tuple[Change, str]]) -> list[str]:
        """The notes that somebody may have edited, by their names in the folder."""
        paths = [Path(path) for change, path in changes if change is not Change.deleted]
        inside = [path.relative_to(self._out) for path in paths if path.is_relative_to(self._out)]
        return [
            name.as_posix()
            for name in inside
            if name.suffix == ".md" and not any(part.startswith(".") for part in name.parts)
        ]

    def _ask_about(self, names: Iterable[str]) -> None:
        """Preview edited notes and ask what becomes of them; a no leaves them as they are, in the folder alone."""
        try:
            with open_folder(self._out) as folder:
                edited = edited_files(folder, sorted(set(names)))
            if edited and sys.stdin.isatty():
                import_export(self._out, self._options, edited)
            elif edited:
                print_edited(self._out, edited)
        except SubconsciousError as error:  # a link in the folder, say: it must not end the watch
            print(screen.wrapped(f"{error.message}; {error.remedy}"), flush=True)
