"""Who is let in, and how much of each is held: no number, size or slowness of callers shall keep the others waiting.

A hook asks in one go and is gone within milliseconds. So the caller that has been silent for longest gives way to a new
one, long requests take turns before they are read, and commands take turns before they are carried out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from subconscious.errors import DaemonError

SILENT = 256
"""Callers that may be about to state their request."""

CALLERS = 1024
"""Callers in all."""

SHORT = 64 * 2**10
"""Bytes of a request that are read without taking turns."""

LONG = 4
"""Longer requests that are held at once."""

BRIEF = 8
"""Commands that are carried out at once: a flood of them leaves room for the hooks."""

LENGTHY = 2
LENGTHY_COMMANDS = frozenset({"capture", "explain", "import_file", "import_plan"})
"""Commands that may take minutes, and a thread."""

WAITING = 16
WAITING_COMMANDS = frozenset({"drain"})
"""Commands that only wait for something. More of them are turned away, for they could wait for ever."""

Caller = asyncio.Task[None]


class Crowd:
    """The callers of the moment."""

    def __init__(self) -> None:
        self.all: set[Caller] = set()
        self._silent: dict[Caller, None] = {}
        self._long = asyncio.Semaphore(LONG)
        self._brief = asyncio.Semaphore(BRIEF)
        self._lengthy = asyncio.Semaphore(LENGTHY)
        self._waiting = asyncio.Semaphore(WAITING)

    @property
    def full(self) -> bool:
        """Whether another one would be too many."""
        return len(self.all) >= CALLERS

    def let_in(self, caller: Caller) -> None:
        """Mind a new caller, who has not said anything yet."""
        self.all.add(caller)
        self._silent[caller] = None
        caller.add_done_callback(self._forget)
        if len(self._silent) > SILENT:
            oldest = next(iter(self._silent))
            # At once: before it has ended, more may come, and each sends another one away.
            del self._silent[oldest]
            oldest.cancel()

    def heard(self) -> None:
        """The present caller has stated its request: it won't be sent away for its silence."""
        caller = asyncio.current_task()
        if caller is not None:
            self._silent.pop(caller, None)

    def _forget(self, caller: Caller) -> None:
        self.all.discard(caller)
        self._silent.pop(caller, None)

    @asynccontextmanager
    async def holding(self, size: int) -> AsyncIterator[None]:
        """A turn to hold so many bytes."""
        if size <= SHORT:
            yield
            return
        async with self._long:
            yield

    @asynccontextmanager
    async def turn(self, cmd: str) -> AsyncIterator[None]:
        """A turn to carry a command out. Raises DaemonError where too many wait already."""
        if cmd in WAITING_COMMANDS and self._waiting.locked():
            raise DaemonError("too many wait for the daemon already", "wait for them to end")
        sort = self._lengthy if cmd in LENGTHY_COMMANDS else self._waiting if cmd in WAITING_COMMANDS else self._brief
        async with sort:
            yield
