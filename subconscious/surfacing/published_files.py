"""Publishes the names of all files and folders that memories mention, so that hooks ask the daemon only about these.

`hooks/known_files.py` reads this list (``run/file-names``) after each file that a session reads or edits. The list may
contain names that no memory mentions any more, but never lacks a name: it is deleted as soon as a memory is stored, and
written again once no more memories are being stored. It is written atomically, with mode 0600. Its age shows whether a
daemon still maintains it (docs/protocol.md).
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from time import time

from subconscious.app import App
from subconscious.store import events, memory_files
from subconscious.surfacing.bound import types_of
from subconscious.system.safe_files import replace_file
from subconscious.text.folders import folders_in, is_wide, restricts

log = logging.getLogger("subconscious.surfacing")

HEADER, END = b"subconscious-files 2\n", b"end\n"
LARGEST = 1 << 20
"""The maximum size of the list in bytes: hooks read the whole file. A larger list is not published."""

PAUSE = 3.0
"""Seconds between two checks for new memories. A check that finds none publishes the list if it is outdated."""

RENEWAL = 30.0
"""The age in seconds at which the modification time of a valid list is renewed."""

_RUN = re.compile(r"[\w.@+-]+")
_PUBLISHED = re.compile(r"(?=[A-Za-z0-9_@+-]*\.)[A-Za-z0-9_.@+-]{0,254}[A-Za-z0-9_@+-]")
_PUBLISHED_FOLDER = re.compile(r"[A-Za-z0-9_.@+-]{1,255}")
_LINE = re.compile(r":\d+(?:[:-]\d+)?$")


class FileNames:
    """Maintains the published list while the daemon runs."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._path = app.home.run / "file-names"
        self._changes = 0
        self._published: tuple[int, int] | None = None
        self._renewed_at = 0.0
        self._names: dict[int, frozenset[str]] = {}

    def invalidate(self) -> None:
        """Remove the list because a memory was stored: hooks then ask about every file until there is a new list."""
        self._changes += 1
        self._published = None
        self._path.unlink(missing_ok=True)

    async def run(self) -> None:
        """Publish the list after each change, until cancelled; then remove it, because the daemon stops."""
        self._app.embedding.on_change = self.invalidate
        seen = None
        try:
            while True:
                now = (self._changes, await events.latest_id(self._app.database))
                if now == seen:
                    await self._keep(now)
                seen = now
                await asyncio.sleep(PAUSE)
        finally:
            with suppress(OSError):
                self.invalidate()

    async def _keep(self, now: tuple[int, int]) -> None:
        try:
            if self._published != now:
                await self._publish(now)
            elif time() - self._renewed_at >= RENEWAL:
                os.utime(self._path)
                self._renewed_at = time()
        except OSError as error:
            log.info("the list of file names for hooks can't be written: %s", error)
            self._published = None

    async def _publish(self, now: tuple[int, int]) -> None:
        mentions = await memory_files.mentions(self._app.database)
        content = await asyncio.to_thread(self._content, mentions)
        # No await from here on, so that a change is either noticed here, or removes the list after it was written.
        if self._changes != now[0] or len(content) > LARGEST:
            return
        replace_file(self._path, content)
        self._published, self._renewed_at = now, time()

    def _content(self, mentions: Sequence[memory_files.Mention]) -> bytes:
        keys = [hash(one) for one in mentions]
        known = self._names
        self._names = {
            key: known[key] if key in known else frozenset(lines_of(one.content, one.files, by_user=one.by_user))
            for key, one in zip(keys, mentions, strict=True)
        }
        names = sorted(frozenset().union(*self._names.values()))
        return HEADER + "".join(f"{name}\n" for name in names).encode("ascii") + END


def lines_of(content: str, files: Iterable[str], *, by_user: bool) -> Iterator[str]:
    """Yield the lines that are published for a memory: file names, and "*.go" for all files of a type.

    For a statement of the user also "legacy/" for all files in a folder with this name, in lower case, or "*/" if
    hooks don't look up the folder's name.
    """
    yield from names_in(content, files)
    yield from _folders_in(content) if by_user else ()
    yield from (f"*{suffix}" for suffix in types_of(content))


def names_in(content: str, files: Iterable[str]) -> Iterator[str]:
    """Yield the file names that `subconscious.recall.file_binding.bond` may match to a memory, and perhaps a few more.

    Only ASCII names with a dot in front of other characters are yielded: hooks don't look up names without a dot, and
    a dot at the end ends a sentence.
    """
    named = (_LINE.sub("", file.replace("\\", "/")).rstrip("/").rpartition("/")[2] for file in files)
    written = (name for run in _RUN.findall(content) if "." in run for name in _cuts(run))
    yield from (name for name in (*named, *written) if _PUBLISHED.fullmatch(name))


def _folders_in(content: str) -> Iterator[str]:
    """Yield the last names of the folders to which `subconscious.recall.file_binding.folder_bond` may bind a text."""
    bound = [one for one in folders_in(content) if restricts(content) or not is_wide(one.parts)]
    yield from (f"{one.parts[-1]}/" if _PUBLISHED_FOLDER.fullmatch(one.parts[-1]) else "*/" for one in bound)


def _cuts(run: str) -> Iterator[str]:
    """Yield the possible file names in a text without spaces, such as "x.py" in "@x.py" or "x.py-style"."""
    begins = [0, *(at + 1 for at, sign in enumerate(run) if sign in "@+")]
    ends = [at for at in range(1, len(run) + 1) if not re.match(r"\w|\.\w", run[at : at + 2])]
    yield from (run[begin:end] for begin in begins for end in ends if begin < end)
