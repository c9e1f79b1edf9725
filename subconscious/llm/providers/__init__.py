"""Language models behind one protocol.

To add a provider, write a class that implements ``Provider`` and add its table to ``models.toml``; docs/extending.md
has an example, and the contract tests run over the table. An SDK is imported when its provider is opened, so without a
provider none is ever loaded.
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
from subconscious.settings.provider_table import provider_rows

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
"""The setting for no model, which is the default."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, and the schema that its answer must have.

    ``purpose`` is what the cost is recorded under ("capture", "poisoning", ...). ``text`` must not contain secrets or
    private spans: providers send it unchanged.
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
    """A language model. Used from one event loop; several calls may run at once."""

    name: str
    """Its name in the table, recorded with each call."""

    model: str
    """The model that requests go to."""

    async def ask(self, request: Request) -> Reply:
        """Make one call, without a retry, with the provider's own structured output.

        Raises a ProviderError of the matching kind; cancellation ends the call and frees its resources.
        """
        ...

    async def check(self) -> None:
        """Check whether the key and the model are accepted, at no cost. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Close connections and children. May be called twice."""
        ...


class BatchState(StrEnum):
    """The state of a native batch."""

    RUNNING = "running"
    ENDED = "ended"
    EXPIRED = "expired"
    """Ended by the provider's time limit; its answers can be read, the other requests are sent again."""
    LOST = "lost"
    """The provider does not know it, or no longer."""


@runtime_checkable
class BatchProvider(Protocol):
    """A provider with a native batch API: half the price, for deferred requests."""

    async def submit(self, requests: Mapping[str, Request]) -> str:
        """Submit requests under keys of the caller ([a-zA-Z0-9_-]{1,64}); return the batch's id."""
        ...

    async def poll(self, batch_id: str) -> BatchState:
        """Return the state of the batch.

        Raises BadRequestError for a batch that was refused as a whole: its requests should be sent one by one.
        """
        ...

    def results(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """Yield each key with its reply, or with the error of that request; can be read again.

        A missing key was not answered in time, and should be sent again.
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
"""The function that rooms get to send requests: validated, rate-limited, paid for elsewhere. Raises ProviderError."""

PROVIDERS: dict[str, str] = {name: f"{__name__}.{row.adapter}" for name, row in provider_rows().items()}
"""Name in the settings -> "module:Class"; the class is called with an Access."""


def open_provider(name: str, access: Access) -> Provider:
    """Open the provider of that name and import its SDK. Takes up to a second: call it in a thread.

    Raises ProviderError if there is no such provider, UnavailableError while its SDK is being installed.
    """
    if name not in PROVIDERS:
        raise ProviderError(
            f"there is no provider {name!r}", f"set provider to one of: {', '.join([*PROVIDERS, NONE])}"
        )
    if absence := extras.ensure(name):
        raise _not_there(absence)
    module, _, attribute = PROVIDERS[name].partition(":")
    provider: Provider = getattr(import_module(module), attribute)(access)
    return provider


def _not_there(absence: extras.Absence) -> ProviderError:
    if absence.seconds is None:
        return ProviderError(absence.message, absence.remedy)
    return UnavailableError(absence.message, absence.remedy, absence.seconds)
