"""A channel to one provider: rate limits, circuit breaker, retries, and a record of every call."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from time import monotonic, time

from pydantic import BaseModel

from subconscious.domain.errors import (
    BadRequestError,
    CapReachedError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.limiter import Breaker, Limiter, Turn, Window
from subconscious.llm.providers import Access, Provider, Reply, Request, Usage
from subconscious.llm.providers.prices import default_model
from subconscious.llm.providers.structured import answer
from subconscious.llm.spending import BilledTo, PricedModel, Spending
from subconscious.settings.provider_table import provider_row
from subconscious.settings.settings import Settings
from subconscious.store.spend import Call, Outcome
from subconscious.wire.daemon import ChannelState

Opener = Callable[[str, Access], Provider]

CHECK_SECONDS = 5.0
"""The most seconds that a check of key and model may take."""

GRACE_SECONDS = 5.0
"""Seconds that the daemon waits after the provider's time-out (a setting) has passed, before it ends a call."""

REFUSAL = 400
"""The lowest HTTP status of an error; a server that returns an error counts as not having processed the request."""

LONGEST_REST = 3600.0
"""The longest pause, in seconds, that a provider can request: a server's wrong clock must not block calls for good."""


@dataclass(frozen=True, slots=True)
class LastError:
    """The last error of a provider, and the time of the error (seconds since the epoch)."""

    at: float
    error: ProviderError


class RestingError(UnavailableError):
    """No call was made, because the circuit breaker is open after repeated failures."""


class PausedError(RateLimitedError):
    """No call was made, because the provider requested a pause."""


class Channel:
    """A channel to a provider. The provider is opened at the first request."""

    def __init__(self, name: str, settings: Settings, spending: Spending, opener: Opener) -> None:
        self.name = name
        self.access = access(name, settings)
        self.spending = spending
        self.last_error: LastError | None = None
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
        """Return a channel to the same provider and address with another key, and therefore to another account.

        Both channels share rate limits and spending. Refused keys, pauses and the circuit breaker are per account.
        """
        other = Channel(self.name, self._settings, self.spending, self._opener)
        other.access = replace(self.access, key=key)
        other.limiter = self.limiter.sibling()
        return other

    @property
    def has_key(self) -> bool:
        """Whether the channel has a key, or the provider needs none."""
        return bool(self.access.key) or not provider_row(self.name).needs_key(self.access.base_url)

    @property
    def refused(self) -> KeyRefusedError | None:
        """The provider's recent refusal of the key, which is then not used for a while; None if there is no refusal."""
        if self._refused and monotonic() - self._refused[0] < self._settings.provider_recheck_minutes * 60:
            return self._refused[1]
        return None

    async def ask(self, request: Request, billed_to: BilledTo) -> BaseModel:
        """Return the answer to a request, with retries after temporary failures. Raises ProviderError if all fail."""
        attempt = 1
        while True:
            try:
                return await self._ask(request, billed_to)
            except (RateLimitedError, UnavailableError) as error:
                pause = _pause(error, attempt)
                if attempt >= self._settings.provider_attempts or pause > self._settings.provider_patience_seconds:
                    raise
            attempt += 1
            await asyncio.sleep(pause)

    async def _ask(self, request: Request, billed_to: BilledTo) -> BaseModel:
        self.allow()
        with self.noting():
            found, _ = await answer(MeteredProvider(self, await self.provider(), billed_to), request)
        return found

    def allow(self) -> None:
        """Raise the error that prevents a call now, if any: a refused key, an open circuit breaker, a long pause."""
        if refusal := self.refused:
            raise KeyRefusedError(refusal.message, refusal.remedy)
        if rest := self.breaker.closed_for():
            raise RestingError(
                f"{self.name} failed {self._settings.breaker_failures} times in a row and is paused",
                "wait; `subconscious status` shows its last error",
                rest,
            )
        if self.limiter.paused > self._settings.provider_patience_seconds:
            raise PausedError(self._why_paused(), "wait, or send fewer requests", self.limiter.paused)

    def _why_paused(self) -> str:
        known = self.last_error.error if self.last_error else None
        return known.message if isinstance(known, RateLimitedError) else f"{self.name} requested a pause"

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Record errors that the block raises, for `status`, and to avoid further calls with a refused key."""
        try:
            yield
        except (RestingError, PausedError):
            raise  # the error that led to the pause is stored already
        except ProviderError as error:
            self.last_error = LastError(time(), error)
            if isinstance(error, KeyRefusedError):
                self._refused = (monotonic(), error)
            raise

    async def provider(self) -> Provider:
        """Return the provider, opened in a thread: importing its SDK takes up to a second."""
        async with self._opening:
            if self._provider is None:
                self._provider = await asyncio.to_thread(self._opener, self.name, self.access)
            return self._provider

    async def check(self) -> None:
        """Check whether key and model are accepted. Raises ProviderError if not.

        The check takes at most ``CHECK_SECONDS`` once the provider is open.
        """
        with self.noting():
            # The SDK is loaded before the time-out starts, because loading alone takes seconds on a busy machine.
            provider = await self.provider()
            try:
                async with asyncio.timeout(CHECK_SECONDS):
                    await provider.check()
            except TimeoutError as error:
                raise UnavailableError(
                    f"{self.name} did not answer within {CHECK_SECONDS:g} s", "check that it runs and can be reached"
                ) from error
        self._refused = None

    def state(self) -> ChannelState:
        """Return the state of the channel that `status` shows."""
        last_error = self.last_error
        return {
            "name": self.name,
            "model": self.access.model,
            "open": self._provider is not None,
            "breaker": str(self.breaker.state),
            "refused": self._refused is not None,
            "error": {
                "at": last_error.at,
                "code": last_error.error.code,
                "message": last_error.error.message,
                "remedy": last_error.error.remedy,
            }
            if last_error
            else None,
        }

    @property
    def timeout(self) -> float:
        """Seconds after which the daemon ends a call."""
        return self._settings.provider_timeout_seconds + GRACE_SECONDS

    async def close(self) -> None:
        """Close the provider; the next request opens it again."""
        async with self._opening:
            if self._provider is not None:
                await self._provider.close()
            self._provider = None


class MeteredProvider:
    """A provider whose calls wait for the rate limit and are recorded.

    The cost of each call is reserved before the call, and recorded before its answer is used. The repair of an
    unreadable answer is a separate call with its own cost.
    """

    def __init__(self, channel: Channel, provider: Provider, billed_to: BilledTo) -> None:
        self.name = channel.name
        self.model = provider.model
        self._channel = channel
        self._provider = provider
        self._billed_to = billed_to
        self._priced = PricedModel(channel.name, provider.model, channel.access.base_url)

    async def ask(self, request: Request) -> Reply:
        """Make one call. Raises CapReachedError if it would exceed a cap, ProviderError if the call fails."""
        most = self._priced.most(request)
        async with self._channel.at_once, self._channel.limiter.turn(most.input + most.output) as turn:
            turn.made = False
            # Checked again, because the provider may have failed or requested a pause while this call waited.
            self._channel.allow()
            trying = self._channel.breaker.enter()
            try:
                call_id = await self._reserve(request, most)
                turn.made = True
            except BaseException:
                # After any error, even a cancellation: a trial call that was never made must not block the next one.
                self._channel.breaker.abandoned(trying)
                raise
            receipt = Receipt(self._channel.spending, self._priced, call_id, most)
            return await self._call(request, receipt, turn, trying)

    async def _reserve(self, request: Request, most: Usage) -> int:
        billed_to, spending = self._billed_to, self._channel.spending
        reserved = spending.counted(self._priced, most)
        call = Call(
            time(),
            self.name,
            self.model,
            request.purpose,
            billed_to.session_id,
            billed_to.project_id,
            reserved,
            input_tokens=most.input,
            output_tokens=most.output,
        )
        reserving = asyncio.ensure_future(spending.reserve(call))
        try:
            return await asyncio.shield(reserving)
        except asyncio.CancelledError:
            # The call will not be made, but its record may exist already.
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
            # The breaker and the record must be updated after any failure, even an unexpected error of the SDK.
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
        """Check the provider; a check is not recorded and costs nothing."""
        await self._provider.check()

    async def close(self) -> None:
        """Do nothing: the channel closes the provider."""


class Receipt:
    """Updates the stored record of one running call when the call ends."""

    def __init__(self, spending: Spending, priced: PricedModel, call_id: int, most: Usage) -> None:
        self._spending = spending
        self._priced = priced
        self._id = call_id
        self._most = most
        self._begun = monotonic()

    async def answered(self, reply: Reply) -> int:
        """Record the cost of an answered call; return the tokens that count against the rate limit."""
        outcome = self._spending.answered(self._priced, reply, self._most)
        await self._complete(outcome)
        return outcome.input_tokens + outcome.output_tokens

    async def failed(self, error: Exception) -> None:
        """Record a failed call with the cost that the provider reported, with no cost, or with an unknown cost."""
        code, usage = getattr(error, "code", "E060"), getattr(error, "usage", None)
        if usage is not None:
            outcome = self._spending.answered(self._priced, Reply("", usage, self._priced.model), self._most)
            await self._complete(replace(outcome, outcome=code))
        else:
            await self._complete(self._spending.failed(self._priced, self._most, code, charged=may_be_charged(error)))

    async def cancelled(self) -> None:
        """Record that the daemon cancelled the call, which the provider may charge for nevertheless."""
        await self._complete(self._spending.failed(self._priced, self._most, "cancelled", charged=True))

    async def _complete(self, outcome: Outcome) -> None:
        await self._spending.complete(self._id, replace(outcome, duration=monotonic() - self._begun))


NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"})
"""Class names of errors after which nothing has reached the provider. Comparing names avoids importing SDKs."""


def may_be_charged(error: Exception) -> bool:
    """Whether a failed call may have been charged.

    A refused request is free, and so is a request that was never sent. A call that was cut off or timed out may have
    been processed and charged. An answer that could not be read was charged.
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
    """Return the parameters to open a provider, from the settings."""
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
    """Return the seconds before a retry: exponential with full jitter, so that calls are not retried together."""
    jitter = random.random() * 2.0 ** (attempt - 1)  # noqa: S311 - no secret
    return max(jitter, (error.retry_after or 0.0) * (1 + random.random() / 10))  # noqa: S311
