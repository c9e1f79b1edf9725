"""Asks a language model for further search words, with a short time-out and a cache.

Only searches of callers that wait anyway are reworded (`reword` setting). Only single words of the model's reply are
used. They are added to the words that the engines search for. The relevance of a hit is computed from the query's own
words.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from time import monotonic

from pydantic import BaseModel, ConfigDict, Field

from subconscious.domain.errors import ProviderError
from subconscious.llm.client import LLMClient
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Request
from subconscious.recall.recent_turns import LETTERS, MESSAGES, RecentTurns
from subconscious.text.terms import terms

log = logging.getLogger("subconscious.recall")

PURPOSE = "rewording"
VERSION = 1
ADDED = 8
"""The most words that are added to a search."""
LONGEST = 40
"""The most characters of an added word."""
TOKENS = 200

SECONDS = 180.0
"""The seconds for which the words for a search, or the failure to get any, are cached."""
CACHED = 100
"""The most searches that are cached."""


class Words(BaseModel):
    """The JSON schema that the model's reply must match."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: list[str] = Field(max_length=20)


class Rewording:
    """Finds further words for searches, and caches them."""

    def __init__(self, client: LLMClient, recent_turns: RecentTurns, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._recent_turns = recent_turns
        self._clock = clock
        self._cache: OrderedDict[tuple[str, ...], tuple[float, str]] = OrderedDict()

    async def words_for(self, query: str, session_id: str) -> str:
        """Return further words for a session's search; "" if rewording is off or no reply came in time."""
        settings = self._client.settings
        if not (settings.reword and self._client.may_ask(session_id) and terms(query)):
            return ""
        before = self._recent_turns.messages(session_id)
        key = (session_id, query, *before)
        at, words = self._cache.get(key, (-SECONDS, ""))
        if self._clock() - at < SECONDS:
            return words
        try:
            async with asyncio.timeout(settings.reword_seconds):
                answer = await self._client.ask(request(query, before), session_id)
        except (ProviderError, TimeoutError) as error:
            log.info("a search is not reworded: %s", error or "no answer in time")
            answer = Words(words=[])
        found = new_words(query, answer) if isinstance(answer, Words) else ""
        self._put(key, found)
        return found

    def _put(self, key: tuple[str, ...], words: str) -> None:
        self._cache.pop(key, None)
        self._cache[key] = (self._clock(), words)
        if len(self._cache) > CACHED:
            self._cache.popitem(last=False)

    def clear(self) -> None:
        """Clear the cache, because it may contain purged text."""
        self._cache.clear()


def request(query: str, before: Sequence[str]) -> Request:
    """Return the request to the model for one search; ``before`` are the session's last messages, the latest last."""
    template = prompt(PURPOSE, VERSION)
    search = {"looked_for": query[:LETTERS], "messages": [message[-LETTERS:] for message in before[-MESSAGES:]]}
    # Escaped to ASCII: no invisible characters, no change of the writing direction, no line breaks.
    text = template.text.format_map({"nonce": secrets.token_hex(16), "search": json.dumps(search, ensure_ascii=True)})
    return Request(PURPOSE, template.system, text, Words, max_tokens=TOKENS)


def new_words(query: str, answer: Words) -> str:
    """Return the words of a model's reply that the query lacks."""
    own, kept = set(terms(query)), list[str]()
    for word in answer.words:
        new = set(terms(word)) - own
        if new and len(word) <= LONGEST:
            kept.append(word)
            own |= new
    return " ".join(kept[:ADDED])
