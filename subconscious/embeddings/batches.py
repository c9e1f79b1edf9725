"""Computes and stores the vectors of memories in batches, with retries."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import EmbedderBusyError, EmbedderError, EmbedderTextError
from subconscious.domain.model import Candidate, Memory
from subconscious.embeddings.embedder_fallback import LONGEST_PAUSE, RETRIES, OpenedEmbedder
from subconscious.embeddings.query_embedder import (
    CHARACTERS_A_TOKEN,
    EmbeddingBudget,
    QueryEmbedder,
    account,
    in_thread,
)
from subconscious.store import embedding_queue, memories
from subconscious.store.connect import Database
from subconscious.store.review_queue import Waiting

if TYPE_CHECKING:
    import numpy

log = logging.getLogger("subconscious.embeddings")

REFUSALS = 5
"""After this many refused texts in a row, the embedder, not the texts, is considered the problem."""


class EmbedderOutError(Exception):
    """The embedder in use failed, so the next one in the fallback chain takes over."""

    def __init__(self, name: str, error: EmbedderError) -> None:
        super().__init__(name)
        self.name = name
        self.error = error


class Batches:
    """Computes the vectors of memories; ``refresh`` updates the indexes."""

    def __init__(
        self, database: Database, budget: EmbeddingBudget, refresh: Callable[[Sequence[int]], Awaitable[None]]
    ) -> None:
        self._database = database
        self._budget = budget
        self._refresh = refresh

    async def embed_for_current(self, current: QueryEmbedder) -> None:
        """Embed new memories with the current model as well, while another model's vectors are being made."""
        embedder = current.embedder
        while embedder is not None:
            batch = await embedding_queue.waiting_without(self._database, current.model, embedder.batch)
            if not batch:
                return
            texts = [text_of(memory) for memory in batch]
            try:
                found = await in_thread(lambda texts=texts: embedder.embed(texts))  # type: ignore[misc]
            except Exception:
                # Even then, full-text search finds these memories, and the other model will embed them later.
                log.info("the current model can't embed new memories", exc_info=True)
                return
            async with self._database.write() as tx:
                await self._save(tx, current.model, batch, found)
            await self._refresh([memory.id for memory in batch])

    async def embed(self, writer: OpenedEmbedder, batch: Sequence[Memory]) -> None:
        """Embed one batch of memories.

        If the last attempt fails, the memories are marked as failed and found by full text only. Raises
        EmbedderOutError if a remote embedder fails or the spending cap is reached; the memories stay pending then.
        """
        batch = await self._without_vector(writer, batch)
        if not batch:
            return
        texts = [text_of(memory) for memory in batch]
        await self._check_budget(writer, sum(map(len, texts)) // CHARACTERS_A_TOKEN)
        for pause in (*RETRIES, None):
            try:
                found = await in_thread(lambda: writer.embedder.embed(texts))
            except EmbedderTextError as error:
                await self._one_by_one(writer, batch, error)
                return
            except EmbedderError as error:
                if writer.embedder.remote:
                    await self._wait_or_give_up(writer, error, pause)
                    continue
                await self._wait(error, batch, pause)
            except Exception as error:  # noqa: BLE001 - it is logged with its traceback
                # No error of the model's runtime may end the loop: the batch is tried again, then marked as failed.
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

    async def _wait_or_give_up(self, writer: OpenedEmbedder, error: EmbedderError, pause: float | None) -> None:
        """Sleep for ``pause`` seconds before the next attempt.

        A busy server may ask for a longer pause. Raises EmbedderOutError if there is no further attempt, if the
        server's pause is too long, or if the error is not temporary.
        """
        wanted = error.retry_after or 0.0 if isinstance(error, EmbedderBusyError) else math.inf
        if pause is None or wanted > LONGEST_PAUSE:
            raise EmbedderOutError(writer.name, error) from error
        log.info("embedder %s: %s; trying again", writer.name, error)
        await asyncio.sleep(max(pause, wanted))

    async def _check_budget(self, writer: OpenedEmbedder, tokens: int) -> None:
        """Raise EmbedderOutError if the spending cap is reached.

        Memories stay pending then, and the next embedder takes over.
        """
        if not writer.embedder.remote:
            return
        wait = await self._budget.wait(*account(writer.embedder), tokens)
        if wait > 0:
            error = EmbedderBusyError("a spending cap is reached", "wait, or raise the cap in config.toml", wait)
            raise EmbedderOutError(writer.name, error) from error

    async def _one_by_one(self, writer: OpenedEmbedder, batch: Sequence[Memory], error: EmbedderTextError) -> None:
        """Embed texts one by one, so that a refused text does not block the others."""
        if len(batch) == 1:
            log.warning("memory %d can't be embedded: %s", batch[0].id, error)
            await self._mark(batch, "failed")
            return
        for number, memory in enumerate(batch, start=1):
            await self.embed(writer, [memory])
            refused = [m.embedding_status for m in await self._now(batch[:number])]
            if number == REFUSALS and writer.embedder.remote and set(refused) == {"failed"}:
                raise EmbedderOutError(writer.name, error) from error

    async def _now(self, batch: Sequence[Memory]) -> list[Memory]:
        return list((await memories.get_many(self._database, [memory.id for memory in batch])).values())

    async def _without_vector(self, writer: OpenedEmbedder, batch: Sequence[Memory]) -> list[Memory]:
        """Return the memories without a stored vector of this model; mark the other memories as done."""
        from subconscious.store import vectors

        known = await vectors.digests(self._database, writer.model.name, [memory.id for memory in batch])
        there = [memory for memory in batch if known.get(memory.id) == digest_of(memory)]
        if there:
            await self._mark(there, "done")
        return [memory for memory in batch if memory not in there]

    async def _mark(self, batch: Sequence[Memory], status: str) -> None:
        async with self._database.write() as tx:
            await embedding_queue.set_status(tx, [memory.id for memory in batch], status)

    async def _save(
        self, tx: Any, model: str, batch: Sequence[Memory], found: numpy.ndarray, *, done: bool = False
    ) -> None:
        """Store vectors of memories. ``done``: also mark memories as done if their text is still the embedded one."""
        from subconscious.store import vectors

        rows = [
            vectors.Row(memory.id, memory.project_id or "", vector, digest_of(memory))
            for memory, vector in zip(batch, found, strict=True)
        ]
        await vectors.save(tx, model, rows)
        if done:
            now = {memory.id: digest_of(memory) for memory in await self._now(batch)}
            same = [memory.id for memory in batch if now.get(memory.id) == digest_of(memory)]
            await embedding_queue.set_status(tx, same, "done")


def text_of(said: Candidate | Memory | Waiting) -> str:
    """Return the text that is embedded for a statement: its content, rationale and tags."""
    return f"{said.content} {said.rationale} {' '.join(said.tags)}".strip()


def digest_of(memory: Memory) -> str:
    """Return a hash of the text that is embedded for a memory."""
    return hashlib.sha256(text_of(memory).encode("utf-8", "surrogatepass")).hexdigest()[:16]
