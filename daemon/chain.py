"""Who may make embeddings: the embedder that was chosen, then the local one, then nobody.

Every step down is logged with its reason and kept, so that `status` and `doctor` can tell it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic, time

from subconscious.embeddings import EMBEDDERS, FALLBACK, NONE, Access, Embedder, model_of, open_embedder
from subconscious.errors import EmbedderBusyError, EmbedderError, EmbedderKeyError, SubconsciousError
from subconscious.store import models
from subconscious.store.connect import Database
from subconscious.store.models import Known

from .sense import in_thread

log = logging.getLogger("subconscious.daemon")

RETRIES = (1.0, 2.0, 4.0)
"""Pauses between the tries of what an embedder is asked."""

LONGEST_PAUSE = 20.0
"""Who asks for a longer one is left alone for so long, and the next in the chain serves."""

RECHECK = 300.0
"""Seconds after which an embedder that could not be used is tried again; a refused key waits for a person."""

LONGEST_OUTAGE = 2 * 86_400.0
"""Seconds beyond which no outage lasts: a cap lets an embedder wait for the next day at most."""

CANARY = "We decided to keep the queue in SQLite and to retry three times."
"""The text by whose vector a model is recognised. Never changed: every model would be a new one."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An embedder in use: its setting's name, itself, and what its vectors are called."""

    name: str
    embedder: Embedder
    model: Known


@dataclass(frozen=True, slots=True)
class Outage:
    """Why an embedder is not used, and until when."""

    error: SubconsciousError
    until: float

    @property
    def is_over(self) -> bool:
        """Whether it may be tried again; also when the clock was set back since, unless a person has to look first."""
        left = self.until - time()
        return left <= 0 or LONGEST_OUTAGE < left < math.inf


class Chain:
    """The embedders in their order, and which of them are out."""

    def __init__(self, name: str, access: Access, database: Database) -> None:
        self.name = name
        self._access = access
        self._database = database
        self._outages: dict[str, Outage] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Who may serve, the preferred first."""
        if self.name == NONE:
            return ()
        return (self.name,) if self.name not in EMBEDDERS or self.name == FALLBACK else (self.name, FALLBACK)

    @property
    def outage(self) -> Outage | None:
        """Why the one that was chosen is not used."""
        return self._outages.get(self.name)

    @property
    def next_try(self) -> float | None:
        """When one that is out may be tried again."""
        return min((outage.until for outage in self._outages.values() if math.isfinite(outage.until)), default=None)

    def usable(self) -> Iterator[str]:
        """Those that are not out, or no longer."""
        for name in self.names:
            outage = self._outages.get(name)
            if outage is None or outage.is_over:
                yield name

    def forgive(self) -> None:
        """Forget what went wrong."""
        self._outages.clear()

    def use_key(self, key: str) -> bool:
        """Open the chosen one with this key from now on; whether it is another one than before."""
        if key == self._access.key:
            return False
        self._access = replace(self._access, key=key)
        self.forgive()
        return True

    def set_out(self, name: str, error: EmbedderError) -> None:
        """Leave an embedder alone for a while; a refused key until a person has looked."""
        wait = error.retry_after if isinstance(error, EmbedderBusyError) else None
        until = math.inf if isinstance(error, EmbedderKeyError) else time() + (wait or RECHECK)
        self._outages[name] = Outage(error, until)
        after = self.names[self.names.index(name) + 1 :]
        log.warning(
            "embedder %s can't be used (%s %s); %s; next: %s",
            *(name, error.code, error.message, error.remedy, after[0] if after else "words alone"),
        )

    async def first(self, present: Opened | None) -> Opened | None:
        """The first that can be used: the ``present`` one, or another that is opened now."""
        for name in self.usable():
            if present is not None and present.name == name:
                return present
            began = monotonic()
            try:
                opened = await self._open(name)
            except EmbedderError as error:
                self.set_out(name, error)
                continue
            self._outages.pop(name, None)
            self._leave_alone(monotonic() - began)
            log.info("embedder %s makes embeddings: %s", name, opened.model.name)
            return opened
        return None

    def _leave_alone(self, seconds: float) -> None:
        """Let those that are out wait at least so long from now: as long as it took to open what serves meanwhile.

        Where an outage is shorter than that, models would be opened by turns, and none would embed anything.
        """
        until = time() + seconds
        self._outages = {name: replace(one, until=max(one.until, until)) for name, one in self._outages.items()}

    async def reopen(self, known: Known) -> Opened | None:
        """Open the very model that vectors are of, if there is still a way to it; of another provider's key, none."""
        name, access = self._way_to(known)
        if name not in self.names or name in self._outages:
            return None
        try:
            opened = await self._open_once(name, access)
        except EmbedderError as error:
            log.info("%s can't embed questions any more: %s", known.name, error)
            return None
        if opened.model.name == known.name:
            return opened
        opened.embedder.close()
        return None

    def _way_to(self, known: Known) -> tuple[str, Access]:
        local = model_of(FALLBACK)
        if local is not None and known.base == local.name:
            return FALLBACK, self._access
        provider, _, rest = known.base.partition(":")
        return provider, replace(self._access, model=rest.rpartition(":")[0])

    async def _open(self, name: str) -> Opened:
        """Open an embedder; what may be over in a moment is tried again."""
        for pause in (*RETRIES, None):
            try:
                return await self._open_once(name, self._access)
            except EmbedderBusyError as error:
                if pause is None or (error.retry_after or 0) > LONGEST_PAUSE:
                    raise
                log.info("embedder %s: %s; trying again", name, error)
                await asyncio.sleep(max(pause, error.retry_after or 0))
        raise AssertionError("the last try returns or raises")

    async def _open_once(self, name: str, access: Access) -> Opened:
        embedder = await in_thread(lambda: open_embedder(name, access))
        if embedder is None:
            raise EmbedderError(f"{name} embeds nothing")
        try:
            canary = (await in_thread(lambda: embedder.embed([CANARY])))[0]
            async with self._database.write() as tx:
                return Opened(name, embedder, await models.recognise(tx, embedder.name, canary))
        except BaseException:
            # Also when cancelled: an embedder that nobody holds would keep its connections.
            embedder.close()
            raise
