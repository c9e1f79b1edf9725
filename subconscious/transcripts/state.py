"""The state that one call of ``read_turns`` passes to the next; it is stored as JSON with the offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from subconscious.transcripts.lines import Head


@dataclass(frozen=True, slots=True)
class Queued:
    """A prompt that was typed while the model worked, until the client removes it from its queue.

    ``text`` is "" if the prompt must not become a turn. ``start`` and ``end`` are the offsets of its line.
    """

    text: str
    time: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class State:
    """The state of one transcript after a call of ``read_turns``.

    ``tool_seen``: there has been tool output since the last prompt. ``interrupted``: the next prompt follows an
    interruption. ``tools`` has, by id, the tools of calls that have no result yet, ``aims`` their commands or files.
    ``queue`` has the prompts that wait in the client's queue. ``said`` is the end of the assistant's last message.
    ``answered`` is the end of the assistant's message whose question the last prompt answered; "" if there is none.
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
    answered: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        dumped: dict[str, Any] = _STATE.dump_python(self, mode="json")
        return dumped

    @classmethod
    def from_json(cls, value: object) -> State:
        """Read the result of ``to_json``; return a new state for any other value."""
        try:
            return _STATE.validate_python(value)
        except ValidationError:
            return cls()


_STATE = TypeAdapter(State)
