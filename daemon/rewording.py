"""Asks the provider's model, if that is wished, which words a search lacks: not for long, and not twice."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from subconscious.errors import ProviderError
from subconscious.llm.client import LLMClient
from subconscious.search.rewording import Words, lent, request
from subconscious.search.words import terms

from .lately import Lately

log = logging.getLogger("subconscious.daemon")

SECONDS = 180.0
"""Time that an answer is held, and that nothing came of a question."""
MOST = 100
"""Searches that are held."""


class Rewording:
    """The words that searches were lent lately."""

    def __init__(self, client: LLMClient, lately: Lately, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._lately = lately
        self._clock = clock
        self._held: OrderedDict[tuple[str, ...], tuple[float, str]] = OrderedDict()

    async def lend(self, query: str, session_id: str) -> str:
        """Words for a search of a session, "" of none: where it is not wished, or none came in time."""
        settings = self._client.settings
        if not (settings.reword and self._client.may_ask(session_id) and terms(query)):
            return ""
        before = self._lately.messages(session_id)
        search = (session_id, query, *before)
        at, words = self._held.get(search, (-SECONDS, ""))
        if self._clock() - at < SECONDS:
            return words
        try:
            async with asyncio.timeout(settings.reword_seconds):
                answer = await self._client.ask(request(query, before), session_id)
        except (ProviderError, TimeoutError) as error:
            log.info("a search goes by its own words: %s", error or "no answer in time")
            answer = Words(words=[])
        found = lent(query, answer) if isinstance(answer, Words) else ""
        self._hold(search, found)
        return found

    def _hold(self, search: tuple[str, ...], words: str) -> None:
        self._held.pop(search, None)
        self._held[search] = (self._clock(), words)
        if len(self._held) > MOST:
            self._held.popitem(last=False)

    def clear(self) -> None:
        """Forget everything: something is purged."""
        self._held.clear()
