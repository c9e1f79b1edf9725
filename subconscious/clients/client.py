"""The description of a coding agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Values = Mapping[str, Any]
"""A JSON object."""


@dataclass(frozen=True, slots=True)
class Client:
    """A coding agent besides Claude Code.

    ``payload`` converts the input of its hooks to the format of Claude Code, and ``answer`` converts a hook response of
    Claude Code's format to its own; both have the event as their first argument. ``transcript`` matches the first bytes
    of its transcripts, and ``records`` converts a line of them to lines of Claude Code's format. ``programs`` are the
    names of its program, ``scripts`` the ends of the paths of its script if a runtime such as node runs it, and
    ``marks`` the environment variables that it sets for every command that its model runs. ``servers`` are arguments
    with which the program runs as a server for several front ends; its process tree then doesn't show who types.

    ``instructions`` are the files that it loads by itself: a plain name is looked up in the project's folder and its
    parents, a path with a slash in the user's home folder, and a path that begins with "../" is relative to the path of
    the session's transcript. ``notes`` is the folder, also relative to the transcript, with its model's notes about the
    project, one file for each note.
    """

    name: str
    label: str
    payload: Callable[[str, Values], dict[str, Any]]
    answer: Callable[[str, Values], dict[str, Any]]
    transcript: re.Pattern[bytes]
    records: Callable[[Values], list[dict[str, Any]]]
    programs: frozenset[bytes]
    scripts: tuple[bytes, ...] = ()
    marks: tuple[str, ...] = ()
    servers: tuple[bytes, ...] = ()
    instructions: tuple[str, ...] = ()
    notes: str = ""


def text_of(values: object, *keys: str) -> str:
    """Return the string found in nested objects by following ``keys``; "" if there is none."""
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values if isinstance(values, str) else ""


def tool_use(number: str, name: str, given: Values) -> dict[str, Any]:
    """Return a tool call as a block of Claude Code's transcripts."""
    return {"type": "tool_use", "id": number, "name": name, "input": dict(given)}


def tool_result(number: str, text: str, *, failed: bool) -> dict[str, Any]:
    """Return a tool's result as a block of Claude Code's transcripts."""
    return {"type": "tool_result", "tool_use_id": number, "content": text, "is_error": failed}


def spoken(role: str, number: str, content: object, **more: object) -> dict[str, Any]:
    """Return a message as a record of Claude Code's transcripts; ``role`` is "user" or "assistant"."""
    return {"type": role, "uuid": number, "message": {"role": role, "content": content}, **more}


INTERRUPTED = "[Request interrupted by user]"
"""The text of an interruption in Claude Code's transcripts."""
