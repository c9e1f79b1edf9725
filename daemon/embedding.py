"""Embeddings in the background: a memory is saved at once and found by meaning a moment later.

The embedder that was chosen, then the local one, then words alone (``chain``). Which model answers questions, and how
another takes its place, stands in ``serving``; how memories get their vectors, in ``batches``.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING, Any

from subconscious.capture import judge, relation
from subconscious.embeddings import NONE, Access, Embedder
from subconscious.errors import EmbedderBusyError, EmbedderError, SubconsciousError
from subconscious.store import embedding_queue
from subconscious.store.connect import Database
from subconscious.transcripts import spoken_words

from . import heap
from .batches import Batches, OutError
from .chain import Chain, Opened
from .sense import Manners, Sense
from .serving import Serving

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex

log = logging.getLogger("subconscious.daemon")

TROUBLES = 3
"""Questions in a row that fail before the next in the chain serves."""

LONGEST_REST = 300.0
"""Seconds after which it is looked whether an embedder may be tried again, whatever became of the clock."""

IDLE_SECONDS = 600.0
"""Seconds without use after which the local model is unloaded: it is most of what an idle daemon holds in memory."""

RUNTIME = ("onnxruntime", "openblas")
"""Libraries that nothing uses while the models are unloaded."""

OPENING = 60.0
"""Seconds in which an index should be open."""


class Embedding:
    """The embedders and the indexes over their vectors, opened without holding anything up; the loop that feeds them.

    numpy alone takes a tenth of a second to import: a session that waits for its daemon is answered by words till then.
    """

    def __init__(
        self, name: str, database: Database, access: Access | None = None, manners: Manners | None = None
    ) -> None:
        self.name = name
        self.tokens = 0
        self._purse = (manners or Manners()).purse
        self._chain = Chain(name, replace(access or Access(), spent=self._spent), database)
        self._serving = Serving(database, self._chain, manners or Manners(), self._trouble_with)
        self._batches = Batches(database, self._purse, self._serving.refresh)
        self._database = database
        self._broken: SubconsciousError | None = None
        self._troubles = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loaded = asyncio.Event()
        self._wanted = asyncio.Event()
        # Set after each round, also one that had nothing to do: what was stored has its vector, or will have none soon.
        self.settled = asyncio.Event()
        # Called after something was stored or changed.
        self.on_change: Callable[[], None] = lambda: None
        self._payments: set[asyncio.Task[None]] = set()

    @property
    def sense(self) -> Sense:
        """The model that serves."""
        return self._serving.sense

    @property
    def index(self) -> VectorIndex | None:
        """The index that serves; None while it is being opened."""
        return self.sense.index

    @property
    def trouble(self) -> SubconsciousError | None:
        """What keeps the chosen embedder from being used."""
        outage = self._chain.outage
        return outage.error if outage else self._broken

    @property
    def error(self) -> str:
        """The trouble in words, and what serves instead; "" if there is none."""
        if self.trouble is None:
            return ""
        said = f"{self.trouble.message}; {self.trouble.remedy}"
        return f"{said}; meanwhile {self._serving.writer.name} serves" if self._serving.writer else said

    @property
    def state(self) -> str:
        """`loading`, `ready`, `off`, `fallback` or `failed`, the latter two with ``error`` set."""
        if not self._loaded.is_set():
            return "loading"
        if self.name == NONE:
            return "off"
        if self.trouble:
            return "fallback" if self._serving.writer else "failed"
        return "ready" if self._serving.writer else "loading"

    @property
    def told(self) -> dict[str, Any]:
        """What `status` says of it, but for what the store knows."""
        writer, outage = self._serving.writer, self._chain.outage
        return {
            "name": self.name,
            "state": self.state,
            "model": self.sense.model,
            "coming": writer.model.name if writer and writer.model.name != self.sense.model else "",
            "error": self.error,
            "code": self.trouble.code if self.trouble else "",
            "retry_at": outage.until if outage and math.isfinite(outage.until) else None,
            "tokens": self.tokens,
        }

    async def opened(self) -> None:
        """Wait until there is an index, or it is known that there will be none."""
        if self.name != NONE and self.index is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._loaded.wait(), OPENING)

    async def for_captures(self) -> Embedder | None:
        """Return the embedder that serves, once it is there: what is captured is not urgent and waits for it."""
        if self.sense.embedder is None and self._loop is not None and self.name != NONE:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._loaded.wait(), OPENING)
        return self.sense.embedder

    def warm_up(self) -> None:
        """Load the local model in the background, if it was unloaded: a session begins."""
        self.sense.warm_up()

    async def cool_down(self) -> None:
        """Free what only makes questions quicker, where nobody has asked for a while: the local model above all."""
        if not self.sense.cool_down(IDLE_SECONDS):
            return
        judge.unload()
        relation.clear()
        spoken_words.forget()
        heap.empty_caches()
        if self.index is not None:
            await self.index.shrink()
        await self._database.shrink()
        heap.drop_libraries(RUNTIME)
        heap.trim()

    def wake(self) -> None:
        """Something was stored: look for work."""
        self.on_change()
        self._wanted.set()

    def use_key(self, key: str) -> None:
        """Take over a key that came with a session: an embedder that was refused is tried again with it."""
        if self._chain.use_key(key):
            self.wake()

    async def retry(self) -> int:
        """Forget what went wrong and try again now; return how many memories wait for their vector."""
        self._chain.forgive()
        async with self._database.write() as tx:
            await embedding_queue.retry(tx)
        self.wake()
        return (await embedding_queue.backlog(self._database)).get("pending", 0)

    async def of_query(self, text: str) -> numpy.ndarray | None:
        """A question's embedding by the model that serves (see Sense)."""
        return await self.sense.asked(text)

    async def refresh(self, ids: Sequence[int]) -> None:
        """Tell the indexes which memories have changed."""
        if ids:
            self.on_change()
        await self._serving.refresh(ids)

    async def rebuild(self) -> None:
        """Make the files of the indexes anew, so that no page of them keeps a vector of what is gone."""
        await self._loaded.wait()
        await self._serving.rebuild()
        self.wake()

    async def run(self) -> None:
        """Load, then embed whatever is pending, until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            self._wanted.clear()
            try:
                await self._round()
                self._broken = None
            except OutError as out:
                self._set_out(out.name, out.error)
                continue
            except SubconsciousError as error:
                self._broken = None if self._serving.writer else error
                log.warning("embeddings can't be made or saved: %s; %s", error.message, error.remedy)
            except Exception as error:
                # Recall by words must continue after any error of the model or the index.
                # What could not be saved is still pending: the next memory, or the next daemon, brings us back to it.
                log.exception("embeddings can't be made or saved")
                if self._serving.writer is None:
                    remedy = "restart with `subconscious daemon stop`"
                    self._broken = SubconsciousError(f"no embeddings: {error}", remedy)
            if self._serving.writer is None:
                self.sense.awake(None)
            self._loaded.set()
            self.settled.set()
            await self._rest()

    async def _rest(self) -> None:
        """Wait for work, or until an embedder that was out may be tried again."""
        until = self._chain.next_try
        with suppress(TimeoutError):
            pause = None if until is None else min(LONGEST_REST, max(0.01, until - time()))
            await asyncio.wait_for(self._wanted.wait(), pause)

    async def _round(self) -> None:
        """Embed what is pending by the first of the chain that can, and let it serve when it has all."""
        if self.name == NONE:
            return
        if not self.sense.model:
            await self._serving.resume()
        writer = await self._chain.first(self._serving.writer)
        self._serving.write_with(writer)
        if writer is None:
            return
        if not self._serving.aims_at(writer):
            await self._serving.aim(writer)
        self._loaded.set()
        if await self._work_off(writer):
            await self._serving.arrive()

    def _set_out(self, name: str, error: EmbedderError) -> None:
        """The embedder in use can't be used any more."""
        self._chain.set_out(name, error)
        self._serving.lose_writer()

    def _trouble_with(self, name: str, error: EmbedderError) -> None:
        """A question could not be embedded; the loop sees to it, not who asked."""
        self._troubles = self._troubles + 1 if isinstance(error, EmbedderBusyError) else TROUBLES
        if self._troubles >= TROUBLES and self._serving.writer is not None and self._serving.writer.name == name:
            self._troubles = 0
            self._set_out(name, error)
            self.wake()

    async def _work_off(self, writer: Opened) -> bool:
        """Embed what is pending; False when another should go on with it."""
        fresh = True
        while True:
            if self._serving.coming is not None and (fresh or self._wanted.is_set()):
                self._wanted.clear()
                await self._batches.keep_up(self.sense)
            fresh = False
            batch = await embedding_queue.unembedded(self._database, writer.embedder.batch)
            if not batch:
                return True
            if next(self._chain.usable(), "") != writer.name:
                self.wake()  # the preferred one may be back
                return False
            await self._batches.embed(writer, batch)

    def _spent(self, embedder: str, model: str, tokens: int) -> None:
        """Called from the embedders' threads."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._record, embedder, model, tokens)

    def _record(self, embedder: str, model: str, tokens: int) -> None:
        self.tokens += tokens
        task = asyncio.ensure_future(self._purse.spent(embedder, model, tokens))
        self._payments.add(task)
        task.add_done_callback(self._payments.discard)

    async def close(self) -> None:
        """Let the models and the indexes go."""
        for task in self._payments:
            task.cancel()
        await asyncio.gather(*self._payments, return_exceptions=True)
        await self._serving.close()
