"""Exchanges memories with a team's store, in the background and when a person requests it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, cast

from subconscious.app import App
from subconscious.domain.errors import SubconsciousError
from subconscious.store.team import queue
from subconscious.store.team.queue import Joined
from subconscious.team.due import is_due
from subconscious.team.store import TeamStore

if TYPE_CHECKING:
    from subconscious.team.exchange import Outcome

log = logging.getLogger("subconscious.team")

LOOK_SECONDS = 10.0
"""Seconds between two checks whether something waits to be sent."""

READ_SECONDS, IDLE_READ_SECONDS = 120.0, 900.0
"""Seconds between two requests for the server's changes: while somebody works on this machine, and otherwise."""

WORK_SECONDS = 600.0
"""Seconds without a request after which this machine counts as idle."""


class TeamExchange:
    """Runs the exchanges with a team's store, one at a time."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._turn = asyncio.Lock()
        self.store = TeamStore(app)
        self.trouble: SubconsciousError | None = None
        """Why the last round in the background failed; None if it succeeded."""

    async def run(self) -> None:
        """Exchange whenever something waits to be sent or the server may have changes, until the daemon stops."""
        while not self._app.signals.stopping.is_set():
            await self.round()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._app.signals.stopping.wait(), LOOK_SECONDS)

    async def round(self) -> None:
        """Run the exchanges that are due, project by project. A failure is logged once, and ends the round."""
        try:
            address = self.store.address
            for joined in await queue.joined(self._app.database, address.place) if address else ():
                if await is_due(self._app, joined, self._pause()):
                    await self.exchange(joined)
            self.trouble = None
        except SubconsciousError as error:
            if self.trouble is None or self.trouble.message != error.message:
                log.warning("the team's store: %s", error.message)
            self.trouble = error
        except Exception as error:
            # No error that a server causes may stop the daemon.
            if self._app.disk.note(error):
                raise
            log.exception("the exchange with the team's store failed")

    async def exchange(self, joined: Joined, *, everything: bool = False) -> Outcome:
        """Exchange one project's memories. Raises SubconsciousError if that fails."""
        async with self._turn:
            server = await self.store.server()
            module = await asyncio.to_thread(import_module, "subconscious.team.exchange")
            return cast("Outcome", await module.exchange(self._app, server, joined, everything=everything))

    async def close(self) -> None:
        """Close the connections."""
        await self.store.close()

    def _pause(self) -> float:
        return READ_SECONDS if time() - self._app.signals.last_heard < WORK_SECONDS else IDLE_READ_SECONDS


def of(app: App) -> TeamExchange:
    """Return the app's TeamExchange; there is one for each app."""
    if TeamExchange not in app.services:
        app.services[TeamExchange] = TeamExchange(app)
    return cast("TeamExchange", app.services[TeamExchange])
