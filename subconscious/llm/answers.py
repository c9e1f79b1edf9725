"""What becomes of the answers to questions that can wait: used once, tried again, or given up."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import time
from typing import Any

import aiosqlite
from pydantic import BaseModel

from subconscious.errors import ProviderError
from subconscious.llm.bounds import may_retry
from subconscious.llm.client import LLMClient
from subconscious.store import asked, spend
from subconscious.store.asked import Asked
from subconscious.store.connect import Database
from subconscious.store.spend import Outcome

log = logging.getLogger("subconscious.llm")

Apply = Callable[[aiosqlite.Connection, Asked, Any], Awaitable[None]]
GiveUp = Callable[[aiosqlite.Connection, Asked, str], Awaitable[None]]


async def _nothing(tx: aiosqlite.Connection, question: Asked, reason: str) -> None:
    del tx, question, reason


@dataclass(frozen=True, slots=True)
class Purpose:
    """What becomes of answers: ``apply`` is called once for each, within the transaction that marks it as used.

    ``give_up`` is called likewise for what is buried; ``after`` when either has been committed.
    """

    schema: type[BaseModel]
    apply: Apply
    give_up: GiveUp = _nothing
    after: Callable[[], None] = lambda: None


class Answers:
    """What comes of what was asked, as each of the ``purposes`` wants it."""

    def __init__(self, database: Database, client: LLMClient, purposes: Mapping[str, Purpose]) -> None:
        self._database = database
        self._client = client
        self._purposes = purposes

    async def use(self, request: Asked, purpose: Purpose, value: BaseModel, outcome: Outcome | None) -> None:
        """Claim, use and record as one transaction: exactly once, whoever brings the answer how often."""
        try:
            async with self._database.write() as tx:
                if not await asked.claim(tx, request.id, time()):
                    return
                await self._complete(tx, request, outcome)
                await purpose.apply(tx, request, value)
        except sqlite3.OperationalError:
            raise  # a full disk, say: the answer is there to be read again
        except Exception as error:
            # Any error with this answer would recur with the next one, so the request ends here.
            log.exception("the answer to %s %s can't be used", request.purpose, request.key)
            await self._bury(request, f"its answer can't be used: {type(error).__name__}: {error}", outcome)
            return
        purpose.after()

    async def fail(self, request: Asked, error: ProviderError, outcome: Outcome | None = None) -> None:
        """Ask once more, by itself, or give the question up."""
        reason = error.message
        if not may_retry(request.attempts + 1, error, self._client.settings.later_attempts):
            await self._bury(request, reason, outcome)
            return
        async with self._database.write() as tx:
            await self._complete(tx, request, outcome)
            await asked.again(tx, request.id, 0.0, reason, alone=True, counts=True)

    async def _bury(self, request: Asked, reason: str, outcome: Outcome | None) -> None:
        log.error("%s %s is given up: %s", request.purpose, request.key, reason)
        purpose = self._purposes[request.purpose]
        try:
            await self._bury_with(request, reason, outcome, purpose.give_up)
        except sqlite3.OperationalError:
            raise
        except Exception:
            # Any error of the caller must end the request, or it would be repeated for ever.
            log.exception("nobody could be told that %s %s is given up", request.purpose, request.key)
            await self._bury_with(request, reason, outcome, _nothing)
        purpose.after()

    async def _bury_with(self, request: Asked, reason: str, outcome: Outcome | None, give_up: GiveUp) -> None:
        async with self._database.write() as tx:
            await self._complete(tx, request, outcome)
            await asked.bury(tx, request.id, reason, time())
            await give_up(tx, request, reason)

    async def _complete(self, tx: aiosqlite.Connection, request: Asked, outcome: Outcome | None) -> None:
        """Record what a request within a batch cost; those asked alone are recorded by the client."""
        call_id = await spend.of_request(tx, request.id) if outcome is not None else None
        if call_id is not None and outcome is not None:
            await spend.complete(tx, call_id, outcome)
