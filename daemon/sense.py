"""One model's way of finding by meaning: what embeds a question, and the index that it is compared in.

The two go together, so that no question is ever compared with another model's vectors, however late it comes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from subconscious.capture.relation import Relation, relations
from subconscious.embeddings import Embedder, Unloadable
from subconscious.embeddings.local import LocalEmbedder
from subconscious.errors import EmbedderError
from subconscious.flow.remembering import clean
from subconscious.search.found import Found

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex

log = logging.getLogger("subconscious.daemon")

PATIENCE = 0.15
"""Seconds a query waits for the embedder while it is being loaded."""

ASKED_SECONDS = 5.0
"""Seconds that somebody who asks for a search waits for a remote embedder."""

LINES = 2
"""Queries that may be under way to a remote embedder: one that hangs must not gather a crowd."""

RECENT = 256
"""Queries whose vectors are kept, of a remote embedder: the same hints come with every start."""

CHARACTERS_A_TOKEN = 4

Result = TypeVar("Result")


class Purse:
    """Who pays for remote embeddings. This one pays all and keeps no account."""

    async def wait(self, embedder: str, model: str, tokens: int) -> float:
        """Seconds until so many tokens may be spent; 0 is now."""
        del embedder, model, tokens
        return 0.0

    async def spent(self, embedder: str, model: str, tokens: int) -> None:
        """A call was made, and is charged for."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How a remote embedder is asked. ``prompts``: whether what a person typed to Claude Code may be sent at all."""

    prompts: bool = False
    prompt_seconds: float = 0.15
    purse: Purse = Purse()  # noqa: RUF009 - it holds nothing


class Sense:
    """A model, its index and, once it is loaded, its embedder."""

    def __init__(self, model: str, index: VectorIndex | None, manners: Manners) -> None:
        self.model = model
        self.index = index
        self.embedder: Embedder | None = None
        self.found = Found()
        self.on_trouble: Callable[[EmbedderError], None] = lambda _: None
        self._manners = manners
        self._ready = asyncio.Event()
        self._recent: OrderedDict[str, numpy.ndarray] = OrderedDict()
        self._under_way: set[asyncio.Task[numpy.ndarray | None]] = set()
        self._loading: asyncio.Future[None] | None = None

    def awake(self, embedder: Embedder | None) -> None:
        """Questions are embedded by it from now on; None: by nothing, and words alone answer them."""
        self.embedder = embedder
        self.found.clear()
        self._ready.set()

    async def asked(self, text: str) -> numpy.ndarray | None:
        """The vector of what somebody looks for; None while there is no embedder: full text answers alone then."""
        return await self._of(text, ASKED_SECONDS)

    async def asked_hurriedly(self, text: str) -> numpy.ndarray | None:
        """The same within a hook's deadline."""
        return await self._of(text, self._manners.prompt_seconds)

    async def prompted(self, text: str) -> numpy.ndarray | None:
        """The same for what a session's hooks bring along: not sent away without permission."""
        return await self._of(text, self._manners.prompt_seconds, sent=self._manners.prompts)

    async def at_hand(self, text: str) -> numpy.ndarray | None:
        """The vector of what is about to be stored; None where that takes a call, or a model still to be loaded."""
        embedder = self.embedder
        return None if embedder is None or embedder.remote else await self._of(text, 0.0, sent=False, stored=True)

    def warm_up(self) -> bool:
        """Load the model in the background if it was unloaded; whether it is still to be loaded."""
        embedder = self.embedder
        if not isinstance(embedder, Unloadable) or embedder.loaded:
            return False
        if self._loading is None or self._loading.done():
            self._loading = in_thread(embedder.load)
            self._loading.add_done_callback(self._loaded_again)
        return True

    def _loaded_again(self, loading: asyncio.Future[None]) -> None:
        if not loading.cancelled() and (error := loading.exception()) is not None:
            log.warning("the embedder can't be loaded again: %s", error)
        self.found.clear()  # what words alone found meanwhile is not the answer any more

    def cool_down(self, seconds: float) -> bool:
        """Unload the model if nobody has used it for so long; whether nobody has."""
        embedder = self.embedder
        if not isinstance(embedder, Unloadable) or embedder.idle_seconds < seconds:
            return False
        self.found.clear()
        if embedder.loaded:
            embedder.unload()
            log.info("the local embedder is unloaded until somebody needs it")
        return True

    async def relate(self, new: str, olds: Sequence[str]) -> list[Relation]:
        """What a statement does to each of some earlier ones; nothing where the local model is not at hand."""
        embedder = self.embedder
        if not olds or not isinstance(embedder, LocalEmbedder):
            return []
        try:
            return await asyncio.to_thread(relations, new, olds, embedder)
        except EmbedderError as error:
            # It was closed for another a moment ago, or its upper layers can't be loaded.
            log.info("statements are compared by rules alone: %s", error)
            return []

    async def _of(self, text: str, seconds: float, *, sent: bool = True, stored: bool = False) -> numpy.ndarray | None:
        """The vector of a text; what is about to be ``stored`` waits until the model is loaded."""
        if not self._ready.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), PATIENCE)
        embedder = self.embedder
        if embedder is None or not text.strip():
            return None
        if embedder.remote:  # looked at only now: while we waited, another may have been loaded
            return await self._from_afar(embedder, clean(text), seconds) if sent else None
        if not stored and self.warm_up():
            return None  # nobody waits for the model: words answer until it is loaded
        try:
            found: numpy.ndarray = (await asyncio.to_thread(embedder.embed, [text]))[0]
        except EmbedderError as error:
            # It was closed for another a moment ago.
            log.info("a question goes by words alone: %s", error)
            return None
        return found

    async def _from_afar(self, embedder: Embedder, text: str, seconds: float) -> numpy.ndarray | None:
        if text in self._recent:
            self._recent.move_to_end(text)
            return self._recent[text]
        if len(self._under_way) >= LINES or not text.strip():
            return None
        if await self._manners.purse.wait(*account(embedder), len(text) // CHARACTERS_A_TOKEN) > 0:
            return None
        task = asyncio.create_task(self._ask(embedder, text))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        # What comes too late for this question is there for the next one.
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return task.result() if done and not task.cancelled() else None

    async def _ask(self, embedder: Embedder, text: str) -> numpy.ndarray | None:
        try:
            found: numpy.ndarray = (await in_thread(lambda: embedder.embed([text])))[0]
        except EmbedderError as error:
            log.info("a question goes by words alone: %s %s", error.code, error)
            if embedder is self.embedder:
                self.on_trouble(error)
            return None
        self._recent[text] = found
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        return found

    async def close(self) -> None:
        """Let embedder and index go: who still has this one goes by words alone."""
        embedder = self.embedder
        self.awake(None)
        for task in self._under_way:
            task.cancel()
        if embedder is not None:
            await asyncio.to_thread(embedder.close)
        if self.index is not None:
            await self.index.close()


def account(embedder: Embedder) -> tuple[str, str]:
    """Embedder and model, as spending is recorded under."""
    provider, _, model = embedder.name.partition(":")
    return provider, model.rpartition(":")[0]


def in_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """Like asyncio.to_thread, but a call that hangs on the line keeps neither a pool nor the leaving daemon waiting."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="embedding", daemon=True).start()
    return future
