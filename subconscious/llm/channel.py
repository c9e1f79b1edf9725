"""One provider as it is asked: within its limits, rested when it fails, tried again, every call on record."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from time import monotonic, time
from typing import Any

from pydantic import BaseModel

from subconscious.errors import (
    BadRequestError,
    CapReachedError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.breaker import Breaker
from subconscious.llm.limiter import Limiter, Turn, Window
from subconscious.llm.spending import Purse, Sold, Spending
from subconscious.provider_table import provider_row
from subconscious.providers import Access, Provider, Reply, Request, Usage
from subconscious.providers.prices import default_model
from subconscious.providers.structured import answer
from subconscious.settings import Settings
from subconscious.store.spend import Call, Outcome

Opener = Callable[[str, Access], Provider]

CHECK_SECONDS = 5.0
"""Time that a check of key and model may take."""

GRACE_SECONDS = 5.0
"""What a call may take beyond its time-out, which is the provider's to keep, before we end it."""

REFUSAL = 400
"""The least status of HTTP that says that nothing was done."""

LONGEST_REST = 3600.0
"""Seconds that a provider may tell us to wait; a server with a broken clock must not silence it for good."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """The last error of a provider, and when it was (seconds, wall clock)."""

    at: float
    error: ProviderError


class RestingError(UnavailableError):
    """It is we who don't ask: the breaker is open."""


class PausedError(RateLimitedError):
    """It is we who don't ask: the provider told us to wait."""


class Channel:
    """A provider that is opened when it is first asked."""

    def __init__(self, name: str, settings: Settings, spending: Spending, opener: Opener) -> None:
        self.name = name
        self.access = access(name, settings)
        self.spending = spending
        self.trouble: Trouble | None = None
        self.limiter = Limiter(
            Window(settings.requests_per_minute, settings.tokens_per_minute, settings.rate_window_seconds)
        )
        self.at_once = asyncio.Semaphore(provider_row(name).at_once)
        self.breaker = Breaker(settings.breaker_failures, settings.breaker_seconds)
        self._settings = settings
        self._opener = opener
        self._opening = asyncio.Lock()
        self._provider: Provider | None = None
        self._refused: tuple[float, KeyRefusedError] | None = None

    def with_key(self, key: str) -> Channel:
        """The same provider at the same address, asked with another key: another account.

        It shares the limits a minute and the spending. A refused key, a pause and a rest are each account's own.
        """
        other = Channel(self.name, self._settings, self.spending, self._opener)
        other.access = replace(self.access, key=key)
        other.limiter = self.limiter.sibling()
        return other

    @property
    def has_key(self) -> bool:
        """Whether it has a key, or needs none."""
        return bool(self.access.key) or not provider_row(self.name).needs_key(self.access.base_url)

    @property
    def refused(self) -> KeyRefusedError | None:
        """Why its key is not tried just now."""
        if self._refused and monotonic() - self._refused[0] < self._settings.provider_recheck_minutes * 60:
            return self._refused[1]
        return None

    async def ask(self, request: Request, purse: Purse) -> BaseModel:
        """Ask, and again after a failure that may pass. Raises ProviderError."""
        attempt = 1
        while True:
            try:
                return await self._ask(request, purse)
            except (RateLimitedError, UnavailableError) as error:
                pause = _pause(error, attempt)
                if attempt >= self._settings.provider_attempts or pause > self._settings.provider_patience_seconds:
                    raise
            attempt += 1
            await asyncio.sleep(pause)

    async def _ask(self, request: Request, purse: Purse) -> BaseModel:
        self.allow()
        with self.noting():
            found, _ = await answer(Metered(self, await self.provider(), purse), request)
        return found

    def allow(self) -> None:
        """Raise what speaks against a call just now: a refused key, a rest."""
        if refusal := self.refused:
            raise KeyRefusedError(refusal.message, refusal.remedy)
        if rest := self.breaker.closed_for():
            raise RestingError(
                f"{self.name} failed {self._settings.breaker_failures} times in a row and is left alone for a while",
                "wait; `subconscious status` says what it answered last",
                rest,
            )
        if self.limiter.paused > self._settings.provider_patience_seconds:
            raise PausedError(self._why_paused(), "wait, or ask less", self.limiter.paused)

    def _why_paused(self) -> str:
        known = self.trouble.error if self.trouble else None
        return known.message if isinstance(known, RateLimitedError) else f"{self.name} asked for a pause"

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Remember what went wrong, for `status`; a refused key also so that it is not tried again and again."""
        try:
            yield
        except (RestingError, PausedError):
            raise  # what led to it is remembered already
        except ProviderError as error:
            self.trouble = Trouble(time(), error)
            if isinstance(error, KeyRefusedError):
                self._refused = (monotonic(), error)
            raise

    async def provider(self) -> Provider:
        """The provider, opened in a thread: its SDK takes up to a second to import."""
        async with self._opening:
            if self._provider is None:
                self._provider = await asyncio.to_thread(self._opener, self.name, self.access)
            return self._provider

    async def check(self) -> None:
        """See whether key and model are accepted. Raises ProviderError, within five seconds."""
        with self.noting():
            # Its SDK is loaded before the clock runs: on a busy machine that alone takes seconds, once.
            provider = await self.provider()
            try:
                async with asyncio.timeout(CHECK_SECONDS):
                    await provider.check()
            except TimeoutError as error:
                raise UnavailableError(
                    f"{self.name} did not answer within {CHECK_SECONDS:g} s", "see whether it runs and can be reached"
                ) from error
        self._refused = None

    def state(self) -> dict[str, Any]:
        """How it stands, for `status`."""
        trouble = self.trouble
        return {
            "name": self.name,
            "model": self.access.model,
            "open": self._provider is not None,
            "breaker": str(self.breaker.state),
            "refused": self._refused is not None,
            "error": trouble
            and {
                "at": trouble.at,
                "code": trouble.error.code,
                "message": trouble.error.message,
                "remedy": trouble.error.remedy,
            },
        }

    @property
    def timeout(self) -> float:
        """Seconds after which a call is ended."""
        return self._settings.provider_timeout_seconds + GRACE_SECONDS

    async def close(self) -> None:
        """Let the provider go."""
        async with self._opening:
            if self._provider is not None:
                await self._provider.close()
            self._provider = None


class Metered:
    """A provider whose every call waits its turn, is reserved, and is on record before its answer is used.

    A repair is a call too, so what asks twice pays twice.
    """

    def __init__(self, channel: Channel, provider: Provider, purse: Purse) -> None:
        self.name = channel.name
        self.model = provider.model
        self._channel = channel
        self._provider = provider
        self._purse = purse
        self._sold = Sold(channel.name, provider.model, channel.access.base_url)

    async def ask(self, request: Request) -> Reply:
        """Ask once. Raises CapReachedError before the call, ProviderError of it."""
        most = self._sold.most(request)
        async with self._channel.at_once, self._channel.limiter.turn(most.input + most.output) as turn:
            turn.made = False
            # Looked at again: much may have happened while others had their turn.
            self._channel.allow()
            trying = self._channel.breaker.enter()
            try:
                call_id = await self._reserve(request, most)
                turn.made = True
            except BaseException:
                # Also when cancelled: a trial call that is never made must leave room for another.
                self._channel.breaker.abandoned(trying)
                raise
            receipt = Receipt(self._channel.spending, self._sold, call_id, most)
            return await self._call(request, receipt, turn, trying)

    async def _reserve(self, request: Request, most: Usage) -> int:
        purse, spending = self._purse, self._channel.spending
        reserved = spending.counted(self._sold, most)
        call = Call(
            time(),
            self.name,
            self.model,
            request.purpose,
            purse.session_id,
            purse.project_id,
            reserved,
            input_tokens=most.input,
            output_tokens=most.output,
        )
        reserving = asyncio.ensure_future(spending.reserve(call))
        try:
            return await asyncio.shield(reserving)
        except asyncio.CancelledError:
            # The record may be there by now, of a call that will never be made.
            with suppress(CapReachedError):
                await spending.withdraw(await reserving)
            raise

    async def _call(self, request: Request, receipt: Receipt, turn: Turn, trying: bool) -> Reply:
        breaker = self._channel.breaker
        try:
            reply = await self._within_time(request)
        except asyncio.CancelledError:
            breaker.abandoned(trying)
            await asyncio.shield(receipt.cancelled())
            raise
        except Exception as error:
            # Any failure, also an SDK's own, has to reach the breaker and close the record before it is raised again.
            if isinstance(error, ProviderError) and not isinstance(error, UnavailableError):
                breaker.succeeded()
            else:
                breaker.failed(trying)
            if after := getattr(error, "retry_after", None):
                self._channel.limiter.pause(min(after, LONGEST_REST))
            await receipt.failed(error)
            raise
        breaker.succeeded()
        turn.tokens = await receipt.answered(reply)
        return reply

    async def _within_time(self, request: Request) -> Reply:
        try:
            async with asyncio.timeout(self._channel.timeout):
                return await self._provider.ask(request)
        except TimeoutError as error:
            raise UnavailableError(f"{self.name} did not answer in time", "wait, or try another model") from error

    async def check(self) -> None:
        """As the provider itself."""
        await self._provider.check()

    async def close(self) -> None:
        """Nothing: the provider is the channel's to close."""


class Receipt:
    """The record of one call that is under way."""

    def __init__(self, spending: Spending, sold: Sold, call_id: int, most: Usage) -> None:
        self._spending = spending
        self._sold = sold
        self._id = call_id
        self._most = most
        self._begun = monotonic()

    async def answered(self, reply: Reply) -> int:
        """Write the cost down; return the tokens that count against the limit."""
        outcome = self._spending.answered(self._sold, reply, self._most)
        await self._complete(outcome)
        return outcome.input_tokens + outcome.output_tokens

    async def failed(self, error: Exception) -> None:
        """Write down that it failed: at a price the provider told, for nothing, or for nobody knows what."""
        code, told = getattr(error, "code", "E060"), getattr(error, "usage", None)
        if told is not None:
            outcome = self._spending.answered(self._sold, Reply("", told, self._sold.model), self._most)
            await self._complete(replace(outcome, outcome=code))
        else:
            await self._complete(self._spending.failed(self._sold, self._most, code, charged=may_be_charged(error)))

    async def cancelled(self) -> None:
        """Write down that we broke it off; the provider may charge for it all the same."""
        await self._complete(self._spending.failed(self._sold, self._most, "cancelled", charged=True))

    async def _complete(self, outcome: Outcome) -> None:
        await self._spending.complete(self._id, replace(outcome, duration=monotonic() - self._begun))


NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"})
"""Causes, by name so that no SDK is imported, with which nothing reached the provider."""


def may_be_charged(error: Exception) -> bool:
    """Whether a call that failed so may cost something all the same.

    A status of refusal is free, and so is what was never sent. What was cut off, or timed out, may have been thought
    through and charged without our ever hearing of it; an answer that could not be read was.
    """
    if isinstance(error, KeyRefusedError | RateLimitedError | BadRequestError):
        return False
    cause: BaseException | None = error
    while cause is not None:
        status = getattr(cause, "status_code", None)
        if type(cause).__name__ in NEVER_SENT or (isinstance(status, int) and status >= REFUSAL):
            return False
        cause = cause.__cause__ or cause.__context__
    return True


def access(name: str, settings: Settings) -> Access:
    """What the settings say of a provider."""
    own = settings.of_provider(name)
    options = {option: value for option, value in own.items() if value and option not in ("model", "key", "url")}
    return Access(
        model=own.get("model") or default_model(name),
        key=own.get("key", ""),
        base_url=own.get("url", ""),
        timeout=settings.provider_timeout_seconds,
        options=options | settings.provider_options.get(name, {}),
    )


def _pause(error: RateLimitedError | UnavailableError, attempt: int) -> float:
    """Full jitter on an exponential pause: calls that failed together don't come back together."""
    jitter = random.random() * 2.0 ** (attempt - 1)  # noqa: S311 - no secret
    return max(jitter, (error.retry_after or 0.0) * (1 + random.random() / 10))  # noqa: S311
