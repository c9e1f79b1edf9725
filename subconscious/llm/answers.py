"""Applies the answers to deferred requests. Each answer is used once; a failed request is retried or given up."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import time
from typing import Any

import aiosqlite
from pydantic import BaseModel

from subconscious.domain.errors import ProviderError
from subconscious.llm.bounds import may_retry
from subconscious.llm.client import LLMClient
from subconscious.llm.providers import Request
from subconscious.store import llm_requests, spend
from subconscious.store.connect import Database
from subconscious.store.llm_requests import StoredRequest
from subconscious.store.spend import Outcome

log = logging.getLogger("subconscious.llm")

Apply = Callable[[aiosqlite.Connection, StoredRequest, Any], Awaitable[None]]
GiveUp = Callable[[aiosqlite.Connection, StoredRequest, str], Awaitable[None]]


async def _nothing(tx: aiosqlite.Connection, question: StoredRequest, reason: str) -> None:
    del tx, question, reason


@dataclass(frozen=True, slots=True)
class Purpose:
    """The handlers for the answers to requests with one purpose ("capture", ...).

    ``apply`` is called once per answer, in the transaction that marks the answer as used. ``give_up`` is called in the
    same way for a request that failed for good. ``after`` is called after the transaction of either handler.
    """

    schema: type[BaseModel]
    apply: Apply
    give_up: GiveUp = _nothing
    after: Callable[[], None] = lambda: None

    def request_for(self, stored: StoredRequest) -> Request:
        """Return the request to send to a provider from a stored request."""
        return Request(stored.purpose, stored.system, stored.text, self.schema, stored.max_tokens)


class Answers:
    """Applies answers by calling the handlers in ``purposes``."""

    def __init__(self, database: Database, client: LLMClient, purposes: Mapping[str, Purpose]) -> None:
        self._database = database
        self._client = client
        self._purposes = purposes

    async def use(self, request: StoredRequest, purpose: Purpose, value: BaseModel, outcome: Outcome | None) -> None:
        """Apply and record an answer in one transaction, exactly once even if it is delivered several times."""
        try:
            async with self._database.write() as tx:
                if not await llm_requests.claim(tx, request.id, time()):
                    return
                await self._complete(tx, request, outcome)
                await purpose.apply(tx, request, value)
        except sqlite3.OperationalError:
            raise  # for instance a full disk: the answer can be read again later
        except Exception as error:
            # The error would recur with the next answer to this request, so the request ends here.
            log.exception("the answer to %s %s can't be used", request.purpose, request.key)
            await self._bury(request, f"its answer can't be used: {type(error).__name__}: {error}", outcome)
            return
        purpose.after()

    async def fail(self, request: StoredRequest, error: ProviderError, outcome: Outcome | None = None) -> None:
        """Queue a failed request to be retried outside of a batch, or give it up."""
        reason = error.message
        if not may_retry(request.attempts + 1, error, self._client.settings.later_attempts):
            await self._bury(request, reason, outcome)
            return
        async with self._database.write() as tx:
            await self._complete(tx, request, outcome)
            await llm_requests.requeue(tx, request.id, 0.0, reason, alone=True, counts=True)

    async def _bury(self, request: StoredRequest, reason: str, outcome: Outcome | None) -> None:
        log.error("giving up on %s %s: %s", request.purpose, request.key, reason)
        purpose = self._purposes[request.purpose]
        try:
            await self._bury_with(request, reason, outcome, purpose.give_up)
        except sqlite3.OperationalError:
            raise
        except Exception:
            # An error of the handler must also end the request, which would otherwise be retried forever.
            log.exception("the handler for giving up %s %s failed", request.purpose, request.key)
            await self._bury_with(request, reason, outcome, _nothing)
        purpose.after()

    async def _bury_with(self, request: StoredRequest, reason: str, outcome: Outcome | None, give_up: GiveUp) -> None:
        async with self._database.write() as tx:
            await self._complete(tx, request, outcome)
            await llm_requests.bury(tx, request.id, reason, time())
            await give_up(tx, request, reason)

    async def _complete(self, tx: aiosqlite.Connection, request: StoredRequest, outcome: Outcome | None) -> None:
        """Record the cost of a request that was sent in a batch; the client records the cost of other requests."""
        call_id = await spend.of_request(tx, request.id) if outcome is not None else None
        if call_id is not None and outcome is not None:
            await spend.complete(tx, call_id, outcome)
