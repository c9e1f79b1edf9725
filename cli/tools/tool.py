"""What a tool is, and the layer that says how much it tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from .arguments import Arguments
from .results import Result

CHARACTERS_A_TOKEN = 4


class Asking(Protocol):
    """How a tool reaches the daemon."""

    @property
    def project(self) -> str:
        """The id of the project that this server is for."""

    @property
    def session(self) -> str:
        """The session whose model asks; "" where the client does not tell."""

    def ask(self, cmd: str, **args: Any) -> dict[str, Any]:
        """Put one request to the daemon; arguments that are None are left out."""


class Layer(Enum):
    """How deep a tool looks, and the tokens that its answer takes: few for most, and never more than the second."""

    ORCHESTRATION = (2000, 4000)
    DISCOVERY = (200, 500)
    SURGICAL = (200, 800)
    EXPLORATION = (500, 1500)
    DETAIL = (1000, 2000)

    @property
    def room(self) -> int:
        """The characters that an answer may have."""
        return self.value[1] * CHARACTERS_A_TOKEN

    @property
    def told(self) -> str:
        """The budget, as a description tells of it."""
        return f"({self.value[0]}-{self.value[1]} tokens)"


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table: what the model is told of a tool, what it may say, and how it is answered.

    ``requests`` are those of docs/protocol.md that ``answer`` makes.
    """

    name: str
    layer: Layer
    meaning: str
    arguments: type[Arguments]
    result: type[Result]
    requests: tuple[str, ...]
    answer: Callable[[Any, Asking], Result]
    reads: bool = True

    @property
    def description(self) -> str:
        """What the model reads of it."""
        return f"{self.meaning} {self.layer.told}"
