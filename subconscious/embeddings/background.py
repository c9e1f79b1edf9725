"""Embeds memories in the background: a memory is stored at once, and found by meaning a moment later.

The chosen embedder is used; failing that, the local one; failing that, full-text search only (`embedder_fallback.py`).
`model_switch.py` decides which model embeds queries and how another model replaces it; `batches.py` computes the
vectors of memories.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING

from subconscious.domain.errors import EmbedderBusyError, EmbedderError, SubconsciousError
from subconscious.embeddings.batches import Batches, EmbedderOutError
from subconscious.embeddings.embedder import NONE, Access, Embedder
from subconscious.embeddings.embedder_fallback import EmbedderChain, OpenedEmbedder
from subconscious.embeddings.model_switch import ModelSwitch
from subconscious.embeddings.query_embedder import QueryEmbedder, RemoteOptions
from subconscious.store import embedding_queue
from subconscious.store.connect import Database
from subconscious.system import heap
from subconscious.transcripts import spoken_words
from subconscious.wire.daemon import EmbedderState

if TYPE_CHECKING:
    from subconscious.store.vectors import VectorIndex

log = logging.getLogger("subconscious.embeddings")

MAX_FAILED_QUERIES = 3
"""The next embedder takes over after this many queries in a row failed because the current one was busy.

After any other error, it takes over at once.
"""

LONGEST_REST = 300.0
"""The most seconds before an unavailable embedder is checked again, even if the clock was changed."""

IDLE_SECONDS = 600.0
"""Seconds without use after which the local model is unloaded, because it takes most of an idle daemon's memory."""

RUNTIME = ("onnxruntime", "openblas")
"""Names of libraries whose pages can be dropped from memory while the models are unloaded."""

OPENING = 60.0
"""The most seconds to wait for an index; opening one normally takes less."""


class Embedding:
    """The embedders and their vector indexes, opened in the background, and the loop that embeds pending memories.

    Importing numpy alone takes a tenth of a second. Until an embedder is ready, searches return full-text results.
    """

    def __init__(
        self, name: str, database: Database, access: Access | None = None, options: RemoteOptions | None = None
    ) -> None:
        self.name = name
        self.tokens = 0
        self._budget = (options or RemoteOptions()).budget
        self._chain = EmbedderChain(name, replace(access or Access(), spent=self._spent), database)
        self._switch = ModelSwitch(database, self._chain, options or RemoteOptions(), self._on_query_answer)
        self._batches = Batches(database, self._budget, self._switch.refresh)
        self._database = database
        self._broken: SubconsciousError | None = None
        self._failed_queries = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loaded = asyncio.Event()
        self._wanted = asyncio.Event()
        # Set after each round, even a round without work: then each memory has a vector, or will not get one soon.
        self.settled = asyncio.Event()
        # Called after a memory was stored or changed.
        self.on_change: Callable[[], None] = lambda: None
        # Called after a time without requests: unloads other models and caches.
        self.on_idle: Sequence[Callable[[], None]] = ()
        self._payments: set[asyncio.Task[None]] = set()

    @property
    def current(self) -> QueryEmbedder:
        """The embedder and index of the model that answers queries."""
        return self._switch.current

    @property
    def index(self) -> VectorIndex | None:
        """The index of the current model; None while it is being opened."""
        return self.current.index

    @property
    def trouble(self) -> SubconsciousError | None:
        """The error that makes the chosen embedder unusable; None if it can be used."""
        outage = self._chain.outage
        return outage.error if outage else self._broken

    @property
    def error(self) -> str:
        """The message and remedy of ``trouble``, and the embedder that is used instead; "" without trouble."""
        if self.trouble is None:
            return ""
        message = f"{self.trouble.message}; {self.trouble.remedy}"
        return f"{message}; {self._switch.writer.name} is used meanwhile" if self._switch.writer else message

    @property
    def state(self) -> str:
        """The state: `loading`, `ready`, `off`, `fallback` or `failed`; for the last two, ``error`` is set."""
        if not self._loaded.is_set():
            return "loading"
        if self.name == NONE:
            return "off"
        if self.trouble:
            return "fallback" if self._switch.writer else "failed"
        return "ready" if self._switch.writer else "loading"

    @property
    def status(self) -> EmbedderState:
        """The state of the embeddings for the `status` command, without the counts from the store."""
        writer, outage = self._switch.writer, self._chain.outage
        return {
            "name": self.name,
            "state": self.state,
            "model": self.current.model,
            "coming": writer.model.name if writer and writer.model.name != self.current.model else "",
            "error": self.error,
            "code": self.trouble.code if self.trouble else "",
            "retry_at": outage.until if outage and math.isfinite(outage.until) else None,
            "tokens": self.tokens,
        }

    async def wait_until_open(self) -> None:
        """Wait, at most ``OPENING`` seconds, until a vector index is open or it is certain that there will be none."""
        if self.name != NONE and self.index is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._loaded.wait(), OPENING)

    async def loaded_embedder(self) -> Embedder | None:
        """Return the current embedder after waiting for it, at most ``OPENING`` seconds; None if there is none."""
        if self.current.embedder is None and self._loop is not None and self.name != NONE:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._loaded.wait(), OPENING)
        return self.current.embedder

    def warm_up(self) -> None:
        """Load the local model in the background if it was unloaded, because a session begins."""
        self.current.warm_up()

    async def cool_down(self) -> None:
        """Unload the local model and drop caches for queries if the model has been unused for ``IDLE_SECONDS``."""
        if not self.current.cool_down(IDLE_SECONDS):
            return
        for unload in self.on_idle:
            unload()
        spoken_words.forget()
        heap.empty_caches()
        if self.index is not None:
            await self.index.shrink()
        await self._database.shrink()
        heap.drop_libraries(RUNTIME)
        heap.trim()

    def wake(self) -> None:
        """Wake the loop after a memory was stored."""
        self.on_change()
        self._wanted.set()

    def use_key(self, key: str) -> None:
        """Use a key from a session's environment. An embedder that refused another key is tried again with this one."""
        if self._chain.use_key(key):
            self.wake()

    async def retry(self) -> int:
        """Clear recorded failures and retry now; return how many memories wait for a vector."""
        self._chain.clear_outages()
        async with self._database.write() as tx:
            await embedding_queue.retry(tx)
        self.wake()
        return (await embedding_queue.counts(self._database)).get("pending", 0)

    async def refresh(self, ids: Sequence[int]) -> None:
        """Update the vector indexes for changed memories."""
        if ids:
            self.on_change()
        await self._switch.refresh(ids)

    async def rebuild(self) -> None:
        """Rewrite the vector index files, so that no page of a file contains a vector of a deleted memory."""
        await self._loaded.wait()
        await self._switch.rebuild()
        self.wake()

    async def run(self) -> None:
        """Load the models, then embed pending memories, until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            self._wanted.clear()
            try:
                await self._round()
                self._broken = None
            except EmbedderOutError as out:
                self._suspend(out.name, out.error)
                continue
            except SubconsciousError as error:
                self._broken = None if self._switch.writer else error
                log.warning("embeddings can't be made or saved: %s; %s", error.message, error.remedy)
            except Exception as error:
                # Full-text search must continue after any error of the model or the index. Memories without a saved
                # vector stay pending: the next round, or the next daemon, tries them again.
                log.exception("embeddings can't be made or saved")
                if self._switch.writer is None:
                    remedy = "to restart the daemon, run `subconscious daemon stop`"
                    self._broken = SubconsciousError(f"no embeddings: {error}", remedy)
            if self._switch.writer is None:
                self.current.set_embedder(None)
            self._loaded.set()
            self.settled.set()
            await self._wait_for_work()

    async def _wait_for_work(self) -> None:
        """Wait for work, or until an unavailable embedder may be tried again."""
        until = self._chain.next_try
        with suppress(TimeoutError):
            pause = None if until is None else min(LONGEST_REST, max(0.01, until - time()))
            await asyncio.wait_for(self._wanted.wait(), pause)

    async def _round(self) -> None:
        """Embed pending memories with the first usable embedder; then also use that embedder for queries."""
        if self.name == NONE:
            return
        if not self.current.model:
            await self._switch.resume()
        writer = await self._chain.first(self._switch.writer)
        self._switch.use_writer(writer)
        if writer is None:
            return
        if not self._switch.is_target(writer):
            await self._switch.switch_to(writer)
        self._loaded.set()
        if await self._embed_pending(writer):
            await self._switch.finish_switch()

    def _suspend(self, name: str, error: EmbedderError) -> None:
        """Stop using an embedder for a time after an error."""
        self._chain.suspend(name, error)
        self._switch.drop_writer()

    def _on_query_answer(self, name: str, error: EmbedderError | None) -> None:
        """Count the queries that failed in a row; after several, make the loop switch to the next embedder."""
        if error is None:
            self._failed_queries = 0
            return
        self._failed_queries = self._failed_queries + 1 if isinstance(error, EmbedderBusyError) else MAX_FAILED_QUERIES
        if (
            self._failed_queries >= MAX_FAILED_QUERIES
            and self._switch.writer is not None
            and self._switch.writer.name == name
        ):
            self._failed_queries = 0
            self._suspend(name, error)
            self.wake()

    async def _embed_pending(self, writer: OpenedEmbedder) -> bool:
        """Embed pending memories; return False if another embedder should continue."""
        fresh = True
        while True:
            if self._switch.upcoming is not None and (fresh or self._wanted.is_set()):
                self._wanted.clear()
                await self._batches.embed_for_current(self.current)
            fresh = False
            batch = await embedding_queue.waiting(self._database, writer.embedder.batch)
            if not batch:
                return True
            if next(self._chain.usable(), "") != writer.name:
                self.wake()  # a preferred embedder may be available again
                return False
            await self._batches.embed(writer, batch)

    def _spent(self, embedder: str, model: str, tokens: int) -> None:
        """Record tokens that an embedder used; called from the embedders' threads."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._record, embedder, model, tokens)

    def _record(self, embedder: str, model: str, tokens: int) -> None:
        self.tokens += tokens
        task = asyncio.ensure_future(self._budget.spent(embedder, model, tokens))
        self._payments.add(task)
        task.add_done_callback(self._payments.discard)

    async def close(self) -> None:
        """Close the models and the indexes."""
        for task in self._payments:
            task.cancel()
        await asyncio.gather(*self._payments, return_exceptions=True)
        await self._switch.close()
