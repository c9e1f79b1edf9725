"""Models of language, each behind one protocol.

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
from subconscious.errors import ProviderError, UnavailableError
from subconscious.model import Usage
from subconscious.provider_table import provider_rows

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
"""The choice to have no model: the default, complete in itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question, and the shape that its answer must have.

    ``purpose`` is what the cost is recorded under ("capture", "poisoning", ...). ``text`` must be free of secrets and
    private spans already: providers send it as it is.
    """

    purpose: str
    system: str
    text: str
    schema: type[BaseModel]
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, not yet validated: text that should be the JSON of the request's schema."""

    text: str
    usage: Usage
    model: str


class Provider(Protocol):
    """A model of language that can be asked. Used from one event loop; several calls may run at once."""

    name: str
    """Its row in the table, recorded with each call."""

    model: str
    """The model that is asked."""

    async def ask(self, request: Request) -> Reply:
        """Ask once, without a retry, in the provider's own way of structured output.

        Raises a ProviderError of the kind that happened; cancellation ends the call and frees what it held.
        """
        ...

    async def check(self) -> None:
        """See whether the key and the model are accepted, at no cost. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Close connections and children. May be called twice."""
        ...


class BatchState(StrEnum):
    """How far a native batch is."""

    RUNNING = "running"
    ENDED = "ended"
    EXPIRED = "expired"
    """Ended by the provider's own limit of time; what was answered by then can be read, the rest is asked again."""
    LOST = "lost"
    """The provider does not know it (any more)."""


@runtime_checkable
class BatchProvider(Protocol):
    """A provider with a native batch API: half the price, for work that can wait."""

    async def submit(self, requests: Mapping[str, Request]) -> str:
        """Hand over requests under keys of the caller's ([a-zA-Z0-9_-]{1,64}); return the batch's id."""
        ...

    async def poll(self, batch_id: str) -> BatchState:
        """Say how far the batch is.

        Raises BadRequestError for a batch that was refused as a whole: its items are better asked one by one.
        """
        ...

    def results(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """Give each key with its reply, or with the error of that one item; can be read again.

        A key that doesn't come wasn't answered in time: it is to be asked again.
        """
        ...


@dataclass(frozen=True, slots=True)
class Access:
    """What a provider is opened with. ``key`` is "" where none is needed; ``options`` are a provider's own."""

    model: str
    key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 60.0
    options: Mapping[str, Any] = field(default_factory=dict)


Answer = tuple[BaseModel, Reply]
"""A validated answer, with the reply that it came in."""

Ask = Callable[[Request], Awaitable[BaseModel]]
"""How rooms that need a model are given one: validated, limited, paid for elsewhere. Raises ProviderError."""

PROVIDERS: dict[str, str] = {name: f"{__name__}.{row.adapter}" for name, row in provider_rows().items()}
"""Name of the setting -> "module:Class"; the class is called with an Access."""


def open_provider(name: str, access: Access) -> Provider:
    """Open the provider of that name, importing its SDK. Takes up to a second: call it in a thread.

    Raises ProviderError when there is no such provider, UnavailableError while its SDK is being installed.
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
