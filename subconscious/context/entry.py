"""Spool entries (docs/protocol.md), parsed once into frozen values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from subconscious.clients import CLIENTS, VARIABLE
from subconscious.system.json_bounds import MOST_VALUES, has_too_many_values
from subconscious.system.safe_files import NotRegularError, TooLargeError, read_regular

FORMAT = "subconscious"
VERSION = "1"
NAME_SUFFIX = ".entry"
MAX_BYTES = 8 * 2**20
"""The largest entry that is read, in bytes. The largest payloads have 2 MB, when a tool writes a file of 1 MB; parsing
8 MB takes less than 30 ms."""
MAX_HEADER = 64 * 2**10
LONGEST_TEXT = 2**20
"""The most characters of a text, such as a prompt, that are used; the rest is ignored."""
LONGEST_ID = 200
MOST_WORDS = 2000
LONGEST_WRITTEN = 8000
"""The number of characters of each text that a tool writes or replaces that are examined; the rest is ignored."""
LONGEST_PATH = 4096
"""The most characters of a path; no system opens a longer one."""
PATHS = ("transcript_path", "cwd", "file")
ESCAPES = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\:": ";"}


class BrokenEntryError(ValueError):
    """An entry that can't be parsed; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The fields of the client's payload that are used; all others are ignored.

    ``file`` is the file of a tool call, ``words`` the replaced and the new text, ``written`` only the new text,
    ``command`` the shell command, ``called`` the skill or type of agent that it calls, ``error`` the error of the call
    ("" after an interruption by the user).
    """

    session_id: str
    transcript_path: str = ""
    cwd: str = ""
    source: str = ""
    model: str = ""
    reason: str = ""
    prompt: str = ""
    prompt_id: str = ""
    agent_id: str = ""
    last_assistant_message: str = ""
    tool_name: str = ""
    error: str = ""
    file: str = ""
    words: str = ""
    written: str = ""
    command: str = ""
    called: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event with its header. ``at`` is in seconds since the epoch; ``client`` is "" for Claude Code."""

    name: str
    event: str
    at: float
    project_dir: str
    config_dir: str
    version: str
    options: Mapping[str, str]
    payload: Payload
    client: str = ""

    @property
    def folder(self) -> str:
        """The folder in which the session began, which identifies the project; the working folder changes with `cd`."""
        return self.project_dir or self.payload.cwd or "/"


def read_entry(path: Path) -> Entry:
    """Read an entry. Raises BrokenEntryError, or OSError if the file is gone or unreadable at the moment."""
    try:
        # Hooks write files, not links; the target of a link did not come from a hook.
        return parse_entry(path.name, read_regular(path, MAX_BYTES, follow=False))
    except (NotRegularError, TooLargeError) as error:
        raise BrokenEntryError(str(error.strerror)) from error


def parse_entry(name: str, raw: bytes) -> Entry:
    """Parse the header and the payload. Raises BrokenEntryError with the reason."""
    end = raw.find(b"\n", 0, MAX_HEADER)
    fields = raw[: max(0, end)].decode("utf-8", "surrogateescape").split("\t")
    if len(fields) != 7 or fields[0] != f"{FORMAT} {VERSION}":
        raise BrokenEntryError("the header has a format that this version does not know")
    event, at, project_dir, config_dir, version = (_unescape(field) for field in fields[1:6])
    options = _options(fields[6])
    client = options.get(VARIABLE, "")
    return Entry(
        name=name,
        event=event,
        at=_seconds(at),
        project_dir=_storable(project_dir),
        config_dir=_storable(config_dir),
        version=version,
        options=options,
        payload=_payload(raw[end + 1 :], event, client),
        client=client if client in CLIENTS else "",
    )


def _payload(body: bytes, event: str, client: str) -> Payload:
    """Parse the fields that are used. Unused fields may have any value, such as a lone surrogate or a huge number."""
    if has_too_many_values(body):
        raise BrokenEntryError(f"the payload has more than {MOST_VALUES} values")
    try:
        said = json.loads(body.decode("utf-8", "replace"), parse_int=_unread)
    except (ValueError, RecursionError) as error:
        raise BrokenEntryError(f"the payload is not JSON: {error}") from error
    if not isinstance(said, dict):
        raise BrokenEntryError("the payload is not a JSON object")
    if client in CLIENTS:
        said = CLIENTS[client].payload(event, said)
    texts = {field.name: said.get(field.name) for field in fields(Payload)}
    texts |= _tool(said)
    known = {name: _storable(text[:LONGEST_TEXT]) for name, text in texts.items() if isinstance(text, str)}
    known |= {name: "" for name in PATHS if len(known.get(name, "")) > LONGEST_PATH}
    if not 0 < len(known.get("session_id", "")) <= LONGEST_ID:
        raise BrokenEntryError("the payload names no session (session_id)")
    return Payload(**known)


def _tool(said: dict[str, object]) -> dict[str, object]:
    """Return the fields of a payload that describe a tool call: its file, texts, command and error."""
    given, response = said.get("tool_input"), said.get("tool_response")
    used: dict[str, object] = given if isinstance(given, dict) else {}
    told: dict[str, object] = response if isinstance(response, dict) else {}
    failed = told.get("is_error") is True or told.get("success") is False
    error = "" if said.get("is_interrupt") is True else said.get("error") or (told.get("error") if failed else "")
    texts = (used.get(name) for name in ("old_string", "new_string", "new_source"))
    words = " ".join(text[:MOST_WORDS] for text in texts if isinstance(text, str))
    return {
        "file": used.get("file_path") or used.get("notebook_path"),
        "words": words,
        "written": "\n".join(_written(used))[:LONGEST_WRITTEN],
        "command": used.get("command"),
        "called": used.get("skill") or used.get("subagent_type"),
        "error": error,
    }


def _written(used: Mapping[str, object]) -> Iterator[str]:
    """Yield the texts that a tool writes to a file."""
    edits = used.get("edits")
    parts = [used, *(edit for edit in edits if isinstance(edit, dict))] if isinstance(edits, list) else [used]
    texts = (part.get(name) for part in parts for name in ("new_string", "new_source", "content"))
    return (text[:LONGEST_WRITTEN] for text in texts if isinstance(text, str))


def _unread(digits: str) -> None:
    """Return None for a number: no number of a payload is used, and parsing a million digits takes seconds or fails."""


def _seconds(text: str) -> float:
    try:
        return int(text) / 1e9
    except (ValueError, OverflowError) as error:
        raise BrokenEntryError(f"{text!r} is not a time") from error


def _options(text: str) -> dict[str, str]:
    pairs = (_split_option(pair) for pair in text.split(";") if "=" in pair)
    return {_unescape(key): _unescape(value) for key, value in pairs}


def _split_option(pair: str) -> tuple[str, str]:
    key, _, value = pair.partition("=")
    return key, value


def parse_secrets(text: str) -> dict[str, str]:
    """Return the sensitive options that a hook sends over the socket with its entry; they are not in the spool."""
    pairs = (_split_option(pair) for pair in text.split(";") if "=" in pair)
    try:
        return {key: bytes.fromhex(value).decode("utf-8", "replace") for key, value in pairs}
    except ValueError:
        return {}


def _unescape(text: str) -> str:
    """Undo the escapes of the header, from left to right."""
    parts: list[str] = []
    rest = iter(text)
    for character in rest:
        pair = character + next(rest, "") if character == "\\" else character
        parts.append(ESCAPES.get(pair, pair))
    return "".join(parts)


def _storable(text: str) -> str:
    """Return text that can be stored: invalid UTF-8 is replaced by question marks, NUL is removed."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


class Said(NamedTuple):
    """The response to a prompt: text for the model (``context``), and text that only the person sees (``message``).

    ``done``: the model has nothing to do, so the person is shown everything and no turn begins.
    """

    context: str
    message: str = ""
    done: bool = False

    @property
    def shown(self) -> str:
        """The text that a person sees if the command is done."""
        return self.message or self.context
