"""Embeds queries with one model, together with the index of that model.

Embedder and index are kept together, so that a query is never compared with another model's vectors, even if the models
are switched while the query is being embedded.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from subconscious.domain.errors import EmbedderError
from subconscious.domain.model import Relation
from subconscious.embeddings.embedder import Embedder, Unloadable
from subconscious.embeddings.engine_cache import EngineCache
from subconscious.embeddings.local import LocalEmbedder
from subconscious.embeddings.readable import in_latin_letters
from subconscious.redaction.cleaning import clean

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex


from time import time

from subconscious.domain.usage import Usage
from subconscious.llm.spending import PricedModel, Spending, tomorrow

log = logging.getLogger("subconscious.embeddings")

PATIENCE = 0.15
"""Seconds for which a query waits for an embedder that is being loaded."""

SEARCH_SECONDS = 5.0
"""Seconds for which a search by a person or a tool waits for a remote embedder."""

MAX_CONCURRENT = 2
"""The most concurrent queries to a remote embedder: if it hangs, calls must not accumulate."""

RECENT = 2000
"""The most texts whose vectors are cached.

Starts of sessions repeat the same queries, and the sentences of earlier answers are compared with each new prompt.
"""

CHARACTERS_A_TOKEN = 4

Result = TypeVar("Result")


class EmbeddingBudget:
    """An unlimited budget for remote embeddings, which records nothing; the base class of ``CappedBudget``."""

    async def wait(self, embedder: str, model: str, tokens: int) -> float:
        """Return the seconds until this many tokens may be used; 0 means now."""
        del embedder, model, tokens
        return 0.0

    async def spent(self, embedder: str, model: str, tokens: int) -> None:
        """Record a call that was charged."""


class CappedBudget(EmbeddingBudget):
    """The budget of remote embeddings: their costs are recorded with those of language models, under one daily cap.

    ``spending`` may be shared with the language models, so that a changed cap applies to both.
    """

    def __init__(self, spending: Spending, base_url: str) -> None:
        self.spending = spending
        self._base_url = base_url

    async def wait(self, embedder: str, model: str, tokens: int) -> float:
        """Return the seconds until tomorrow if this many tokens would exceed today's cap, else 0."""
        more = self.spending.counted(self._sold(embedder, model), Usage(tokens))
        if not more or await self.spending.allows(more):
            return 0.0
        return max(1.0, tomorrow() - time())

    async def spent(self, embedder: str, model: str, tokens: int) -> None:
        """Record the cost of a call, even if it exceeds the cap."""
        await self.spending.note(self._sold(embedder, model), "embedding", Usage(tokens))

    def _sold(self, embedder: str, model: str) -> PricedModel:
        return PricedModel(embedder, model, self._base_url)


Relations = Callable[[str, Sequence[str], LocalEmbedder], list[Relation]]
"""A function that compares a statement with earlier ones. It is CPU-bound, so it is called in a thread."""


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """Options for embedding queries.

    ``prompts`` is whether text that the user typed to Claude Code may be sent to a remote embedder. A hook waits
    ``prompt_seconds`` for a vector. ``relations`` is the function that compares statements, None without a model.
    """

    prompts: bool = False
    prompt_seconds: float = 0.15
    budget: EmbeddingBudget = EmbeddingBudget()  # noqa: RUF009 - it is stateless
    relations: Relations | None = None


class QueryEmbedder:
    """A model with its vector index and, once loaded, its embedder."""

    def __init__(self, model: str, index: VectorIndex | None, options: RemoteOptions) -> None:
        self.model = model
        self.index = index
        self.embedder: Embedder | None = None
        self.found: EngineCache[Any] = EngineCache()
        self.on_answer: Callable[[EmbedderError | None], None] = lambda _: None
        self._options = options
        self._ready = asyncio.Event()
        self._recent: OrderedDict[str, numpy.ndarray] = OrderedDict()
        self._running: set[asyncio.Task[numpy.ndarray | None]] = set()
        self._loading: asyncio.Future[None] | None = None

    def set_embedder(self, embedder: Embedder | None) -> None:
        """Set the embedder for queries; without one (None), there is only full-text search."""
        self.embedder = embedder
        self.found.clear()
        self._ready.set()

    async def search_vector(self, text: str) -> numpy.ndarray | None:
        """Return the vector of a search query; None while there is no embedder; then there is only full-text search."""
        return await self._vector(text, SEARCH_SECONDS)

    async def hook_search_vector(self, text: str) -> numpy.ndarray | None:
        """Return the vector of a search query within the deadline of a hook; None if that is not possible."""
        return await self._vector(text, self._options.prompt_seconds)

    async def prompt_vector(self, text: str) -> numpy.ndarray | None:
        """Return the vector of text from a session; without permission, the text is not sent to a remote embedder."""
        return await self._vector(text, self._options.prompt_seconds, sent=self._options.prompts)

    async def local_vector(self, text: str) -> numpy.ndarray | None:
        """Return the local model's vector of a text that will be stored; None if the embedder is remote or missing."""
        embedder = self.embedder
        return None if embedder is None or embedder.remote else await self._vector(text, 0.0, sent=False, stored=True)

    def warm_up(self) -> bool:
        """Load the model in the background if it was unloaded; return True if queries can't use it yet."""
        embedder = self.embedder
        if not isinstance(embedder, Unloadable) or embedder.loaded:
            return False
        if self._loading is None or self._loading.done():
            self._loading = in_thread(embedder.load)
            self._loading.add_done_callback(self._on_loaded)
        return True

    def _on_loaded(self, loading: asyncio.Future[None]) -> None:
        if not loading.cancelled() and (error := loading.exception()) is not None:
            log.warning("the embedder can't be loaded again: %s", error)
        self.found.clear()  # full-text results cached meanwhile are outdated

    def cool_down(self, seconds: float) -> bool:
        """Unload the model if it has been unused for ``seconds``; return whether it was unused that long."""
        embedder = self.embedder
        if not isinstance(embedder, Unloadable) or embedder.idle_seconds < seconds:
            return False
        self.found.clear()
        if embedder.loaded:
            embedder.unload()
            log.info("the local embedder was unloaded because it was unused")
        return True

    async def relate(self, new: str, olds: Sequence[str]) -> list[Relation]:
        """Return how a statement relates to each earlier statement; an empty list without the local model."""
        embedder = self.embedder
        relations = self._options.relations
        if not olds or relations is None or not isinstance(embedder, LocalEmbedder):
            return []
        try:
            return await asyncio.to_thread(relations, new, olds, embedder)
        except EmbedderError as error:
            # The embedder was just replaced and closed, or the model that compares statements can't be loaded.
            log.info("statements are compared by rules only: %s", error)
            return []

    async def _vector(
        self, text: str, seconds: float, *, sent: bool = True, stored: bool = False
    ) -> numpy.ndarray | None:
        """Return the vector of a text; None if that is not possible now.

        ``seconds`` is how long to wait for a remote embedder; the local one has no such limit. ``sent`` is whether the
        text may be sent to a remote embedder. With ``stored``, wait until the model is loaded.
        """
        if not self._ready.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), PATIENCE)
        embedder = self.embedder
        if embedder is None or not text.strip():
            return None
        if embedder.remote:  # checked only now: another embedder may have been set during the wait
            return await self._remote_vector(embedder, clean(text), seconds) if sent else None
        if not stored and not in_latin_letters(text):
            return None  # the model can't read such texts, so they would all look alike
        if not stored and self.warm_up():
            return None  # don't wait for the model: full text answers until it is loaded
        if (cached := self._cached(text)) is not None:
            return cached
        try:
            found: numpy.ndarray = (await asyncio.to_thread(embedder.embed, [text]))[0]
        except EmbedderError as error:
            # The embedder was just replaced and closed.
            log.info("the query is answered by full-text search only: %s", error)
            return None
        if not stored:
            self._cache(text, found)
        return found

    def _cached(self, text: str) -> numpy.ndarray | None:
        """Return the cached vector of a text."""
        if text in self._recent:
            self._recent.move_to_end(text)
        return self._recent.get(text)

    def _cache(self, text: str, vector: numpy.ndarray) -> None:
        self._recent[text] = vector
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)

    async def _remote_vector(self, embedder: Embedder, text: str, seconds: float) -> numpy.ndarray | None:
        if (cached := self._cached(text)) is not None:
            return cached
        if len(self._running) >= MAX_CONCURRENT or not text.strip():
            return None
        if await self._options.budget.wait(*account(embedder), len(text) // CHARACTERS_A_TOKEN) > 0:
            return None
        task = asyncio.create_task(self._request(embedder, text))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        # A result that is too late for this query is cached for the next one.
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return task.result() if done and not task.cancelled() else None

    async def _request(self, embedder: Embedder, text: str) -> numpy.ndarray | None:
        try:
            found: numpy.ndarray = (await in_thread(lambda: embedder.embed([text])))[0]
        except EmbedderError as error:
            log.info("the query is answered by full-text search only: %s %s", error.code, error)
            if embedder is self.embedder:
                self.on_answer(error)
            return None
        if embedder is self.embedder:
            self.on_answer(None)
        self._cache(text, found)
        return found

    async def close(self) -> None:
        """Close the embedder and the index; queries that still use them return full-text results."""
        embedder = self.embedder
        self.set_embedder(None)
        for task in self._running:
            task.cancel()
        if embedder is not None:
            await asyncio.to_thread(embedder.close)
        if self.index is not None:
            await self.index.close()


def account(embedder: Embedder) -> tuple[str, str]:
    """Return an embedder's provider and model, by the names that spending records use."""
    provider, _, model = embedder.name.partition(":")
    return provider, model.rpartition(":")[0]


def in_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """Run ``work`` in a new thread.

    So a call that hangs blocks neither a thread pool nor the exit of the daemon.
    """
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
        with suppress(RuntimeError):  # the loop is closed: nothing waits for the result
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="embedding", daemon=True).start()
    return future
