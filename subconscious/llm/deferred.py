"""Deferred requests: stored first, then sent through the provider's batch API at half the price, or one by one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import time
from typing import Any

import aiosqlite

from subconscious.context.priority import Busy
from subconscious.context.signals import Signals
from subconscious.domain.errors import (
    CapReachedError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.answers import Answers, Purpose
from subconscious.llm.batches import NativeBatches
from subconscious.llm.bounds import pause_of
from subconscious.llm.channel import Channel
from subconscious.llm.client import LLMClient, guarded
from subconscious.llm.providers import BatchProvider, Request
from subconscious.settings.settings import Settings
from subconscious.store import llm_requests
from subconscious.store.connect import Database
from subconscious.store.llm_requests import StoredRequest

log = logging.getLogger("subconscious.llm")

SIDE_BY_SIDE = 4
"""The most requests that run at once outside of batches."""

FEWEST = 2
"""The minimum number of requests that are sent as a batch; fewer are sent one by one."""

GATHERING_SECONDS = 10.0
"""Seconds to wait for more requests after the first: deferred requests are not urgent, and larger batches save more."""

LONGEST_REST = 60.0
"""The most seconds between two rounds, even if the clock is changed."""


class DeferredRequests:
    """The deferred requests that are stored in one database."""

    def __init__(self, database: Database, client: LLMClient) -> None:
        self._database = database
        self._client = client
        self._purposes: dict[str, Purpose] = {}
        self._answers = Answers(database, client, self._purposes)
        self._batches = NativeBatches(database, client, self._purposes, self._answers)
        self._recovered = False
        self._retry_sessions: set[str] = set()

    @property
    def settings(self) -> Settings:
        """The settings of the client that sends the requests."""
        return self._client.settings

    def retry_session(self, session_id: str) -> None:
        """Retry a session's requests in the next round, because the session's key has changed."""
        self._retry_sessions.add(session_id)

    def retry_all(self) -> None:
        """Retry all requests in the next round, because the settings have changed and may now contain a missing key."""
        self._recovered = False

    def register(self, name: str, purpose: Purpose) -> None:
        """Register the handlers for answers to requests with this purpose; must be called before the first round."""
        self._purposes[name] = purpose

    async def put(
        self,
        tx: aiosqlite.Connection,
        key: str,
        request: Request,
        payload: Mapping[str, Any] | None = None,
        session_id: str = "",
        project_id: str = "",
    ) -> bool:
        """Store a request, in the transaction of the change that makes it necessary.

        ``payload`` (JSON) is passed to the handler with the answer. If a request with the same key and purpose exists,
        nothing is stored and False is returned. The caller must wake the loop after committing the transaction.

        Raises KeyError if no handler is registered for the request's purpose.
        """
        if request.purpose not in self._purposes:
            raise KeyError(f"there is no handler for {request.purpose}")
        safe = await guarded(request)
        question = llm_requests.Request(
            safe.purpose, key, safe.system, safe.text, safe.max_tokens, payload or {}, session_id, project_id, time()
        )
        return await llm_requests.insert(tx, question)

    async def round(self) -> None:
        """Poll running batches, then send waiting requests. A temporary failure is retried in a later round."""
        if not self._recovered:
            await self._recover()
            self._recovered = True
        await self._retry_waiting()
        await self._batches.poll_due()
        if self._client.on:
            await self._ask_waiting()

    async def _retry_waiting(self) -> None:
        for session_id in list(self._retry_sessions):
            async with self._database.write() as tx:
                await llm_requests.make_due(tx, session_id)
            self._retry_sessions.discard(session_id)

    async def _recover(self) -> None:
        """Retry all requests, because a key may have been corrected, and give up batches without a provider's id."""
        async with self._database.write() as tx:
            await llm_requests.make_due(tx)
        await self._batches.give_up_intended()

    async def _ask_waiting(self) -> None:
        size = self._client.settings.native_batch_size
        waits = await llm_requests.waiting(self._database, list(self._purposes), time(), size)
        if not waits:
            return
        channel = self._client.channels[0]
        together = [request for request in waits if self._can_join_batch(request)]
        if len(together) >= FEWEST and await self._has_batches(channel):
            await self._batches.submit(channel, together)
        else:
            together = []
        taken = {request.id for request in together}
        await self._ask_alone([request for request in waits if request.id not in taken])

    def _can_join_batch(self, request: StoredRequest) -> bool:
        """Whether a request may be sent in a batch; a request with its session's own key must be sent alone.

        The results of a batch are read hours later with the same key, perhaps by another process, which does not have a
        session's key any more.
        """
        return not request.alone and not self._client.asks_with_own_key(request.session_id)

    async def _has_batches(self, channel: Channel) -> bool:
        """Whether the first provider has a batch API and is available; if not, requests are sent one by one."""
        if not self._client.settings.native_batches:
            return False
        try:
            channel.allow()
            with channel.noting():
                return isinstance(await channel.provider(), BatchProvider)
        except ProviderError:
            return False

    async def _ask_alone(self, requests: Sequence[StoredRequest]) -> None:
        line = iter(requests)

        async def work() -> None:
            for request in line:
                await self._ask_one(request)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(SIDE_BY_SIDE, len(requests))):
                group.create_task(work())

    async def _ask_one(self, request: StoredRequest) -> None:
        purpose = self._purposes[request.purpose]
        try:
            question = purpose.request_for(request)
            answered = await self._client.answer(question, request.session_id, request.project_id)
        except (RateLimitedError, UnavailableError, CapReachedError, KeyRefusedError) as error:
            # Caused by the provider or a cap, not by the request, which is therefore retried without a limit.
            async with self._database.write() as tx:
                due = time() + pause_of(error)
                await llm_requests.requeue(tx, request.id, due, error.message, alone=False, counts=False)
        except ProviderError as error:
            await self._answers.fail(request, error)
        else:
            request = replace(request, provider=answered.provider, model=answered.model)
            await self._answers.use(request, purpose, answered.value, None)


class DeferredWorker:
    """The background loop that sends deferred requests. It can be cancelled at any point."""

    def __init__(self, database: Database, later: DeferredRequests, signals: Signals) -> None:
        self._database = database
        self._later = later
        self._questioned = signals.questioned
        self._busy = Busy()

    @property
    def idle(self) -> bool:
        """Whether no request is running; a batch that runs at a provider does not count."""
        return not self._busy

    async def run(self) -> None:
        """Run a round whenever a request or batch is due, until cancelled."""
        while True:
            self._questioned.clear()
            await self._round()
            if await self._woken():
                await asyncio.sleep(min(GATHERING_SECONDS, self._later.settings.native_batch_seconds))

    async def _round(self) -> None:
        try:
            with self._busy:
                await self._later.round()
        except Exception:
            # After any error the requests are still stored, and the next round continues.
            log.exception("deferred requests can't be sent")

    async def _woken(self) -> bool:
        """Wait until a request or batch is due; return whether a new request ended the wait."""
        due = await llm_requests.next_due(self._database)
        shortest = min(GATHERING_SECONDS, self._later.settings.native_batch_seconds)
        pause = LONGEST_REST if due is None else min(LONGEST_REST, max(shortest, due - time()))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._questioned.wait(), pause)
            return True
        return False
