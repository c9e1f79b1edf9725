"""The definition of a tool, and the layers that limit the length of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from .arguments import Arguments
from .results import Result

if TYPE_CHECKING:
    from subconscious.wire.requests import Ask


CHARACTERS_PER_TOKEN = 4


class DaemonClient(Protocol):
    """The interface through which tools send requests to the daemon."""

    @property
    def project(self) -> str:
        """The id of the server's project."""

    @property
    def session(self) -> str:
        """The id of the client's session; "" if the client does not report it."""

    @property
    def ask(self) -> Ask:
        """Sends a request to the daemon and returns its answer; arguments that are None are left out."""


class Layer(Enum):
    """The levels of detail of the tools' answers, each with the usual and the highest number of tokens of an answer."""

    ORCHESTRATION = (2000, 4000)
    DISCOVERY = (200, 500)
    SURGICAL = (200, 800)
    EXPLORATION = (500, 1500)
    DETAIL = (1000, 2000)

    @property
    def max_characters(self) -> int:
        """The maximum length of an answer, in characters."""
        return self.value[1] * CHARACTERS_PER_TOKEN

    @property
    def budget(self) -> str:
        """The usual and the highest number of tokens, as stated in a tool's description."""
        return f"({self.value[0]}-{self.value[1]} tokens)"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its description, arguments and result, and the function that answers a call.

    ``requests`` are the requests (docs/protocol.md) that ``answer`` sends to the daemon, except ``status``, which every
    tool may send to get the project's id.
    """

    name: str
    layer: Layer
    meaning: str
    arguments: type[Arguments]
    result: type[Result]
    requests: tuple[str, ...]
    answer: Callable[[Any, DaemonClient], Result]
    reads: bool = True

    @property
    def description(self) -> str:
        """The description that the model reads."""
        return f"{self.meaning} {self.layer.budget}"
