"""Limits on connections, so that many, large or slow requests of some callers don't block the others.

A hook sends its request at once and disconnects within milliseconds. So if too many callers have not sent their request
yet, the oldest of them is disconnected. Long requests and commands wait for one of a limited number of slots.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from subconscious.domain.errors import DaemonError

MOST_SILENT = 256
"""The most callers that have not sent their request yet."""

MOST_CONNECTIONS = 1024
"""The most callers in total."""

SHORT_BYTES = 64 * 2**10
"""The largest request, in bytes, that needs no slot."""

MOST_LONG = 4
"""The most requests above ``SHORT_BYTES`` that are in memory at once."""

MOST_BRIEF = 8
"""The most commands of short duration that run at once, so that hooks still get an answer."""

MOST_LENGTHY = 2
LENGTHY_COMMANDS = frozenset({"capture", "explain", "import_file", "import_plan"})
"""Commands that may take minutes and occupy a thread; ``MOST_LENGTHY`` of them run at once."""

MOST_WAITING = 16
WAITING_COMMANDS = frozenset({"drain"})
"""Commands that only wait. More than ``MOST_WAITING`` of them are rejected, because they could wait for ever."""

Connection = asyncio.Task[None]


class ConnectionLimits:
    """The current callers, and the slots for their requests."""

    def __init__(self) -> None:
        self.active: set[Connection] = set()
        self._silent: dict[Connection, None] = {}
        self._long = asyncio.Semaphore(MOST_LONG)
        self._brief = asyncio.Semaphore(MOST_BRIEF)
        self._lengthy = asyncio.Semaphore(MOST_LENGTHY)
        self._waiting = asyncio.Semaphore(MOST_WAITING)

    @property
    def full(self) -> bool:
        """Whether the limit of callers is reached."""
        return len(self.active) >= MOST_CONNECTIONS

    def add(self, connection: Connection) -> None:
        """Register a new caller, which has not sent its request yet."""
        self.active.add(connection)
        self._silent[connection] = None
        connection.add_done_callback(self._forget)
        if len(self._silent) > MOST_SILENT:
            oldest = next(iter(self._silent))
            # Removed at once: before this task has ended, more callers may come, and each must cancel a different one.
            del self._silent[oldest]
            oldest.cancel()

    def request_read(self) -> None:
        """Record that the current caller has sent its request, so that it is not disconnected."""
        connection = asyncio.current_task()
        if connection is not None:
            self._silent.pop(connection, None)

    def _forget(self, connection: Connection) -> None:
        self.active.discard(connection)
        self._silent.pop(connection, None)

    @asynccontextmanager
    async def buffer_slot(self, size: int) -> AsyncIterator[None]:
        """Occupy a slot while a request of ``size`` bytes is in memory; a short request needs none."""
        if size <= SHORT_BYTES:
            yield
            return
        async with self._long:
            yield

    @asynccontextmanager
    async def command_slot(self, cmd: str) -> AsyncIterator[None]:
        """Occupy a slot while a command runs. Raises DaemonError if too many callers are waiting."""
        if cmd in WAITING_COMMANDS and self._waiting.locked():
            raise DaemonError("too many requests are waiting already", "retry later")
        slots = self._lengthy if cmd in LENGTHY_COMMANDS else self._waiting if cmd in WAITING_COMMANDS else self._brief
        async with slots:
            yield
