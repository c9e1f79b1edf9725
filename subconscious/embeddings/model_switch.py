"""Switches from one embedding model to another while search keeps working.

One model embeds queries at a time. When another model is chosen, its vectors are computed while the old ones stay in
use, and it takes over when every memory has a vector of the new model. If the old model can no longer embed queries,
the new model takes over at once, with the vectors that exist.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from subconscious.domain.errors import EmbedderError
from subconscious.embeddings.embedder import FALLBACK, model_of
from subconscious.embeddings.embedder_fallback import EmbedderChain, OpenedEmbedder
from subconscious.embeddings.query_embedder import QueryEmbedder, RemoteOptions
from subconscious.store import embedding_models, embedding_queue
from subconscious.store.connect import Database
from subconscious.store.embedding_models import EmbeddingModel

if TYPE_CHECKING:
    from subconscious.store.vectors import VectorIndex

log = logging.getLogger("subconscious.embeddings")

RETIREMENT = 60.0
"""Seconds for which a replaced model stays open, so that running queries can finish."""


class ModelSwitch:
    """The current model and the upcoming model, each with its vector index.

    ``writer`` is the embedder that computes new vectors. ``on_answer`` is called after each request to a
    remote embedder for the vector of a query, with the embedder's name and the error (None if there was none).
    """

    def __init__(
        self,
        database: Database,
        chain: EmbedderChain,
        options: RemoteOptions,
        on_answer: Callable[[str, EmbedderError | None], None],
    ) -> None:
        self.current = QueryEmbedder("", None, options)
        self.upcoming: QueryEmbedder | None = None
        self.writer: OpenedEmbedder | None = None
        self._database = database
        self._chain = chain
        self._options = options
        self._on_answer = on_answer
        self._is_tidy = False
        self._retiring = 0
        # For each index that is being opened: the ids of memories that change meanwhile.
        self._missed: dict[int, set[int]] = {}
        self._retirements: set[asyncio.Task[None]] = set()

    async def refresh(self, ids: Sequence[int]) -> None:
        """Update the indexes for changed memories."""
        for missed in self._missed.values():
            missed.update(ids)
        for model in (self.current, self.upcoming):
            if model is not None and model.index is not None:
                await model.index.refresh(ids)
                model.found.clear()

    async def rebuild(self) -> None:
        """Rewrite the files of the indexes, so that no unused part of a file keeps a vector of a deleted memory."""
        vectors = await asyncio.to_thread(import_module, "subconscious.store.vectors")
        opened = [model for model in (self.current, self.upcoming) if model is not None]
        for model in opened:
            index, model.index = model.index, None
            model.found.clear()
            if index is not None:
                await index.close()
        await asyncio.to_thread(vectors.sweep, self._database, [])
        for model in opened:
            known = await embedding_models.get(self._database, model.model)
            if known is not None:
                model.index = (await self.open_model(known)).index

    async def resume(self) -> None:
        """Open the index of the model that was last in use."""
        await asyncio.to_thread(import_module, "subconscious.store.vectors")
        known = await embedding_models.in_use(self._database)
        if known is not None:
            self.current = await self.open_model(known)

    async def open_model(self, model: EmbeddingModel) -> QueryEmbedder:
        """Open a model's index, without its embedder."""
        from subconscious.store import vectors

        missed: set[int] = set()
        self._missed[id(missed)] = missed
        try:
            index = await vectors.open_index(self._database, model.name, model.dim)
            await _catch_up(index, missed)
        finally:
            del self._missed[id(missed)]
        return QueryEmbedder(model.name, index, self._options)

    def use_writer(self, opened: OpenedEmbedder | None) -> None:
        """Use ``opened`` for new vectors from now on; close the previous embedder if queries no longer use it."""
        if opened is not self.writer:
            self._close_unused(self.writer)
            self.writer = opened

    def drop_writer(self) -> None:
        """Stop using the current embedder of new vectors after an error."""
        embedder = self.current.embedder
        if embedder is not None and embedder.remote:
            # Queries would use the same connection, even for an older model.
            self.current.set_embedder(None)
            embedder.close()
        self._close_unused(self.writer)
        self.writer = None

    def _close_unused(self, opened: OpenedEmbedder | None) -> None:
        """Close an embedder if it does not embed queries."""
        if opened is not None and opened.embedder is not self.current.embedder:
            opened.embedder.close()

    def is_target(self, writer: OpenedEmbedder) -> bool:
        """Whether ``writer`` has the upcoming model (if none: the current one), and queries have an embedder."""
        return (self.upcoming or self.current).model == writer.model.name and self.current.embedder is not None

    async def switch_to(self, writer: OpenedEmbedder) -> None:
        """Queue all memories for the model of ``writer``; decide which model embeds queries until all have vectors."""
        from subconscious.store import vectors

        self._is_tidy = False
        await self._drop_upcoming()
        async with self._database.write() as tx:
            waiting = await vectors.requeue(tx, writer.model.name)
        if self.current.model == writer.model.name:
            before = self.current.embedder
            self._set_embedder(self.current, writer)
            if before is not None and before is not writer.embedder:
                before.close()
            return
        # Set before the old model is checked, so that the new index receives all changes from now on.
        self.upcoming = upcoming = await self.open_model(writer.model)
        self._set_embedder(upcoming, writer)
        if await self._can_current_embed():
            log.info(
                "%d memories will be embedded for %s; %s stays in use meanwhile",
                waiting,
                writer.model.name,
                self.current.model,
            )
        else:
            await self.serve(upcoming)

    def _set_embedder(self, queries: QueryEmbedder, opened: OpenedEmbedder) -> None:
        queries.set_embedder(opened.embedder)
        queries.on_answer = lambda error: self._on_answer(opened.name, error)

    async def _can_current_embed(self) -> bool:
        """Whether the current model can embed queries; it is reopened if necessary."""
        if self.current.embedder is not None:
            return True
        known = await embedding_models.in_use(self._database)
        old = await self._chain.reopen(known) if known is not None else None
        if old is not None:
            self._set_embedder(self.current, old)
        return old is not None

    async def serve(self, replacement: QueryEmbedder) -> None:
        """Answer queries with another model.

        The switch is recorded first, so that a killed daemon restarts with the new model.
        """
        async with self._database.write() as tx:
            await embedding_models.put_in_use(tx, replacement.model)
        old, self.current, self.upcoming = self.current, replacement, None
        log.info("%s is in use", replacement.model)
        self._retiring += 1
        task = asyncio.ensure_future(self._retire(old))
        self._retirements.add(task)
        task.add_done_callback(self._retirements.discard)

    async def _retire(self, old: QueryEmbedder) -> None:
        try:
            await asyncio.sleep(RETIREMENT)
        finally:
            self._retiring -= 1
            await old.close()
        if not await embedding_queue.waiting(self._database, 1):
            await self._tidy_up()

    async def finish_switch(self) -> None:
        """Switch to the upcoming model, because all memories have a vector of it or can't have one."""
        if self.upcoming is not None:
            await self.serve(self.upcoming)
        if not self._retiring:
            await self._tidy_up()

    async def _tidy_up(self) -> None:
        """Delete the vectors of other models after a switch, when the chosen model answers all queries."""
        writer = self.writer
        if (
            self._is_tidy
            or writer is None
            or writer.name != self._chain.name
            or writer.model.name != self.current.model
        ):
            return
        from subconscious.store import vectors

        self._is_tidy = True
        # Vectors of the fallback model are kept beside a remote embedder's: the next outage needs them at once.
        fallback = model_of(FALLBACK) if writer.embedder.remote else None
        kept = (writer.model.name, *([fallback.name] if fallback else []))
        gone = await embedding_models.delete_others(self._database, kept)
        await asyncio.to_thread(vectors.sweep, self._database, [writer.model.name])
        if gone:
            log.info("deleted %d vectors of other models", gone)

    async def _drop_upcoming(self) -> None:
        """Drop the upcoming model; its vectors are kept, in case it is chosen again."""
        if self.upcoming is not None and self.upcoming.index is not None:
            await self.upcoming.index.close()
        self.upcoming = None

    async def close(self) -> None:
        """Close all models and vector indexes, including replaced ones."""
        for task in self._retirements:
            task.cancel()
        await asyncio.gather(*self._retirements, return_exceptions=True)
        self._close_unused(self.writer)
        await self._drop_upcoming()
        await self.current.close()


async def _catch_up(index: VectorIndex, missed: set[int]) -> None:
    """Add the memories that changed while an index was being opened; if that fails, close the index."""
    try:
        while missed:
            ids = list(missed)
            missed.clear()
            await index.refresh(ids)
    except BaseException:  # also on cancellation: nothing else could close the index
        await index.close()
        raise
