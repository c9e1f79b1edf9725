"""Sends requests to models: chooses the provider and key, applies the caps, and falls back to other providers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from subconscious.domain.errors import KeyRefusedError, ProviderError, RateLimitedError, UnavailableError
from subconscious.llm.channel import Channel, Opener, access
from subconscious.llm.joining import Joiner
from subconscious.llm.providers import NONE, Ask, Request, open_provider
from subconscious.llm.spending import BilledTo, Spending
from subconscious.redaction import cut_private, redact
from subconscious.settings.settings import Settings
from subconscious.store.connect import Database

log = logging.getLogger("subconscious.llm")

OwnKeys = Callable[[str], Mapping[str, str]]
"""Returns, for a session id, the session's own keys by setting name (`openai_key`); empty if none may be used."""

LONG_TEXT = 10_000
"""Texts of at least this many characters are redacted in a thread."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A validated answer with its provider and model: the reliability of each model is rated separately."""

    value: BaseModel
    provider: str
    model: str


class LLMClient:
    """Sends requests to the configured provider and, if it fails, to the fallback providers.

    The daemon has one instance, which is used from one event loop. Nothing is imported or connected before the first
    request. ``opener`` opens a provider by name; tests pass their own. ``own_keys`` returns the keys that a session
    supplied: they are used for that session's requests only, and sent only to the addresses in the settings.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        opener: Opener = open_provider,
        own_keys: OwnKeys = lambda _: {},
    ) -> None:
        self.settings = settings
        self.spending = Spending(database, settings)
        self.channels = [Channel(name, settings, self.spending, opener) for name in _order(settings)]
        self.opener = opener
        self._own_keys = own_keys
        self._accounts: dict[tuple[str, str], Channel] = {}
        """Channels with the keys of sessions, by provider and key."""
        self._former: list[Channel] = []
        self._closing: set[asyncio.Future[Any]] = set()
        self._joiner = Joiner(self.ask, settings)

    @property
    def on(self) -> bool:
        """Whether a provider is configured; without a provider, everything works offline."""
        return bool(self.channels)

    async def ask(self, request: Request, session_id: str = "", project_id: str = "") -> BaseModel:
        """Return the validated answer as ``answer`` does, but without its provider and model."""
        return (await self.answer(request, session_id, project_id)).value

    async def answer(self, request: Request, session_id: str = "", project_id: str = "") -> Answered:
        """Return the validated answer; its cost is recorded for the session and the project.

        This may wait for the rate limit; cancel the call to stop waiting. Raises a ProviderError if the request fails:
        CapReachedError if it can be sent only after ``retry_at``, KeyRefusedError if a person has to correct the key,
        RateLimitedError or UnavailableError if a retry after ``retry_after`` seconds may help.
        """
        request = await guarded(request)
        met: list[ProviderError] = []
        for channel in self.channels_for(session_id):
            try:
                value = await channel.ask(request, BilledTo(session_id, project_id))
                return Answered(value, channel.name, channel.access.model)
            except KeyRefusedError as error:
                # No fallback: the user would notice a wrong key only by the bill of another provider.
                met.append(error)
                break
            except ProviderError as error:
                # Fall back even at a cap: a provider that costs nothing may answer; the others hit the same cap.
                log.info("the request to %s failed (%s): %s", channel.name, error.code, error.message)
                met.append(error)
        raise _worth_waiting_for(met)

    def channels_for(self, session_id: str) -> list[Channel]:
        """Return the channels to the providers in the order of use, with the session's own keys if there are any."""
        return [self._with_own_key(channel, session_id) for channel in self.channels]

    def _with_own_key(self, channel: Channel, session_id: str) -> Channel:
        key = self._own_keys(session_id).get(f"{channel.name}_key", "") if session_id else ""
        if not key or key == channel.access.key:
            return channel
        found = self._accounts.get((channel.name, key))
        if found is None:
            found = self._accounts[channel.name, key] = channel.with_key(key)
        return found

    def has_key(self, session_id: str = "") -> bool:
        """Whether the first provider has a key for requests of a session, or needs none."""
        return self.on and self.channels_for(session_id)[0].has_key

    def may_ask(self, session_id: str = "") -> bool:
        """Whether the first provider has a key for a session's requests, and has not refused the key recently."""
        return self.has_key(session_id) and self.channels_for(session_id)[0].refused is None

    def asks_with_own_key(self, session_id: str) -> bool:
        """Whether requests of this session use the session's own key for the first provider."""
        return self.on and self.channels_for(session_id)[0] is not self.channels[0]

    def asker(self, session_id: str = "", project_id: str = "", *, join: bool = False) -> Ask:
        """Return an ``Ask`` function that uses a session's keys, and records costs for the session and the project.

        With ``join``, requests with the same prompt may be sent in one call. This is meant for many small requests;
        each still receives its own answer.
        """
        if join and self.settings.micro_batches:
            return partial(self._joiner.ask, billed_to=BilledTo(session_id, project_id))
        return partial(self.ask, session_id=session_id, project_id=project_id)

    def channel(self, name: str) -> Channel:
        """Return the channel to a provider.

        A provider that was removed from the settings is reopened to read its batches.
        """
        for channel in (*self.channels, *self._former):
            if channel.name == name:
                return channel
        self._former.append(Channel(name, self.settings, self.spending, self.opener))
        return self._former[-1]

    async def check(self, sessions: Iterable[str] = ()) -> Mapping[str, ProviderError | None]:
        """Check each provider with the settings' key and the keys of ``sessions``; return its first error, or None.

        The check costs nothing, and takes at most five seconds once the providers are open. If the settings lack a key
        that a provider needs, only the keys of sessions are checked.
        """
        own = self.accounts_of(sessions)
        known = {one.name for one in own}
        tried = [one for one in self.channels if one.has_key or one.name not in known] + own
        found: dict[str, ProviderError | None] = dict.fromkeys(one.name for one in self.channels)
        for one, error in zip(tried, await asyncio.gather(*map(_checked, tried)), strict=True):
            found[one.name] = found[one.name] or error
        return found

    async def state(self) -> dict[str, Any]:
        """Return the providers with their states, and the dollars spent today."""
        return {"providers": [channel.state() for channel in self.channels], "spending": await self.spending.state()}

    def accounts_of(self, sessions: Iterable[str]) -> list[Channel]:
        """Return the channels that use keys of these sessions instead of the settings' keys, each channel once."""
        found = {id(one): one for session_id in sessions for one in self.channels_for(session_id)}
        return [one for one in found.values() if one not in self.channels]

    def keep_accounts(self, keys: Collection[str]) -> None:
        """Close the channels with sessions' own keys, except those with a key in ``keys``, which are still in use."""
        self._drop_accounts([name for name in self._accounts if name[1] not in keys])

    def _drop_accounts(self, names: Iterable[tuple[str, str]]) -> None:
        self._close_in_background([self._accounts.pop(name) for name in names])

    def _close_in_background(self, channels: Collection[Channel]) -> None:
        if not channels:
            return
        closing = asyncio.gather(*(channel.close() for channel in channels), return_exceptions=True)
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def reconfigure(self, settings: Settings) -> None:
        """Apply new settings.

        A provider with unchanged parameters keeps its limits, circuit breaker and refused key.
        """
        kept = {channel.name: channel for channel in self.channels if channel.access == access(channel.name, settings)}
        gone = [channel for channel in self.channels if channel.name not in kept]
        self.settings = self.spending.settings = settings
        self.channels = [
            kept.get(name) or Channel(name, settings, self.spending, self.opener) for name in _order(settings)
        ]
        self._close_in_background(gone)
        self._drop_accounts([name for name, account in self._accounts.items() if not self._fits(account)])

    def _fits(self, account: Channel) -> bool:
        """Whether a session's channel still matches the settings: a key is never sent to an earlier address."""
        return account.access == replace(access(account.name, self.settings), key=account.access.key)

    async def close(self) -> None:
        """Close all channels; may be called twice."""
        await self._joiner.close()
        await asyncio.gather(*self._closing)
        await asyncio.gather(
            *(channel.close() for channel in (*self.channels, *self._accounts.values(), *self._former))
        )


def _order(settings: Settings) -> list[str]:
    names = [settings.provider, *settings.provider_fallback] if settings.provider != NONE else []
    return [name for name in dict.fromkeys(names) if name != NONE]


async def guarded(request: Request) -> Request:
    """Return the request without secrets and private parts, in case the caller did not remove them."""
    short = len(request.text) < LONG_TEXT
    text = _clean(request.text) if short else await asyncio.to_thread(_clean, request.text)
    return replace(request, system=redact(request.system).text, text=text)


def _clean(text: str) -> str:
    return redact(cut_private(text)).text


async def _checked(channel: Channel) -> ProviderError | None:
    try:
        await channel.check()
    except ProviderError as error:
        return error
    return None


def _worth_waiting_for(met: list[ProviderError]) -> ProviderError:
    """Return the temporary error after which a retry is possible soonest; if none is temporary, the first error."""
    if not met:
        return ProviderError("no provider is set", 'set provider = "anthropic" (or another provider) in config.toml')
    passing = [error for error in met if isinstance(error, RateLimitedError | UnavailableError)]
    return min(passing, key=lambda error: error.retry_after or 0.0, default=met[0])
