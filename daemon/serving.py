"""Which model serves, and which one comes: the switch from one to the other leaves no gap.

One model serves at a time. When another is wanted its vectors are made beside those that serve, and it serves when it
has one of every memory; if the old one can't embed questions any more, it serves at once with those that it has.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from subconscious.embeddings import FALLBACK, model_of
from subconscious.errors import EmbedderError
from subconscious.store import embedding_queue, models
from subconscious.store.connect import Database
from subconscious.store.models import Known

from .chain import Chain, Opened
from .sense import Manners, Sense

if TYPE_CHECKING:
    from subconscious.store.vectors import VectorIndex

log = logging.getLogger("subconscious.daemon")

RETIREMENT = 60.0
"""Seconds for which what served before goes on answering those who have just begun to ask it."""


class Serving:
    """The model that serves and the one that comes, each with its index.

    ``writer`` is the embedder that new vectors are of; ``on_trouble`` hears which embedder failed a question, and why.
    """

    def __init__(
        self, database: Database, chain: Chain, manners: Manners, on_trouble: Callable[[str, EmbedderError], None]
    ) -> None:
        self.sense = Sense("", None, manners)
        self.coming: Sense | None = None
        self.writer: Opened | None = None
        self._database = database
        self._chain = chain
        self._manners = manners
        self._on_trouble = on_trouble
        self._tidy = False
        self._retiring = 0
        # What changes while an index is being opened, for each that is.
        self._missed: dict[int, set[int]] = {}
        self._retirements: set[asyncio.Task[None]] = set()

    async def refresh(self, ids: Sequence[int]) -> None:
        """Tell the indexes which memories have changed."""
        for missed in self._missed.values():
            missed.update(ids)
        for sense in (self.sense, self.coming):
            if sense is not None and sense.index is not None:
                await sense.index.refresh(ids)
                sense.found.clear()

    async def rebuild(self) -> None:
        """Make the files of the indexes anew, so that no page of them keeps a vector of what is gone."""
        vectors = await asyncio.to_thread(import_module, "subconscious.store.vectors")
        senses = [sense for sense in (self.sense, self.coming) if sense is not None]
        for sense in senses:
            index, sense.index = sense.index, None
            sense.found.clear()
            if index is not None:
                await index.close()
        await asyncio.to_thread(vectors.sweep, self._database, [])
        for sense in senses:
            known = await models.named(self._database, sense.model)
            if known is not None:
                sense.index = (await self.sense_of(known)).index

    async def resume(self) -> None:
        """Open the index of the model that served last."""
        await asyncio.to_thread(import_module, "subconscious.store.vectors")
        known = await models.serving(self._database)
        if known is not None:
            self.sense = await self.sense_of(known)

    async def sense_of(self, model: Known) -> Sense:
        """A model's index, opened, without its embedder."""
        from subconscious.store import vectors

        missed: set[int] = set()
        self._missed[id(missed)] = missed
        try:
            index = await vectors.open_index(self._database, model.name, model.dim)
            await _catch_up(index, missed)
        finally:
            del self._missed[id(missed)]
        return Sense(model.name, index, self._manners)

    def write_with(self, opened: Opened | None) -> None:
        """Another embedder makes the new vectors from now on."""
        if opened is not self.writer:
            self._let_go_of(self.writer)
            self.writer = opened

    def lose_writer(self) -> None:
        """The embedder in use can't be used any more."""
        embedder = self.sense.embedder
        if embedder is not None and embedder.remote:
            # Questions would go the same way, be it for an older model.
            self.sense.awake(None)
            embedder.close()
        self._let_go_of(self.writer)
        self.writer = None

    def _let_go_of(self, opened: Opened | None) -> None:
        """Close an embedder, unless it still embeds questions."""
        if opened is not None and opened.embedder is not self.sense.embedder:
            opened.embedder.close()

    def aims_at(self, writer: Opened) -> bool:
        """Whether this embedder's model serves already, or comes, and questions can be embedded."""
        return (self.coming or self.sense).model == writer.model.name and self.sense.embedder is not None

    async def aim(self, writer: Opened) -> None:
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
        # It comes from now on, so that it hears of what changes while the old one is looked at.
        self.coming = coming = await self.sense_of(writer.model)
        self._awake(coming, writer)
        if await self._old_still_answers():
            log.info("%d memories are embedded anew for %s; %s serves", waiting, writer.model.name, self.sense.model)
        else:
            await self.serve(coming)

    def _awake(self, sense: Sense, opened: Opened) -> None:
        sense.awake(opened.embedder)
        sense.on_trouble = lambda error: self._on_trouble(opened.name, error)

    async def _old_still_answers(self) -> bool:
        """Whether the model that serves can embed questions, opened anew if need be."""
        if self.sense.embedder is not None:
            return True
        known = await models.serving(self._database)
        old = await self._chain.reopen(known) if known is not None else None
        if old is not None:
            self._awake(self.sense, old)
        return old is not None

    async def serve(self, sense: Sense) -> None:
        """Switch: on record first, so that a daemon that is killed here begins where this one was."""
        async with self._database.write() as tx:
            await models.serve(tx, sense.model)
        old, self.sense, self.coming = self.sense, sense, None
        log.info("%s serves", sense.model)
        self._retiring += 1
        task = asyncio.ensure_future(self._retire(old))
        self._retirements.add(task)
        task.add_done_callback(self._retirements.discard)

    async def _retire(self, old: Sense) -> None:
        try:
            await asyncio.sleep(RETIREMENT)
        finally:
            self._retiring -= 1
            await old.close()
        if not await embedding_queue.unembedded(self._database, 1):
            await self._tidy_up()

    async def arrive(self) -> None:
        """All memories have a vector of this model, or can't have one: it serves."""
        if self.coming is not None:
            await self.serve(self.coming)
        if not self._retiring:
            await self._tidy_up()

    async def _tidy_up(self) -> None:
        """Delete what is of no use any more: once, when the chosen model serves and nobody asks another one."""
        writer = self.writer
        if self._tidy or writer is None or writer.name != self._chain.name or writer.model.name != self.sense.model:
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
        if self.coming is not None and self.coming.index is not None:
            await self.coming.index.close()
        self.coming = None

    async def close(self) -> None:
        """Let the models and the indexes go, those that have retired at once."""
        for task in self._retirements:
            task.cancel()
        await asyncio.gather(*self._retirements, return_exceptions=True)
        self._let_go_of(self.writer)
        await self._drop_coming()
        await self.sense.close()


async def _catch_up(index: VectorIndex, missed: set[int]) -> None:
    """What changed while an index was opened may be missing from it; one that can't take it over is closed."""
    try:
        while missed:
            ids = list(missed)
            missed.clear()
            await index.refresh(ids)
    except BaseException:  # also when cancelled: nobody else knows of it yet
        await index.close()
        raise
