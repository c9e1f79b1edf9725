"""Publishes the names of all files that memories know, so that a hook need not ask about any other file.

``run/file-names`` is read by `hooks/known_files.py` after each file that a session reads or edits. It may name too many
files, never too few: what is stored removes it at once, and it is made anew when the store has been quiet. It is
replaced whole, with mode 0600, and its age says whether a daemon still keeps it (docs/protocol.md).
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from time import time

from subconscious.safe_files import replace_file
from subconscious.store import events, file_mentions
from subconscious.surfacing.bound import types_of

from .core import Core

log = logging.getLogger("subconscious.daemon")

HEADER, END = b"subconscious-files 1\n", b"end\n"
LARGEST = 1 << 20
"""Bytes beyond which nothing is published: every hook would have to read them."""

PAUSE = 3.0
"""Seconds between two looks at whether something was stored; what was is published when a look brings nothing new."""

RENEWAL = 30.0
"""Age in seconds from which a file that is still right gets a new date."""

_RUN = re.compile(r"[\w.@+-]+")
_PUBLISHED = re.compile(r"[A-Za-z0-9_.@+-]{1,255}")
_LINE = re.compile(r":\d+(?:[:-]\d+)?$")


class FileNames:
    """Keeps the published file while the daemon runs."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._path = core.home.run / "file-names"
        self._changes = 0
        self._published: tuple[int, int] | None = None
        self._renewed_at = 0.0
        self._names: dict[int, frozenset[str]] = {}

    def invalidate(self) -> None:
        """Something was stored: remove the file, so that the hooks ask until it is made anew."""
        self._changes += 1
        self._published = None
        self._path.unlink(missing_ok=True)

    async def run(self) -> None:
        """Publish after each change, until cancelled; a daemon that leaves takes the file along."""
        self._core.embedding.on_change = self.invalidate
        seen = None
        try:
            while True:
                now = (self._changes, await events.newest(self._core.database))
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
            log.info("the names of known files can't be published: %s", error)
            self._published = None

    async def _publish(self, now: tuple[int, int]) -> None:
        mentions = await file_mentions.everywhere(self._core.database)
        content = await asyncio.to_thread(self._content, mentions)
        # Without an await from here on: what is stored meanwhile has been seen, or removes the file again.
        if self._changes != now[0] or len(content) > LARGEST:
            return
        replace_file(self._path, content)
        self._published, self._renewed_at = now, time()

    def _content(self, mentions: Sequence[file_mentions.Mention]) -> bytes:
        keys = [hash(one) for one in mentions]
        known = self._names
        self._names = {
            key: known[key] if key in known else frozenset(lines_of(one.content, one.files))
            for key, one in zip(keys, mentions, strict=True)
        }
        names = sorted(frozenset().union(*self._names.values()))
        return HEADER + "".join(f"{name}\n" for name in names).encode("ascii") + END


def lines_of(content: str, files: Iterable[str]) -> Iterator[str]:
    """Give the lines that are published for a memory: names of files, and "*.go" for every file of a type."""
    yield from names_in(content, files)
    yield from (f"*{suffix}" for suffix in types_of(content))


def names_in(content: str, files: Iterable[str]) -> Iterator[str]:
    """Give the file names by which `subconscious.surfacing.files.bond` may bind a memory, and perhaps a few more.

    Only names that a hook looks up: of plain letters, and with a dot.
    """
    named = (_LINE.sub("", file.replace("\\", "/")).rstrip("/").rpartition("/")[2] for file in files)
    written = (name for run in _RUN.findall(content) if "." in run for name in _cuts(run))
    yield from (name for name in (*named, *written) if "." in name and _PUBLISHED.fullmatch(name))


def _cuts(run: str) -> Iterator[str]:
    """Give the names that a run of letters may be taken for: "@app/x.py," or "x.py-style" name a file, too."""
    begins = [0, *(at + 1 for at, sign in enumerate(run) if sign in "@+")]
    ends = [at for at in range(1, len(run) + 1) if not re.match(r"\w|\.\w", run[at : at + 2])]
    yield from (run[begin:end] for begin in begins for end in ends if begin < end)
