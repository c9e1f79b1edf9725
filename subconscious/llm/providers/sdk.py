"""Shared code for the SDKs of Anthropic and OpenAI, which have similar classes and both use httpx2."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from types import ModuleType
from typing import Any, TypeVar

import httpx2

from subconscious.domain.errors import ProviderError
from subconscious.llm.providers import Reply, Request
from subconscious.llm.providers.wire import (
    CONNECT_SECONDS,
    ShapeRefusedError,
    failure,
    garbled,
    hush,
    only_ours,
    out_of_time,
    unreachable,
    within,
)

T = TypeVar("T")
END: Any = object()


def open_http(base_url: str, headers: Mapping[str, str], seconds: float) -> httpx2.AsyncClient:
    """Return an HTTP client that ignores the process environment and follows no redirects."""
    return httpx2.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        limits=httpx2.Limits(max_connections=32, max_keepalive_connections=8, keepalive_expiry=30),
        event_hooks={"request": [only_ours(base_url, headers)]},
    )


class SdkCalls:
    """Awaits calls of one SDK and translates their errors."""

    def __init__(self, sdk: ModuleType, http: httpx2.AsyncClient, seller: str, base_url: str, seconds: float) -> None:
        # Here, because importing an SDK lowers the log levels if its environment variable is set.
        hush(sdk.__name__, "httpx2", "httpcore2")
        self._sdk = sdk
        self._http = http
        self._seller = seller
        self._base_url = base_url
        self._seconds = seconds

    async def __call__(self, call: Awaitable[T]) -> T:
        """Await one call and return its result. Raises ProviderError if the call fails."""
        try:
            return await within(self._seconds, call, self._seller)
        except Exception as error:  # noqa: BLE001 - any error of an SDK is translated into one of ours
            raise self._meaning(error) from None

    async def each(self, opening: Awaitable[AsyncIterator[T]]) -> AsyncIterator[T]:
        """Yield the items of a stream, with the time-out for each item. Raises ProviderError if reading fails."""
        stream: Any = await self(opening)
        try:
            while (item := await self(anext(aiter(stream), END))) is not END:
                yield item
        finally:
            await stream.close()

    def _meaning(self, error: Exception) -> ProviderError:
        found = _raised_by_us(error)
        if found is not None:
            return found
        if isinstance(error, self._sdk.APIStatusError):
            return failure(error.status_code, error.response.headers, error.body or error.message, self._seller)
        if isinstance(error, self._sdk.APITimeoutError | httpx2.TimeoutException):
            return out_of_time(self._seller, self._seconds)
        if isinstance(error, self._sdk.APIConnectionError | httpx2.HTTPError):
            return unreachable(self._seller, self._base_url)
        if isinstance(error, RuntimeError) and self._http.is_closed:
            return ProviderError(f"the provider {self._seller} is closed")
        # Any other error of the SDK is about the answer: not JSON, or JSON of another shape.
        return garbled(self._seller)


def _raised_by_us(error: BaseException | None) -> ProviderError | None:
    """Return the ProviderError that an SDK has wrapped into an error of its own; None if there is none."""
    while error is not None:
        if isinstance(error, ProviderError):
            return error
        error = error.__cause__
    return None


class OutputModes:
    """Ways to request structured output, the best first. Once a mode has worked, rejected modes are not tried again."""

    def __init__(self, *modes: str) -> None:
        self.left = modes

    async def first(self, ask: Any, request: Request) -> Reply:
        """Return the reply with the best mode that the server accepts. Raises ProviderError if it accepts none."""
        refused: ShapeRefusedError | None = None
        for place, mode in enumerate(modes := self.left):
            try:
                reply: Reply = await ask(request, mode)
            except ShapeRefusedError as error:
                refused = refused or error
                continue
            self.left = min(self.left, modes[place:], key=len)
            return reply
        raise refused or ShapeRefusedError("no mode of structured output worked")
