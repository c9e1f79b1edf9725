"""The vectors of memories: made batch by batch, tried again, saved."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from subconscious.errors import EmbedderBusyError, EmbedderError, EmbedderTextError
from subconscious.flow import merging
from subconscious.model import Memory
from subconscious.store import embedding_queue, memories
from subconscious.store.connect import Database

from .chain import LONGEST_PAUSE, RETRIES, Opened
from .sense import CHARACTERS_A_TOKEN, Purse, Sense, account, in_thread

if TYPE_CHECKING:
    import numpy

log = logging.getLogger("subconscious.daemon")

REFUSALS = 5
"""Single texts in a row that are refused: then it is not the texts."""


class OutError(Exception):
    """The embedder in use can't be used any more; the next in the chain takes over."""

    def __init__(self, name: str, error: EmbedderError) -> None:
        super().__init__(name)
        self.name = name
        self.error = error


class Batches:
    """Gives memories their vectors; ``refresh`` tells the indexes which have a new one."""

    def __init__(self, database: Database, purse: Purse, refresh: Callable[[Sequence[int]], Awaitable[None]]) -> None:
        self._database = database
        self._purse = purse
        self._refresh = refresh

    async def keep_up(self, sense: Sense) -> None:
        """New memories are found by meaning also while another model than the one that serves is wanted."""
        embedder = sense.embedder
        while embedder is not None:
            batch = await embedding_queue.unembedded_by(self._database, sense.model, embedder.batch)
            if not batch:
                return
            texts = [text_of(memory) for memory in batch]
            try:
                found = await in_thread(lambda texts=texts: embedder.embed(texts))  # type: ignore[misc]
            except Exception:
                # After any error they are found by words, and by meaning once the other model is in use.
                log.info("the model that serves can't embed new memories", exc_info=True)
                return
            async with self._database.write() as tx:
                await self._save(tx, sense.model, batch, found)
            await self._refresh([memory.id for memory in batch])

    async def embed(self, writer: Opened, batch: Sequence[Memory]) -> None:
        """Embed one batch; after the last try its memories are marked failed and stay findable by words."""
        batch = await self._not_paid_for(writer, batch)
        if not batch:
            return
        texts = [text_of(memory) for memory in batch]
        await self._may_spend(writer, sum(map(len, texts)) // CHARACTERS_A_TOKEN)
        for pause in (*RETRIES, None):
            try:
                found = await in_thread(lambda: writer.embedder.embed(texts))
            except EmbedderTextError as error:
                await self._one_by_one(writer, batch, error)
                return
            except EmbedderError as error:
                if writer.embedder.remote:
                    await self._wait_or_leave(writer, error, pause)
                    continue
                await self._wait(error, batch, pause)
            except Exception as error:  # noqa: BLE001 - it is logged with its traceback
                # No error of the model's runtime may end the loop: the batch is tried again, then set aside.
                await self._wait(error, batch, pause)
            else:
                async with self._database.write() as tx:
                    await self._save(tx, writer.model.name, batch, found, done=True)
                await self._refresh([memory.id for memory in batch])
                return
        await self._mark(batch, "failed")

    async def _wait(self, error: Exception, batch: Sequence[Memory], pause: float | None) -> None:
        log.error("embedding of %d memories failed", len(batch), exc_info=error)
        if pause is not None:
            await asyncio.sleep(pause)

    async def _wait_or_leave(self, writer: Opened, error: EmbedderError, pause: float | None) -> None:
        """Pause before the next try where there is to be one; else the next in the chain takes over."""
        wanted = error.retry_after or 0.0 if isinstance(error, EmbedderBusyError) else math.inf
        if pause is None or wanted > LONGEST_PAUSE:
            raise OutError(writer.name, error) from error
        log.info("embedder %s: %s; trying again", writer.name, error)
        await asyncio.sleep(max(pause, wanted))

    async def _may_spend(self, writer: Opened, tokens: int) -> None:
        """At a cap the work waits: its memories stay pending, and the next in the chain serves."""
        if not writer.embedder.remote:
            return
        wait = await self._purse.wait(*account(writer.embedder), tokens)
        if wait > 0:
            error = EmbedderBusyError("a cap of cost is reached", "wait, or raise the cap in config.toml", wait)
            raise OutError(writer.name, error) from error

    async def _one_by_one(self, writer: Opened, batch: Sequence[Memory], error: EmbedderTextError) -> None:
        """One text that is refused must not keep the others from their vectors."""
        if len(batch) == 1:
            log.warning("memory %d can't be embedded: %s", batch[0].id, error)
            await self._mark(batch, "failed")
            return
        for number, memory in enumerate(batch, start=1):
            await self.embed(writer, [memory])
            refused = [m.embedding_status for m in await self._now(batch[:number])]
            if number == REFUSALS and writer.embedder.remote and set(refused) == {"failed"}:
                raise OutError(writer.name, error) from error

    async def _now(self, batch: Sequence[Memory]) -> list[Memory]:
        return list((await memories.get_many(self._database, [memory.id for memory in batch])).values())

    async def _not_paid_for(self, writer: Opened, batch: Sequence[Memory]) -> list[Memory]:
        """Those whose vector has still to be made; the others have waited for another model only."""
        from subconscious.store import vectors

        known = await vectors.digests(self._database, writer.model.name, [memory.id for memory in batch])
        there = [memory for memory in batch if known.get(memory.id) == digest_of(memory)]
        if there:
            await self._mark(there, "done")
        return [memory for memory in batch if memory not in there]

    async def _mark(self, batch: Sequence[Memory], status: str) -> None:
        async with self._database.write() as tx:
            await embedding_queue.mark(tx, [memory.id for memory in batch], status)

    async def _save(
        self, tx: Any, model: str, batch: Sequence[Memory], found: numpy.ndarray, *, done: bool = False
    ) -> None:
        """Store vectors. A memory whose words changed meanwhile keeps waiting for a vector of the new ones."""
        from subconscious.store import vectors

        rows = [
            vectors.Row(memory.id, memory.project_id or "", vector, digest_of(memory))
            for memory, vector in zip(batch, found, strict=True)
        ]
        await vectors.save(tx, model, rows)
        if done:
            now = {memory.id: digest_of(memory) for memory in await self._now(batch)}
            same = [memory.id for memory in batch if now.get(memory.id) == digest_of(memory)]
            await embedding_queue.mark(tx, same, "done")


def text_of(memory: Memory) -> str:
    """What of a memory is embedded."""
    return merging.text_of(memory)


def digest_of(memory: Memory) -> str:
    """By which a text that was embedded before is known again."""
    return hashlib.sha256(text_of(memory).encode("utf-8", "surrogatepass")).hexdigest()[:16]
