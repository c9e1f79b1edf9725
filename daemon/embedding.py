"""Embeddings in the background (SPEC B22-B25): a memory is saved at once and found by meaning a moment later.

The embedder that was chosen, then the local one, then words alone. One model serves at a time. When another is wanted
its vectors are made beside those that serve, and it serves when it has one of every memory; if the old one can't embed
questions any more, it serves at once with those that it has.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Any

from subconscious.embeddings import FALLBACK, NONE, Access, model_of
from subconscious.errors import EmbedderBusyError, EmbedderError, EmbedderTextError, SubconsciousError
from subconscious.flow import merging
from subconscious.model import Memory
from subconscious.store import memories, models
from subconscious.store.connect import Database
from subconscious.store.models import Known

from .chain import LONGEST_PAUSE, RETRIES, Chain, Opened
from .sense import CHARACTERS_A_TOKEN, Manners, Sense, account, in_thread

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex

log = logging.getLogger("subconscious.daemon")

TROUBLES = 3
"""Questions in a row that fail before the next in the chain serves."""

REFUSALS = 5
"""Single texts in a row that are refused: then it is not the texts."""

RETIREMENT = 60.0
"""Seconds for which what served before goes on answering those who have just begun to ask it."""


OPENING = 60.0
"""Seconds in which an index should be open."""


class _OutError(Exception):
    """The embedder in use can't be used any more; the next in the chain takes over."""


class Embedding:
    """The embedders and the indexes over their vectors, opened without holding anything up; the loop that feeds them.

    numpy alone takes a tenth of a second to import: a session that waits for its daemon is answered by words till then.
    """

    def __init__(
        self, name: str, database: Database, access: Access | None = None, manners: Manners | None = None
    ) -> None:
        self.name = name
        self.tokens = 0
        self.sense = Sense("", None, manners or Manners())
        self._manners = manners or Manners()
        self._chain = Chain(name, replace(access or Access(), spent=self._spent), database)
        self._database = database
        self._broken: SubconsciousError | None = None
        self._writer: Opened | None = None
        self._coming: Sense | None = None
        self._tidy = False
        self._retiring = 0
        self._missed: set[int] | None = None
        self._troubles = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loaded = asyncio.Event()
        self._wanted = asyncio.Event()
        # Set after each round, also one that had nothing to do: what was stored has its vector, or will have none soon.
        self.settled = asyncio.Event()
        self._aside: set[asyncio.Task[None]] = set()

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
        return f"{said}; meanwhile {self._writer.name} serves" if self._writer else said

    @property
    def state(self) -> str:
        """`loading`, `ready`, `off`, `fallback` or `failed`, the latter two with ``error`` set."""
        if not self._loaded.is_set():
            return "loading"
        if self.name == NONE:
            return "off"
        if self.trouble:
            return "fallback" if self._writer else "failed"
        return "ready" if self._writer else "loading"

    @property
    def told(self) -> dict[str, Any]:
        """What `status` says of it, but for what the store knows."""
        writer, outage = self._writer, self._chain.outage
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

    def wake(self) -> None:
        """Something was stored: look for work."""
        self._wanted.set()

    def use_key(self, key: str) -> None:
        """Take over a key that came with a session (SPEC N14): an embedder that was refused is tried again with it."""
        if self._chain.use_key(key):
            self.wake()

    async def retry(self) -> int:
        """Forget what went wrong and try again now (SPEC B25); return how many memories wait for their vector."""
        self._chain.forgive()
        async with self._database.write() as tx:
            await memories.retry_embedding(tx)
        self.wake()
        return (await memories.embedding_backlog(self._database)).get("pending", 0)

    async def of_query(self, text: str) -> numpy.ndarray | None:
        """A question's embedding by the model that serves (see Sense)."""
        return await self.sense.asked(text)

    async def refresh(self, ids: Sequence[int]) -> None:
        """Tell the indexes which memories have changed."""
        if self._missed is not None:
            self._missed.update(ids)
        for sense in (self.sense, self._coming):
            if sense is not None and sense.index is not None:
                await sense.index.refresh(ids)

    async def rebuild(self) -> None:
        """Make the files of the indexes anew, so that no page of them keeps a vector of what is gone (SPEC N15)."""
        await self._loaded.wait()
        vectors = await asyncio.to_thread(import_module, "subconscious.store.vectors")
        senses = [sense for sense in (self.sense, self._coming) if sense is not None]
        for sense in senses:
            index, sense.index = sense.index, None
            if index is not None:
                await index.close()
        await asyncio.to_thread(vectors.sweep, self._database, [])
        for sense in senses:
            known = await models.named(self._database, sense.model)
            if known is not None:
                sense.index = (await self._sense_of(known)).index
        self.wake()

    async def run(self) -> None:
        """Load, then embed whatever is pending, until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            self._wanted.clear()
            try:
                await self._round()
                self._broken = None
            except _OutError:
                continue
            except SubconsciousError as error:
                self._broken = None if self._writer else error
                log.warning("embeddings can't be made or saved: %s; %s", error.message, error.remedy)
            except Exception as error:
                # Recall by words must go on whatever keeps the model or the index from being opened or written.
                # What could not be saved is still pending: the next memory, or the next daemon, brings us back to it.
                log.exception("embeddings can't be made or saved")
                if self._writer is None:
                    remedy = "restart with `subconscious daemon stop`"
                    self._broken = SubconsciousError(f"no embeddings: {error}", remedy)
            if self._writer is None:
                self.sense.awake(None)
            self._loaded.set()
            self.settled.set()
            await self._rest()

    async def _rest(self) -> None:
        """Wait for work, or until an embedder that was out may be tried again."""
        until = self._chain.next_try
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), None if until is None else max(0.01, until - time()))

    async def _round(self) -> None:
        """Embed what is pending by the first of the chain that can, and let it serve when it has all."""
        if self.name == NONE:
            return
        if not self.sense.model:
            await self._resume()
        writer = await self._writer_now()
        if writer is None:
            return
        if not self._aims_at(writer):
            await self._aim(writer)
        self._loaded.set()
        if await self._work_off(writer):
            await self._arrive()

    async def _resume(self) -> None:
        """Open the index of the model that served last."""
        await asyncio.to_thread(import_module, "subconscious.store.vectors")
        known = await models.serving(self._database)
        if known is not None:
            self.sense = await self._sense_of(known)

    async def _sense_of(self, model: Known) -> Sense:
        from subconscious.store import vectors

        self._missed = set()
        index = await vectors.open_index(self._database, model.name, model.dim)
        # What changed while it was opened may be missing from it.
        while self._missed:
            ids, self._missed = list(self._missed), set()
            await index.refresh(ids)
        self._missed = None
        return Sense(model.name, index, self._manners)

    # Who writes

    async def _writer_now(self) -> Opened | None:
        """The first of the chain that can be used."""
        opened = await self._chain.first(self._writer)
        if opened is not self._writer:
            self._let_go_of(self._writer)
            self._writer = opened
        return opened

    def _set_out(self, name: str, error: EmbedderError) -> None:
        """The embedder in use can't be used any more."""
        self._chain.set_out(name, error)
        embedder = self.sense.embedder
        if embedder is not None and embedder.remote:
            # Questions would go the same way, be it for an older model.
            self.sense.awake(None)
            embedder.close()
        self._let_go_of(self._writer)
        self._writer = None

    def _trouble_with(self, name: str, error: EmbedderError) -> None:
        """A question could not be embedded; the loop sees to it, not who asked."""
        self._troubles = self._troubles + 1 if isinstance(error, EmbedderBusyError) else TROUBLES
        if self._troubles >= TROUBLES and self._writer is not None and self._writer.name == name:
            self._troubles = 0
            self._set_out(name, error)
            self.wake()

    def _let_go_of(self, opened: Opened | None) -> None:
        """Close an embedder, unless it still embeds questions."""
        if opened is not None and opened.embedder is not self.sense.embedder:
            opened.embedder.close()

    # Who serves

    def _aims_at(self, writer: Opened) -> bool:
        return (self._coming or self.sense).model == writer.model.name and self.sense.embedder is not None

    async def _aim(self, writer: Opened) -> None:
        """Make this model's vectors from now on; see who serves until there are enough of them."""
        from subconscious.store import vectors

        self._tidy = False
        await self._drop_coming()
        async with self._database.write() as tx:
            waiting = await vectors.requeue(tx, writer.model.name)
        if self.sense.model == writer.model.name:
            before = self.sense.embedder
            self._awake(self.sense, writer)
            if before is not None and before is not writer.embedder:
                before.close()
            return
        coming = await self._sense_of(writer.model)
        self._awake(coming, writer)
        if await self._old_still_answers():
            self._coming = coming
            log.info("%d memories are embedded anew for %s; %s serves", waiting, writer.model.name, self.sense.model)
        else:
            await self._serve(coming)

    def _awake(self, sense: Sense, opened: Opened) -> None:
        sense.awake(opened.embedder)
        sense.on_trouble = lambda error: self._trouble_with(opened.name, error)

    async def _old_still_answers(self) -> bool:
        """Whether the model that serves can embed questions, opened anew if need be."""
        if self.sense.embedder is not None:
            return True
        known = await models.serving(self._database)
        old = await self._chain.reopen(known) if known is not None else None
        if old is not None:
            self._awake(self.sense, old)
        return old is not None

    async def _serve(self, sense: Sense) -> None:
        """Switch: on record first, so that a daemon that is killed here begins where this one was."""
        async with self._database.write() as tx:
            await models.serve(tx, sense.model)
        old, self.sense, self._coming = self.sense, sense, None
        log.info("%s serves", sense.model)
        self._retiring += 1
        self._do_aside(self._retire(old))

    async def _retire(self, old: Sense) -> None:
        try:
            await asyncio.sleep(RETIREMENT)
        finally:
            self._retiring -= 1
            await old.close()
        if not await memories.unembedded(self._database, 1):
            await self._tidy_up()

    async def _arrive(self) -> None:
        """All memories have a vector of this model, or can't have one: it serves."""
        if self._coming is not None:
            await self._serve(self._coming)
        if not self._retiring:
            await self._tidy_up()

    async def _tidy_up(self) -> None:
        """Delete what is of no use any more: once, when the chosen model serves and nobody asks another one."""
        writer = self._writer
        if self._tidy or writer is None or writer.name != self.name or writer.model.name != self.sense.model:
            return
        from subconscious.store import vectors

        self._tidy = True
        # The stand-in's vectors stay beside a remote embedder's: the next outage needs them at once.
        stand_in = model_of(FALLBACK) if writer.embedder.remote else None
        kept = (writer.model.name, *([stand_in.name] if stand_in else []))
        gone = await models.forget_others(self._database, kept)
        await asyncio.to_thread(vectors.sweep, self._database, [writer.model.name])
        if gone:
            log.info("%d vectors of other models are deleted", gone)

    async def _drop_coming(self) -> None:
        """Another model is wanted now; the vectors that were made stay, should this one be wanted again."""
        if self._coming is not None and self._coming.index is not None:
            await self._coming.index.close()
        self._coming = None

    def _do_aside(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    # What is written

    async def _work_off(self, writer: Opened) -> bool:
        """Embed what is pending; False when another should go on with it."""
        fresh = True
        while True:
            if self._coming is not None and (fresh or self._wanted.is_set()):
                self._wanted.clear()
                await self._keep_up()
            fresh = False
            batch = await memories.unembedded(self._database, writer.embedder.batch)
            if not batch:
                return True
            if next(self._chain.usable(), "") != writer.name:
                self.wake()  # the preferred one may be back
                return False
            await self._embed(writer, batch)

    async def _keep_up(self) -> None:
        """New memories are found by meaning also while another model than the one that serves is wanted."""
        sense, embedder = self.sense, self.sense.embedder
        while embedder is not None:
            batch = await memories.unembedded_by(self._database, sense.model, embedder.batch)
            if not batch:
                return
            texts = [text_of(memory) for memory in batch]
            try:
                found = await in_thread(lambda texts=texts: embedder.embed(texts))  # type: ignore[misc]
            except Exception:
                # They are found by words, and by meaning when the other model serves.
                log.info("the model that serves can't embed new memories", exc_info=True)
                return
            async with self._database.write() as tx:
                await self._save(tx, sense.model, batch, found)
            await self.refresh([memory.id for memory in batch])

    async def _embed(self, writer: Opened, batch: Sequence[Memory]) -> None:
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
                # Whatever the model's runtime throws must not end the loop: the batch is tried again, then set aside.
                await self._wait(error, batch, pause)
            else:
                async with self._database.write() as tx:
                    await self._save(tx, writer.model.name, batch, found, done=True)
                await self.refresh([memory.id for memory in batch])
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
            self._set_out(writer.name, error)
            raise _OutError from error
        log.info("embedder %s: %s; trying again", writer.name, error)
        await asyncio.sleep(max(pause, wanted))

    async def _may_spend(self, writer: Opened, tokens: int) -> None:
        """At a cap the work waits: its memories stay pending, and the next in the chain serves (SPEC A2)."""
        if not writer.embedder.remote:
            return
        wait = await self._manners.purse.wait(*account(writer.embedder), tokens)
        if wait > 0:
            error = EmbedderBusyError("a cap of cost is reached", "wait, or raise the cap in config.toml", wait)
            self._set_out(writer.name, error)
            raise _OutError from error

    async def _one_by_one(self, writer: Opened, batch: Sequence[Memory], error: EmbedderTextError) -> None:
        """One text that is refused must not keep the others from their vectors."""
        if len(batch) == 1:
            log.warning("memory %d can't be embedded: %s", batch[0].id, error)
            await self._mark(batch, "failed")
            return
        for number, memory in enumerate(batch, start=1):
            await self._embed(writer, [memory])
            refused = [m.embedding_status for m in await self._now(batch[:number])]
            if number == REFUSALS and writer.embedder.remote and set(refused) == {"failed"}:
                self._set_out(writer.name, error)
                raise _OutError from error

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
            await memories.mark_embedding(tx, [memory.id for memory in batch], status)

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
            await memories.mark_embedding(tx, same, "done")

    def _spent(self, embedder: str, model: str, tokens: int) -> None:
        """Called from the embedders' threads."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._record, embedder, model, tokens)

    def _record(self, embedder: str, model: str, tokens: int) -> None:
        self.tokens += tokens
        self._do_aside(self._manners.purse.spent(embedder, model, tokens))

    async def close(self) -> None:
        """Let the models and the indexes go."""
        for task in self._aside:
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)
        self._let_go_of(self._writer)
        await self._drop_coming()
        await self.sense.close()


def text_of(memory: Memory) -> str:
    """What of a memory is embedded."""
    return merging.text_of(memory)


def digest_of(memory: Memory) -> str:
    """By which a text that was embedded before is known again."""
    return hashlib.sha256(text_of(memory).encode("utf-8", "surrogatepass")).hexdigest()[:16]
