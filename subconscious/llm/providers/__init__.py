"""Providers of language models, with one protocol for all.

To add a provider, write a class that implements ``Provider`` and add its table to ``models.toml``; docs/extending.md
has an example. The contract tests run for each provider in the table; a provider with an HTTP API needs a server in
``SERVERS`` (tests/contract/provider_kits.py). An SDK is imported when its provider is opened, not before.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from subconscious import extras
from subconscious.domain.errors import ProviderError, UnavailableError
from subconscious.domain.usage import Usage
from subconscious.settings.provider_table import provider_row, provider_rows

__all__ = [
    "NONE",
    "PROVIDERS",
    "Access",
    "Answer",
    "Ask",
    "BatchProvider",
    "BatchState",
    "Provider",
    "Reply",
    "Request",
    "Usage",
    "open_provider",
]

NONE = "none"
"""The value of the setting ``provider`` for no model, which is the default."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model, and the schema that the answer must have.

    ``purpose`` is the name by which the cost is recorded ("capture", "poisoning", ...). ``text`` must not contain
    secrets or private spans: providers send it unchanged.
    """

    purpose: str
    system: str
    text: str
    schema: type[BaseModel]
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer before validation: text that should be JSON of the request's schema."""

    text: str
    usage: Usage
    model: str


class Provider(Protocol):
    """A language model at a provider. It is used from one event loop; several calls may run at once."""

    name: str
    """The provider's name in the table, which is recorded with each call."""

    model: str
    """The name of the model that requests are sent to."""

    async def ask(self, request: Request) -> Reply:
        """Make one call, without a retry, with the provider's own structured output.

        Raises the matching subclass of ProviderError if the call fails. Cancellation ends the call and frees its
        resources.
        """
        ...

    async def check(self) -> None:
        """Check, at no cost, whether the key and the model are accepted. Raises ProviderError if not."""
        ...

    async def close(self) -> None:
        """Close connections and child processes; may be called twice."""
        ...


class BatchState(StrEnum):
    """The state of a batch at a provider."""

    RUNNING = "running"
    ENDED = "ended"
    EXPIRED = "expired"
    """The batch reached the provider's time limit; its answers can be read, and its other requests are sent again."""
    LOST = "lost"
    """The provider does not know the batch, or does not know it any more."""


@runtime_checkable
class BatchProvider(Protocol):
    """A provider with a batch API, which answers deferred requests at half the price."""

    async def submit(self, requests: Mapping[str, Request]) -> str:
        """Submit requests, each with a key that the caller chose ([a-zA-Z0-9_-]{1,64}); return the batch's id."""
        ...

    async def poll(self, batch_id: str) -> BatchState:
        """Return the state of the batch.

        Raises BadRequestError if the batch was refused as a whole: then its requests should be sent one by one.
        """
        ...

    def results(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """Yield each key with the reply to its request, or with its error; may be called several times.

        A request whose key is missing was not answered in time, and should be sent again.
        """
        ...


@dataclass(frozen=True, slots=True)
class Access:
    """The parameters to open a provider. ``key`` is "" if none is needed; ``options`` are specific to the provider."""

    model: str
    key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 60.0
    options: Mapping[str, Any] = field(default_factory=dict)


Answer = tuple[BaseModel, Reply]
"""A validated answer, with the reply that contained it."""

Ask = Callable[[Request], Awaitable[BaseModel]]
"""A function that sends a request and returns the validated answer. Raises ProviderError if it fails."""

PROVIDERS: dict[str, str] = {name: f"{__name__}.{row.adapter}" for name, row in provider_rows().items()}
"""The class ("module:Class") of each provider, by its name in the settings. The class is called with an Access."""


def open_provider(name: str, access: Access) -> Provider:
    """Import a provider's SDK and return the provider. This takes up to a second, so call it in a thread.

    Raises UnavailableError while the provider's SDK is being installed, another ProviderError if there is no such
    provider or it can't be opened, for instance without its key.
    """
    if name not in PROVIDERS:
        raise ProviderError(
            f"there is no provider {name!r}", f"set provider to one of: {', '.join([*PROVIDERS, NONE])}"
        )
    if absence := extras.ensure(provider_row(name).sdk):
        raise _not_there(absence)
    module, _, attribute = PROVIDERS[name].partition(":")
    provider: Provider = getattr(import_module(module), attribute)(access)
    return provider


def _not_there(absence: extras.Absence) -> ProviderError:
    if absence.seconds is None:
        return ProviderError(absence.message, absence.remedy)
    return UnavailableError(absence.message, absence.remedy, absence.seconds)
