"""A provider for Ollama, which runs local models without a key; ``format`` requests structured output."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar

import httpx
import ollama

from subconscious.domain.errors import BadAnswerError, BadRequestError, ProviderError
from subconscious.llm.providers import Access, Reply, Request, Usage
from subconscious.llm.providers.prices import default_model
from subconscious.llm.providers.structured import instruction, schema_of
from subconscious.llm.providers.wire import (
    CONNECT_SECONDS,
    charged,
    clean,
    failure,
    garbled,
    hush,
    need_key,
    need_url,
    only_ours,
    out_of_time,
    tokens,
    unreachable,
    within,
)

T = TypeVar("T")

NAME = "ollama"
SELLER = "Ollama"
BASE_URL = "http://127.0.0.1:11434"
CONTEXTS = (4096, 8192, 16384, 32768, 65536, 131072)
"""The context sizes, in tokens, that are requested.

There are few, because the model is reloaded for each size. Ollama's default size silently cuts off long prompts.
"""

hush("httpx", "httpcore")


class OllamaProvider:
    """A model that Ollama runs."""

    name = NAME

    def __init__(self, access: Access) -> None:
        self._base_url = need_url(access.base_url or BASE_URL)
        self.model = access.model or default_model(NAME)
        self._seconds = access.timeout
        key = need_key(access, NAME, "ollama.com") if access.key else ""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._closed = False
        self._client = ollama.AsyncClient(
            self._base_url,
            follow_redirects=False,
            trust_env=False,
            timeout=httpx.Timeout(access.timeout, connect=min(access.timeout, CONNECT_SECONDS)),
            event_hooks={"request": [only_ours(self._base_url, headers)]},
        )

    async def ask(self, request: Request) -> Reply:
        """Send one chat message, with thinking switched off."""
        system = f"{clean(request.system)}\n\n{instruction(request.schema)}"
        text = clean(request.text)
        chat = await self._call(
            self._client.chat(
                self.model,
                [{"role": "system", "content": system}, {"role": "user", "content": text}],
                stream=False,
                think=False,
                format=schema_of(request.schema),
                options={
                    "num_predict": request.max_tokens,
                    "num_ctx": _context(system + text, request),
                    "temperature": 0,
                },
            )
        )
        return self._reply(chat)

    async def check(self) -> None:
        """Check whether the model is installed."""
        await self._call(self._client.show(self.model))

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        await self._client.close()  # type: ignore[no-untyped-call]

    def _reply(self, chat: Any) -> Reply:
        if chat.message is None:
            raise garbled(SELLER)
        text = chat.message.content or ""
        usage = Usage(chat.prompt_eval_count or 0, chat.eval_count or 0)
        if chat.done_reason == "length":
            raise charged(
                BadAnswerError("the model's answer was cut off at the output token limit", "choose another model"),
                usage,
            )
        if not text.strip():
            raise charged(BadAnswerError("the model's answer is empty", "choose another model"), usage)
        return Reply(text, usage, chat.model or self.model)

    async def _call(self, call: Awaitable[T]) -> T:
        try:
            return await within(self._seconds, call, SELLER)
        except Exception as error:  # noqa: BLE001 - any error of the SDK is translated into one of ours
            raise self._meaning(error) from None

    def _meaning(self, error: Exception) -> ProviderError:
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, ollama.ResponseError):
            return self._status(error)
        if isinstance(error, httpx.TimeoutException):
            return out_of_time(SELLER, self._seconds)
        if isinstance(error, httpx.HTTPError | ConnectionError):
            return unreachable(SELLER, self._base_url)
        if isinstance(error, RuntimeError) and self._closed:
            return ProviderError(f"the provider {SELLER} is closed")
        return garbled(SELLER)

    def _status(self, error: ollama.ResponseError) -> ProviderError:
        if error.status_code == 404:
            return BadRequestError(
                f"{SELLER} has no model {self.model!r}", f"run `ollama pull {self.model}`, or choose another model"
            )
        return failure(error.status_code, {}, error.error, SELLER)


def _context(text: str, request: Request) -> int:
    needed = tokens(text) * 3 // 2 + request.max_tokens  # a high estimate, because a small context cuts off the prompt
    return next((size for size in CONTEXTS if size >= needed), CONTEXTS[-1])
