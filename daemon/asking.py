"""Asks what can wait: gathers it, hands it to the provider's batches, and reads them across restarts."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from time import time

from subconscious.store import asked

from .busy import Busy
from .core import Core

log = logging.getLogger("subconscious.daemon")

GATHERING_SECONDS = 10.0
"""Time that questions are gathered for after the first: they can wait, and a batch of one is worth nothing."""

LONGEST_REST = 60.0
"""Seconds after which it is looked at what is due, whatever clocks say."""


class Asking:
    """The loop over the questions that can wait. It can be cancelled at any point."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._busy = Busy()

    @property
    def idle(self) -> bool:
        """Whether nothing is being asked; a batch that runs at a provider needs nobody here."""
        return not self._busy

    async def run(self) -> None:
        """Do a round whenever something is due, until cancelled."""
        while True:
            self._core.questioned.clear()
            await self._round()
            if await self._woken():
                await asyncio.sleep(min(GATHERING_SECONDS, self._core.settings.native_batch_seconds))

    async def _round(self) -> None:
        try:
            with self._busy:
                await self._core.later.round()
        except Exception:
            # After any error the requests are still stored, and the next round continues.
            log.exception("questions can't be asked")

    async def _woken(self) -> bool:
        """Rest until something is due; whether it was a new question that ended the rest."""
        due = await asked.next_due(self._core.database)
        shortest = min(GATHERING_SECONDS, self._core.settings.native_batch_seconds)
        pause = LONGEST_REST if due is None else min(LONGEST_REST, max(shortest, due - time()))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._core.questioned.wait(), pause)
            return True
        return False
