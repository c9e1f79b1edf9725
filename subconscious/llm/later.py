"""Questions that can wait: asked in a provider's own batches at half the price, or one by one.

Every step is a transaction, so that a death between two of them repeats nothing that was used:

1. *Intended*: the batch, its requests and what they may cost are on record before the provider hears of them.
2. *Running*: the provider's name for the batch is on record. Between 1 and 2 lies the one gap that no record can close:
   who dies there can't know whether the provider took the batch, and none of the APIs takes a key of ours that would
   make a second submission the same as the first. Such a batch is given up and its requests are asked anew; what it may
   have cost stays on record as unknown, counts against the caps, and is told in the log. It is never read.
3. *Answered*: one by one, each in the transaction that claims its request, uses the answer and records its cost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import (
    BadAnswerError,
    BadRequestError,
    CapReachedError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.answers import Answers, Purpose
from subconscious.llm.channel import Channel, may_be_charged
from subconscious.llm.client import LLMClient, guarded
from subconscious.llm.spending import Sold
from subconscious.providers import BatchProvider, BatchState, Reply, Request
from subconscious.providers.structured import UnreadableError, read
from subconscious.providers.wire import charged
from subconscious.store import asked, spend
from subconscious.store.asked import Asked, Batch
from subconscious.store.connect import Database
from subconscious.store.spend import Call

log = logging.getLogger("subconscious.llm")

SIDE_BY_SIDE = 4
"""Questions that are asked at once where there are no batches."""

FEWEST = 2
"""Requests that are worth a batch."""

LONGEST_PAUSE = 900.0
"""Seconds between two looks at a batch, at the most."""

GIVEN_UP = 3 * 86_400.0
"""Seconds after which a batch that can't be looked at is given up: no provider keeps one running for longer."""

AGAIN_SECONDS = 60.0
"""Pause of a request that failed in a way that passes, where the provider names none."""


class Later:
    """The questions of one database that can wait."""

    def __init__(self, database: Database, client: LLMClient) -> None:
        self._database = database
        self._client = client
        self._purposes: dict[str, Purpose] = {}
        self._answers = Answers(database, client, self._purposes)
        self._recovered = False
        self._hurried: set[str] = set()

    def hurry(self, session_id: str) -> None:
        """Retry a session's requests in the next round: its key has changed."""
        self._hurried.add(session_id)

    def begin_anew(self) -> None:
        """Other settings hold: what waited for a key, say, need wait no longer."""
        self._recovered = False

    def register(self, name: str, purpose: Purpose) -> None:
        """Say what becomes of the answers of a purpose; before the first round."""
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
        """Ask when it suits, in the transaction of whatever makes the question necessary.

        ``payload`` (JSON) is given back with the answer. The same key again, of one purpose, changes nothing and
        returns False. Wake the loop once the transaction is committed.
        """
        if request.purpose not in self._purposes:
            raise KeyError(f"nobody registered for {request.purpose}")
        safe = await guarded(request)
        question = asked.Question(
            safe.purpose, key, safe.system, safe.text, safe.max_tokens, payload or {}, session_id, project_id, time()
        )
        return await asked.put(tx, question)

    async def round(self) -> None:
        """Look at batches that run, then ask what waits. Work that can't be done now waits for the next round."""
        if not self._recovered:
            await self._recover()
            self._recovered = True
        await self._hurry()
        for batch in await asked.batches(self._database, "running", time()):
            await self._look(batch)
        if self._client.on:
            await self._ask_waiting()

    async def _hurry(self) -> None:
        for session_id in list(self._hurried):
            async with self._database.write() as tx:
                await asked.hurry(tx, session_id)
            self._hurried.discard(session_id)

    async def _recover(self) -> None:
        """Begin anew: a key may have been mended, and a process that died may have left a batch without a name."""
        async with self._database.write() as tx:
            await asked.hurry(tx)
        for batch in await asked.batches(self._database, "intended", time()):
            await self._lose(batch, "the program ended before it knew whether the batch was taken")

    async def _lose(self, batch: Batch, reason: str) -> None:
        requests = await asked.of_batch(self._database, batch.id)
        log.warning(
            "batch %d of %d requests to %s is given up, they are asked anew; it may have been charged: %s",
            batch.id,
            len(requests),
            batch.provider,
            reason,
        )
        async with self._database.write() as tx:
            for request in requests:
                await self._close_call(tx, request, "lost")
                await asked.again(tx, request.id, 0.0, reason, alone=False, counts=True)
            await asked.over(tx, batch.id, "lost", reason, time())

    async def _close_call(self, tx: aiosqlite.Connection, request: Asked, outcome: str) -> None:
        """A call whose price nobody will tell: what was reserved for it goes on counting."""
        call_id = await spend.of_request(tx, request.id)
        if call_id is not None:
            await spend.close(tx, call_id, outcome)

    # -- batches that run ------------------------------------------------------------------------------------------

    async def _look(self, batch: Batch) -> None:
        try:
            await self._read(batch)
        except BadRequestError as error:
            # It was refused as a whole, after it had been taken: nothing of it was done.
            await self._unsubmit(batch, await asked.of_batch(self._database, batch.id), error)
        except ProviderError as error:
            log.info("batch %d can't be looked at (%s): %s", batch.id, error.code, error.message)
            if time() - batch.created_at > GIVEN_UP:
                await self._lose(batch, error.message)
            else:
                await self._look_again(batch)

    async def _read(self, batch: Batch) -> None:
        channel = self._client.channel(batch.provider)
        channel.allow()
        provider = await channel.provider()
        if not isinstance(provider, BatchProvider) or batch.name is None:
            await self._lose(batch, f"{batch.provider} has no batches")
            return
        with channel.noting():
            async with channel.limiter.turn(0):
                state = await provider.poll(batch.name)
            if state is BatchState.RUNNING:
                await self._look_again(batch)
                return
            if state is BatchState.LOST:
                await self._lose(batch, "the provider does not know it any more")
                return
            requests = {str(request.id): request for request in await asked.of_batch(self._database, batch.id)}
            async for key, result in provider.results(batch.name):
                if key in requests:
                    await self._take(batch, channel, requests[key], result)
        await self._end(batch, state)

    async def _look_again(self, batch: Batch) -> None:
        pause = min(LONGEST_PAUSE, self._client.settings.native_batch_seconds * 1.5 ** min(batch.polls, 50))
        async with self._database.write() as tx:
            await asked.polled(tx, batch.id, time() + pause)

    async def _end(self, batch: Batch, state: BatchState) -> None:
        """What the batch left unanswered is asked again; nobody charges for what was not done."""
        left = await asked.of_batch(self._database, batch.id)
        async with self._database.write() as tx:
            for request in left:
                call_id = await spend.of_request(tx, request.id)
                if call_id is not None:
                    await spend.withdraw(tx, call_id)
                await asked.again(tx, request.id, 0.0, f"the batch {state}", alone=False, counts=True)
            await asked.over(tx, batch.id, "ended", str(state), time())

    async def _take(self, batch: Batch, channel: Channel, request: Asked, result: Reply | ProviderError) -> None:
        """Use one result of a batch, or let the request be asked by itself."""
        sold = Sold(batch.provider, batch.model, channel.access.base_url, batch=True)
        purpose = self._purposes.get(request.purpose)
        if purpose is None:
            await self._leave_unread(request)
            return
        most = sold.most(self._request(request, purpose))
        if isinstance(result, ProviderError):
            outcome = channel.spending.failed(sold, most, result.code, charged=False)
            await self._answers.fail(request, result, outcome)
            return
        outcome = channel.spending.answered(sold, result, most)
        try:
            value = read(result.text, purpose.schema)
        except UnreadableError as error:
            await self._answers.fail(request, charged(BadAnswerError(error.kinds), result.usage), outcome)
            return
        await self._answers.use(replace(request, provider=batch.provider, model=batch.model), purpose, value, outcome)

    async def _leave_unread(self, request: Asked) -> None:
        """Another version's question: it waits until somebody registers for it again."""
        async with self._database.write() as tx:
            await self._close_call(tx, request, "unread")
            await asked.again(tx, request.id, 0.0, "nobody registered for it", alone=False, counts=True)

    # -- what waits --------------------------------------------------------------------------------------------------

    async def _ask_waiting(self) -> None:
        size = self._client.settings.native_batch_size
        waits = await asked.waiting(self._database, list(self._purposes), time(), size)
        if not waits:
            return
        channel = self._client.channels[0]
        together = [request for request in waits if self._can_join_batch(request)]
        if len(together) >= FEWEST and await self._has_batches(channel):
            await self._submit(channel, together)
        else:
            together = []
        taken = {request.id for request in together}
        await self._ask_alone([request for request in waits if request.id not in taken])

    def _can_join_batch(self, request: Asked) -> bool:
        """Whether a request may go out with others. One asked with its session's own key goes alone.

        A batch is read with the key that it was submitted with, hours later and by another process perhaps, which
        does not have the session's key any more.
        """
        return not request.alone and not self._client.asks_with_own_key(request.session_id)

    async def _has_batches(self, channel: Channel) -> bool:
        """Whether the first provider has batches and can be asked; while it can't, its fallbacks may be."""
        if not self._client.settings.native_batches:
            return False
        try:
            channel.allow()
            with channel.noting():
                return isinstance(await channel.provider(), BatchProvider)
        except ProviderError:
            return False

    async def _submit(self, channel: Channel, requests: Sequence[Asked]) -> None:
        provider = await channel.provider()
        batch_id, sent = await self._intend(channel, provider.model, requests)
        if not sent or not isinstance(provider, BatchProvider):
            return
        batch = Batch(batch_id, channel.name, provider.model, None, 0, time())
        items = {str(request.id): self._request(request, self._purposes[request.purpose]) for request in sent}
        try:
            with channel.noting():
                async with channel.limiter.turn(0):
                    name = await provider.submit(items)
        except ProviderError as error:
            await (self._lose(batch, error.message) if may_be_charged(error) else self._unsubmit(batch, sent, error))
            return
        async with self._database.write() as tx:
            await asked.named(tx, batch_id, name, time() + self._client.settings.native_batch_seconds)
        log.info("batch %d: %d requests at %s as %s", batch_id, len(sent), channel.name, name)

    async def _intend(self, channel: Channel, model: str, requests: Sequence[Asked]) -> tuple[int, list[Asked]]:
        """Reserve and write down what goes out; what the caps don't allow waits until they do."""
        sent: list[Asked] = []
        async with self._database.write() as tx:
            for request in requests:
                try:
                    await channel.spending.reserve_in(tx, self._call(channel, model, request))
                    sent.append(request)
                except CapReachedError as error:
                    await asked.again(tx, request.id, error.retry_at, error.message, alone=False, counts=False)
            if not sent:
                return 0, []
            return await asked.intend(tx, channel.name, model, [request.id for request in sent], time()), sent

    def _call(self, channel: Channel, model: str, request: Asked) -> Call:
        sold = Sold(channel.name, model, channel.access.base_url, batch=True)
        most = sold.most(self._request(request, self._purposes[request.purpose]))
        return Call(
            time(),
            channel.name,
            model,
            request.purpose,
            request.session_id,
            request.project_id,
            channel.spending.counted(sold, most),
            batch=True,
            request_id=request.id,
        )

    async def _unsubmit(self, batch: Batch, requests: Sequence[Asked], error: ProviderError) -> None:
        """The provider refused the batch: nothing was spent. Which request spoils it shows when each is asked alone."""
        alone = isinstance(error, BadRequestError)
        async with self._database.write() as tx:
            for request in requests:
                call_id = await spend.of_request(tx, request.id)
                if call_id is not None:
                    await spend.withdraw(tx, call_id)
                due = 0.0 if alone else time() + pause_of(error)
                await asked.again(tx, request.id, due, error.message, alone=alone, counts=False)
            await asked.over(tx, batch.id, "lost", f"refused: {error.message}", time())

    async def _ask_alone(self, requests: Sequence[Asked]) -> None:
        line = iter(requests)

        async def work() -> None:
            for request in line:
                await self._ask_one(request)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(SIDE_BY_SIDE, len(requests))):
                group.create_task(work())

    async def _ask_one(self, request: Asked) -> None:
        purpose = self._purposes[request.purpose]
        try:
            question = self._request(request, purpose)
            answered = await self._client.answer(question, request.session_id, request.project_id)
        except (RateLimitedError, UnavailableError, CapReachedError, KeyRefusedError) as error:
            # The provider's fault, or the caps': nothing is dropped for it, however long it takes.
            async with self._database.write() as tx:
                due = time() + pause_of(error)
                await asked.again(tx, request.id, due, error.message, alone=False, counts=False)
        except ProviderError as error:
            await self._answers.fail(request, error)
        else:
            request = replace(request, provider=answered.provider, model=answered.model)
            await self._answers.use(request, purpose, answered.value, None)

    def _request(self, request: Asked, purpose: Purpose) -> Request:
        return Request(request.purpose, request.system, request.text, purpose.schema, request.max_tokens)


def pause_of(error: ProviderError) -> float:
    """Seconds until what failed so is worth another try: whoever has a queue of its own waits so long."""
    if isinstance(error, CapReachedError):
        return max(AGAIN_SECONDS, error.retry_at - time())
    if isinstance(error, RateLimitedError | UnavailableError):
        return error.retry_after or AGAIN_SECONDS
    return 60 * AGAIN_SECONDS
