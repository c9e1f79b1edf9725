"""What the SDKs of Anthropic and OpenAI have in common: they are made by one generator, over httpx2."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from types import ModuleType
from typing import Any, TypeVar

import httpx2

from subconscious.errors import ProviderError
from subconscious.providers import Reply, Request
from subconscious.providers.wire import (
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
    """A client that nothing in the process environment has a say in, and that follows nobody elsewhere."""
    return httpx2.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        limits=httpx2.Limits(max_connections=32, max_keepalive_connections=8, keepalive_expiry=30),
        event_hooks={"request": [only_ours(base_url, headers)]},
    )


class Calls:
    """Waits for calls of one SDK and says what became of those that failed."""

    def __init__(self, sdk: ModuleType, http: httpx2.AsyncClient, seller: str, base_url: str, seconds: float) -> None:
        # Here and not on import: each SDK may raise the levels again, when its variable says so.
        hush(sdk.__name__, "httpx2", "httpcore2")
        self._sdk = sdk
        self._http = http
        self._seller = seller
        self._base_url = base_url
        self._seconds = seconds

    async def __call__(self, call: Awaitable[T]) -> T:
        """Wait for one call. Raises ProviderError."""
        try:
            return await within(self._seconds, call, self._seller)
        except Exception as error:  # noqa: BLE001 - any error of an SDK is translated into one of ours
            raise self._meaning(error) from None

    async def each(self, opening: Awaitable[AsyncIterator[T]]) -> AsyncIterator[T]:
        """Give what a stream gives, waiting the same time for each. Raises ProviderError."""
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
        # Any other error of the SDK about an answer: no JSON, or JSON of another shape.
        return garbled(self._seller)


def _raised_by_us(error: BaseException | None) -> ProviderError | None:
    """The error of ours that an SDK has wrapped into its own, such as a hook's."""
    while error is not None:
        if isinstance(error, ProviderError):
            return error
        error = error.__cause__
    return None


class Ways:
    """Ways to ask for structure, the best first. What a server refuses isn't tried again, once another has worked."""

    def __init__(self, *ways: str) -> None:
        self.left = ways

    async def first(self, ask: Any, request: Request) -> Reply:
        """Ask in the best way that is accepted. Raises ProviderError: of several refusals the first."""
        refused: ShapeRefusedError | None = None
        for place, way in enumerate(ways := self.left):
            try:
                reply: Reply = await ask(request, way)
            except ShapeRefusedError as error:
                refused = refused or error
                continue
            self.left = min(self.left, ways[place:], key=len)
            return reply
        raise refused or ShapeRefusedError("there is no way to ask")
