"""Sends deferred requests through the batch APIs of providers, at half the price.

Every step is a transaction, so that no answer is used twice after a crash between two steps:

1. *Intended*: the batch, its requests and their maximum cost are stored before they are sent.
2. *Running*: the provider's id of the batch is stored. After a crash between 1 and 2, nobody can know whether the
   provider accepted the batch, because none of the APIs accepts an idempotency key. Such a batch is given up: its
   results are never read, and its requests are sent again. Its possible cost is recorded as unknown, counts against
   the caps, and is logged.
3. *Answered*: each answer is applied in a transaction of its own, which also claims its request and records its cost.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import time

import aiosqlite

from subconscious.domain.errors import BadAnswerError, BadRequestError, CapReachedError, ProviderError, UnavailableError
from subconscious.llm.answers import Answers, Purpose
from subconscious.llm.bounds import pause_of
from subconscious.llm.channel import Channel, may_be_charged
from subconscious.llm.client import LLMClient
from subconscious.llm.providers import BatchProvider, BatchState, Reply
from subconscious.llm.providers.structured import UnreadableError, read
from subconscious.llm.providers.wire import charged
from subconscious.llm.spending import PricedModel
from subconscious.store import llm_requests, spend
from subconscious.store.connect import Database
from subconscious.store.llm_requests import Batch, StoredRequest
from subconscious.store.spend import Call

log = logging.getLogger("subconscious.llm")

LONGEST_PAUSE = 900.0
"""Longest pause in seconds between two polls of a batch."""

GIVEN_UP = 3 * 86_400.0
"""Seconds after which a batch that can't be polled is given up: no provider runs a batch for longer."""


class NativeBatches:
    """Submits batches, polls them and passes their results to ``answers``."""

    def __init__(
        self, database: Database, client: LLMClient, purposes: Mapping[str, Purpose], answers: Answers
    ) -> None:
        self._database = database
        self._client = client
        self._purposes = purposes
        self._answers = answers

    async def give_up_intended(self) -> None:
        """Give up batches without a provider's id, which a crash left behind."""
        for batch in await llm_requests.due_batches(self._database, "intended", time()):
            await self._lose(batch, "the program ended before the provider confirmed the batch")

    async def poll_due(self) -> None:
        """Poll the running batches that are due, and use the results of finished ones."""
        for batch in await llm_requests.due_batches(self._database, "running", time()):
            await self._look(batch)

    async def _look(self, batch: Batch) -> None:
        try:
            await self._read(batch)
        except BadRequestError as error:
            # The provider accepted the batch and refused it as a whole later: none of its requests was processed.
            await self._unsubmit(batch, await llm_requests.of_batch(self._database, batch.id), error)
        except ProviderError as error:
            log.info("the state of batch %d can't be retrieved (%s): %s", batch.id, error.code, error.message)
            if time() - batch.created_at > GIVEN_UP:
                await self._lose(batch, error.message)
            else:
                await self._look_again(batch)

    async def _read(self, batch: Batch) -> None:
        channel = self._client.channel(batch.provider)
        channel.allow()
        provider = await channel.provider()
        if not isinstance(provider, BatchProvider) or batch.name is None:
            await self._lose(batch, f"{batch.provider} does not support batches")
            return
        with channel.noting():
            async with channel.limiter.turn(0):
                state = await provider.poll(batch.name)
            if state is BatchState.RUNNING:
                await self._look_again(batch)
                return
            if state is BatchState.LOST:
                await self._lose(batch, "the provider no longer has this batch")
                return
            requests = {str(request.id): request for request in await llm_requests.of_batch(self._database, batch.id)}
            try:
                async for key, result in provider.results(batch.name):
                    if key in requests:
                        await self._take(batch, channel, requests[key], result)
            except BadRequestError as error:
                # The batch's results are missing. Only a poll can show that the batch was refused and so cost nothing.
                raise UnavailableError(error.message, error.remedy) from error
        await self._end(batch, state)

    async def _look_again(self, batch: Batch) -> None:
        pause = min(LONGEST_PAUSE, self._client.settings.native_batch_seconds * 1.5 ** min(batch.polls, 50))
        async with self._database.write() as tx:
            await llm_requests.batch_polled(tx, batch.id, time() + pause)

    async def _end(self, batch: Batch, state: BatchState) -> None:
        """Queue an ended batch's unanswered requests again, and delete the records of their calls, which were free."""
        left = await llm_requests.of_batch(self._database, batch.id)
        async with self._database.write() as tx:
            for request in left:
                call_id = await spend.of_request(tx, request.id)
                if call_id is not None:
                    await spend.withdraw(tx, call_id)
                await llm_requests.requeue(tx, request.id, 0.0, f"the batch {state}", alone=False, counts=True)
            await llm_requests.finish_batch(tx, batch.id, "ended", str(state), time())

    async def _take(
        self, batch: Batch, channel: Channel, request: StoredRequest, result: Reply | ProviderError
    ) -> None:
        """Apply one result of a batch; if it is an error, queue its request to be sent alone, or give it up."""
        priced = PricedModel(batch.provider, batch.model, channel.access.base_url, batch=True)
        purpose = self._purposes.get(request.purpose)
        if purpose is None:
            await self._leave_unread(request)
            return
        most = priced.most(purpose.request_for(request))
        if isinstance(result, ProviderError):
            outcome = channel.spending.failed(priced, most, result.code, charged=False)
            await self._answers.fail(request, result, outcome)
            return
        outcome = channel.spending.answered(priced, result, most)
        try:
            value = read(result.text, purpose.schema)
        except UnreadableError as error:
            await self._answers.fail(request, charged(BadAnswerError(error.kinds), result.usage), outcome)
            return
        await self._answers.use(replace(request, provider=batch.provider, model=batch.model), purpose, value, outcome)

    async def _leave_unread(self, request: StoredRequest) -> None:
        """Requeue a request that another version of the program stored, and whose purpose this version can't handle."""
        async with self._database.write() as tx:
            await self._close_call(tx, request, "unread")
            await llm_requests.requeue(tx, request.id, 0.0, "there is no handler for it", alone=False, counts=True)

    async def submit(self, channel: Channel, requests: Sequence[StoredRequest]) -> None:
        """Send requests to a provider as one batch."""
        provider = await channel.provider()
        batch_id, sent = await self._intend(channel, provider.model, requests)
        if not sent or not isinstance(provider, BatchProvider):
            return
        batch = Batch(batch_id, channel.name, provider.model, None, 0, time())
        items = {str(request.id): self._purposes[request.purpose].request_for(request) for request in sent}
        try:
            with channel.noting():
                async with channel.limiter.turn(0):
                    name = await provider.submit(items)
        except ProviderError as error:
            await (self._lose(batch, error.message) if may_be_charged(error) else self._unsubmit(batch, sent, error))
            return
        async with self._database.write() as tx:
            await llm_requests.batch_accepted(tx, batch_id, name, time() + self._client.settings.native_batch_seconds)
        log.info("batch %d: sent %d requests to %s (batch id there: %s)", batch_id, len(sent), channel.name, name)

    async def _intend(
        self, channel: Channel, model: str, requests: Sequence[StoredRequest]
    ) -> tuple[int, list[StoredRequest]]:
        """Store a batch and reserve its cost; return its id and requests. Requests beyond a cap are requeued."""
        sent: list[StoredRequest] = []
        async with self._database.write() as tx:
            for request in requests:
                try:
                    await channel.spending.reserve_in(tx, self._call(channel, model, request))
                    sent.append(request)
                except CapReachedError as error:
                    await llm_requests.requeue(tx, request.id, error.retry_at, error.message, alone=False, counts=False)
            if not sent:
                return 0, []
            return await llm_requests.create_batch(
                tx, channel.name, model, [request.id for request in sent], time()
            ), sent

    def _call(self, channel: Channel, model: str, request: StoredRequest) -> Call:
        priced = PricedModel(channel.name, model, channel.access.base_url, batch=True)
        most = priced.most(self._purposes[request.purpose].request_for(request))
        return Call(
            time(),
            channel.name,
            model,
            request.purpose,
            request.session_id,
            request.project_id,
            channel.spending.counted(priced, most),
            batch=True,
            request_id=request.id,
        )

    async def _unsubmit(self, batch: Batch, requests: Sequence[StoredRequest], error: ProviderError) -> None:
        """Requeue the requests of a batch that the provider refused, and delete the records of their calls.

        A refused batch costs nothing. If it was refused as invalid, its requests are sent alone, so that only the
        invalid one fails; after any other error they are queued for a later batch.
        """
        alone = isinstance(error, BadRequestError)
        async with self._database.write() as tx:
            for request in requests:
                call_id = await spend.of_request(tx, request.id)
                if call_id is not None:
                    await spend.withdraw(tx, call_id)
                due = 0.0 if alone else time() + pause_of(error)
                await llm_requests.requeue(tx, request.id, due, error.message, alone=alone, counts=False)
            await llm_requests.finish_batch(tx, batch.id, "lost", f"refused: {error.message}", time())

    async def _lose(self, batch: Batch, reason: str) -> None:
        requests = await llm_requests.of_batch(self._database, batch.id)
        log.warning(
            "batch %d failed (%d requests to %s, possibly charged); its requests will be sent again: %s",
            batch.id,
            len(requests),
            batch.provider,
            reason,
        )
        async with self._database.write() as tx:
            for request in requests:
                await self._close_call(tx, request, "lost")
                await llm_requests.requeue(tx, request.id, 0.0, reason, alone=False, counts=True)
            await llm_requests.finish_batch(tx, batch.id, "lost", reason, time())

    async def _close_call(self, tx: aiosqlite.Connection, request: StoredRequest, outcome: str) -> None:
        """Close the record of a call with an unknown cost: its reservation continues to count against the caps."""
        call_id = await spend.of_request(tx, request.id)
        if call_id is not None:
            await spend.close(tx, call_id, outcome)
