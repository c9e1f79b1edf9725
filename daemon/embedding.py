"""Embeddings in the background (SPEC B24): a memory is saved at once and found by meaning a moment later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from subconscious.embeddings import Embedder, model_of, open_embedder
from subconscious.errors import SubconsciousError
from subconscious.model import Memory
from subconscious.store import memories
from subconscious.store.connect import Database

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex

log = logging.getLogger("subconscious.daemon")

BATCH = 16
"""Memories embedded at once: small, so that a query never waits long for the processor."""

PATIENCE = 0.15
"""Seconds a query waits for the embedder while it is being loaded."""

RETRIES = (1.0, 2.0, 4.0)
"""Pauses between the tries to embed a batch (SPEC B23)."""


class Embedding:
    """The embedder and the index over its vectors, opened without holding anything up, and the loop that feeds them.

    numpy alone takes a tenth of a second to import: a session that waits for its daemon is answered by words till then.
    """

    def __init__(self, name: str, database: Database) -> None:
        self.name = name
        self.error = ""
        self.index: VectorIndex | None = None
        self._database = database
        self._embedder: Embedder | None = None
        self._loaded = asyncio.Event()
        self._wanted = asyncio.Event()

    @property
    def state(self) -> str:
        """`loading`, `ready`, `off`, or `failed` with ``error`` set."""
        if self.error:
            return "failed"
        if not self._loaded.is_set():
            return "loading"
        return "ready" if self._embedder else "off"

    def wake(self) -> None:
        """Something was stored: look for work."""
        self._wanted.set()

    async def of_query(self, text: str) -> numpy.ndarray | None:
        """A query's embedding; None while there is no embedder, for full text answers alone then."""
        if not self._loaded.is_set():
            try:
                await asyncio.wait_for(self._loaded.wait(), PATIENCE)
            except TimeoutError:
                return None
        if self._embedder is None or not text.strip():
            return None
        found: numpy.ndarray = (await asyncio.to_thread(self._embedder.embed, [text]))[0]
        return found

    async def run(self) -> None:
        """Load, then embed whatever is pending, until cancelled."""
        await self._load()
        while True:
            self._wanted.clear()
            try:
                if self._embedder is not None:
                    await self._work_off(self._embedder)
            except Exception:
                # What could not be saved is still pending: the next memory, or the next daemon, brings us back to it.
                log.exception("embeddings can't be saved")
            await self._wanted.wait()

    async def _load(self) -> None:
        try:
            self.index = await self._open_index()
            self._embedder = await asyncio.to_thread(open_embedder, self.name)
        except SubconsciousError as error:
            self.error = f"{error.message}; {error.remedy}"
            log.warning("no embeddings, recall goes by words alone: %s", self.error)
        except Exception as error:
            # Recall by words must go on whatever keeps the model or the index from being opened.
            self.error = f"no embeddings: {error}; restart with `subconscious daemon stop`"
            log.exception("no embeddings, recall goes by words alone")
        finally:
            self._loaded.set()

    async def _open_index(self) -> VectorIndex | None:
        """Open the index; vectors of another model are made anew in the background."""
        model = model_of(self.name)
        if model is None:
            return None
        vectors = await asyncio.to_thread(import_module, "subconscious.store.vectors")
        async with self._database.write() as tx:
            await vectors.requeue(tx, model.name)
        index: VectorIndex = await vectors.open_index(self._database, model.name, model.dim)
        return index

    async def refresh(self, ids: Sequence[int]) -> None:
        """Tell the index which memories have changed; one that is not open yet reads the truth when it is."""
        if self.index is not None:
            await self.index.refresh(ids)

    async def rebuild(self) -> None:
        """Make the index's file anew, so that no page of it keeps a vector of what is gone."""
        await self._loaded.wait()
        vectors = await asyncio.to_thread(import_module, "subconscious.store.vectors")
        index, self.index = self.index, None
        if index is not None:
            await index.close()
        await asyncio.to_thread(vectors.forget_index, self._database)
        if index is not None:
            self.index = await self._open_index()
        self.wake()

    async def _work_off(self, embedder: Embedder) -> None:
        while batch := await memories.unembedded(self._database, BATCH):
            if not await self._embed(embedder, batch):
                return

    async def _embed(self, embedder: Embedder, batch: Sequence[Memory]) -> bool:
        """Embed one batch; after the last try its memories are marked failed and stay findable by words."""
        for pause in (*RETRIES, None):
            try:
                found = await asyncio.to_thread(embedder.embed, [text_of(memory) for memory in batch])
            except Exception:
                # Whatever the model's runtime throws must not end the loop: the batch is tried again, then set aside.
                log.exception("embedding of %d memories failed", len(batch))
                if pause is not None:
                    await asyncio.sleep(pause)
                continue
            await self._save(embedder, batch, found)
            return True
        async with self._database.write() as tx:
            await memories.mark_embedding(tx, [memory.id for memory in batch], "failed")
        return True

    async def _save(self, embedder: Embedder, batch: Sequence[Memory], found: numpy.ndarray) -> None:
        ids = [memory.id for memory in batch]
        from subconscious.store import vectors

        rows = [
            vectors.Row(memory.id, memory.project_id or "", vector) for memory, vector in zip(batch, found, strict=True)
        ]
        async with self._database.write() as tx:
            await vectors.save(tx, embedder.name, rows)
            await memories.mark_embedding(tx, ids, "done")
        await self.refresh(ids)

    async def close(self) -> None:
        """Let the model and the index go."""
        if self._embedder is not None:
            await asyncio.to_thread(self._embedder.close)
        if self.index is not None:
            await self.index.close()


def text_of(memory: Memory) -> str:
    """What of a memory is embedded."""
    return f"{memory.content} {memory.rationale} {' '.join(memory.tags)}".strip()
