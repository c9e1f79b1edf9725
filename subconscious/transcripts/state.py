"""What one reading of a transcript hands to the next: small, and kept as JSON beside the offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from subconscious.transcripts.lines import Head


@dataclass(frozen=True, slots=True)
class Queued:
    """A prompt typed while the model worked, until the client says what became of it. "" was used already."""

    text: str
    time: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class State:
    """The carried state of one transcript.

    ``tool_seen``: tool output came since the last prompt. ``interrupted``: the next prompt follows
    an interrupt. ``tools``: names of tool uses that have no result yet, by id, and ``aims`` what they were about: a
    command, a file. ``queue``: prompts that wait. ``said``: the end of what the assistant said last.
    """

    head: Head | None = None
    tool_seen: bool = False
    interrupted: bool = False
    time: float = 0.0
    session_id: str = ""
    cwd: str = ""
    branch: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    aims: Mapping[str, str] = field(default_factory=dict)
    queue: tuple[Queued, ...] = ()
    said: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON can hold it."""
        dumped: dict[str, Any] = _STATE.dump_python(self, mode="json")
        return dumped

    @classmethod
    def from_json(cls, value: object) -> State:
        """Read what ``to_json`` gave; of anything else make a fresh state: lines come again, no harm done."""
        try:
            return _STATE.validate_python(value)
        except ValidationError:
            return cls()


_STATE = TypeAdapter(State)
