"""The fallback chain of embedders: the chosen embedder, then the local one, then none.

Each fallback is logged with its reason and recorded, so that `status` and `doctor` can show it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic, time

from subconscious.domain.errors import EmbedderBusyError, EmbedderError, EmbedderKeyError, SubconsciousError
from subconscious.embeddings.embedder import EMBEDDERS, FALLBACK, NONE, Access, Embedder, model_of, open_embedder
from subconscious.embeddings.query_embedder import in_thread
from subconscious.store import embedding_models
from subconscious.store.connect import Database
from subconscious.store.embedding_models import EmbeddingModel

log = logging.getLogger("subconscious.embeddings")

RETRIES = (1.0, 2.0, 4.0)
"""The pauses between attempts, in seconds."""

LONGEST_PAUSE = 20.0
"""The longest pause in seconds before a retry. An embedder that asks for a longer pause is suspended for that time."""

RECHECK = 300.0
"""Seconds after which an unavailable embedder is tried again.

An embedder that refused its key is not tried again before a person changes the key.
"""

LONGEST_OUTAGE = 2 * 86_400.0
"""The longest temporary suspension in seconds: a spending cap suspends an embedder until the next day at most."""

CANARY = "We decided to keep the queue in SQLite and to retry three times."
"""The text whose vector identifies a model. Never change this text: every model would count as a new one."""


@dataclass(frozen=True, slots=True)
class OpenedEmbedder:
    """An open embedder: its name in the settings, the embedder, and the model of its vectors."""

    name: str
    embedder: Embedder
    model: EmbeddingModel


@dataclass(frozen=True, slots=True)
class Outage:
    """A suspension of an embedder: the error, and the time when it ends."""

    error: SubconsciousError
    until: float

    @property
    def is_over(self) -> bool:
        """Whether the embedder may be tried again.

        This is also true if the clock was set back, unless a person has to act first.
        """
        left = self.until - time()
        return left <= 0 or LONGEST_OUTAGE < left < math.inf


class EmbedderChain:
    """The embedders in the order of preference, and their outages."""

    def __init__(self, name: str, access: Access, database: Database) -> None:
        self.name = name
        self._access = access
        self._database = database
        self._outages: dict[str, Outage] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the embedders, the preferred one first."""
        if self.name == NONE:
            return ()
        return (self.name,) if self.name not in EMBEDDERS or self.name == FALLBACK else (self.name, FALLBACK)

    @property
    def outage(self) -> Outage | None:
        """The outage of the chosen embedder; None if it can be used."""
        return self._outages.get(self.name)

    @property
    def next_try(self) -> float | None:
        """The earliest time when an unavailable embedder may be tried again; None if there is no such time."""
        return min((outage.until for outage in self._outages.values() if math.isfinite(outage.until)), default=None)

    def usable(self) -> Iterator[str]:
        """Yield the names of embedders without a current outage."""
        for name in self.names:
            outage = self._outages.get(name)
            if outage is None or outage.is_over:
                yield name

    def clear_outages(self) -> None:
        """Clear all outages."""
        self._outages.clear()

    def use_key(self, key: str) -> bool:
        """Use this key for the chosen embedder from now on; return whether it differs from the previous key."""
        if key == self._access.key:
            return False
        self._access = replace(self._access, key=key)
        self.clear_outages()
        return True

    def suspend(self, name: str, error: EmbedderError) -> None:
        """Suspend an embedder for a time; after a refused key, until a person has changed the key."""
        wait = error.retry_after if isinstance(error, EmbedderBusyError) else None
        until = math.inf if isinstance(error, EmbedderKeyError) else time() + (wait or RECHECK)
        self._outages[name] = Outage(error, until)
        after = self.names[self.names.index(name) + 1 :]
        log.warning(
            "embedder %s can't be used (%s %s); %s; next: %s",
            *(name, error.code, error.message, error.remedy, after[0] if after else "full-text search only"),
        )

    async def first(self, present: OpenedEmbedder | None) -> OpenedEmbedder | None:
        """Return the first usable embedder, either ``present`` or newly opened; None if none can be used."""
        for name in self.usable():
            if present is not None and present.name == name:
                return present
            began = monotonic()
            try:
                opened = await self._open(name)
            except EmbedderError as error:
                self.suspend(name, error)
                continue
            self._outages.pop(name, None)
            self._extend_outages(monotonic() - began)
            log.info("embedder %s is in use: %s", name, opened.model.name)
            return opened
        return None

    def _extend_outages(self, seconds: float) -> None:
        """Extend all outages to last at least ``seconds`` from now: the time that opening the replacement took.

        If an outage were shorter than that, the embedders would be opened alternately, and none would embed anything.
        """
        until = time() + seconds
        self._outages = {name: replace(one, until=max(one.until, until)) for name, one in self._outages.items()}

    async def reopen(self, known: EmbeddingModel) -> OpenedEmbedder | None:
        """Open the embedder of a known model; return None if it is unavailable or now computes different vectors."""
        name, access = self._access_to(known)
        if name not in self.names or name in self._outages:
            return None
        try:
            opened = await self._open_once(name, access)
        except EmbedderError as error:
            log.info("%s can no longer embed queries: %s", known.name, error)
            return None
        if opened.model.name == known.name:
            return opened
        opened.embedder.close()
        return None

    def _access_to(self, known: EmbeddingModel) -> tuple[str, Access]:
        local = model_of(FALLBACK)
        if local is not None and known.base == local.name:
            return FALLBACK, self._access
        provider, _, rest = known.base.partition(":")
        return provider, replace(self._access, model=rest.rpartition(":")[0])

    async def _open(self, name: str) -> OpenedEmbedder:
        """Open an embedder; temporary failures are retried."""
        for pause in (*RETRIES, None):
            try:
                return await self._open_once(name, self._access)
            except EmbedderBusyError as error:
                if pause is None or (error.retry_after or 0) > LONGEST_PAUSE:
                    raise
                log.info("embedder %s: %s; trying again", name, error)
                await asyncio.sleep(max(pause, error.retry_after or 0))
        raise AssertionError("the last try returns or raises")

    async def _open_once(self, name: str, access: Access) -> OpenedEmbedder:
        embedder = await in_thread(lambda: open_embedder(name, access))
        if embedder is None:
            raise EmbedderError(f'"{name}" is not an embedder')
        try:
            canary = (await in_thread(lambda: embedder.embed([CANARY])))[0]
            async with self._database.write() as tx:
                return OpenedEmbedder(name, embedder, await embedding_models.identify(tx, embedder.name, canary))
        except BaseException:
            # Also on cancellation: an embedder without an owner would keep its connections.
            embedder.close()
            raise
