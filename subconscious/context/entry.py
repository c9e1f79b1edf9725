"""A spool entry (docs/protocol.md): parsed once, at this edge, into frozen values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from subconscious.clients import CLIENTS, VARIABLE
from subconscious.system.json_bounds import MOST_VALUES, has_too_many_values
from subconscious.system.safe_files import NotRegularError, TooLargeError, read_regular

FORMAT = "subconscious"
VERSION = "1"
NAME_SUFFIX = ".entry"
MAX_BYTES = 8 * 2**20
"""Bytes of an entry that are read. A tool that writes a file of 1 MB makes a payload of 2 MB, the largest seen; the
parser needs less than 30 ms for texts of this size."""
MAX_HEADER = 64 * 2**10
LONGEST_TEXT = 2**20
"""Characters of a text that are used, such as a prompt: the hooks ask about no entry that is larger."""
LONGEST_ID = 200
MOST_WORDS = 2000
LONGEST_WRITTEN = 8000
"""Characters that are looked at of each text that a tool puts into a file or takes out of it."""
LONGEST_PATH = 4096
"""Characters of a path; no system opens a longer one."""
PATHS = ("transcript_path", "cwd", "file")
ESCAPES = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\:": ";"}


class BrokenEntryError(ValueError):
    """An entry that can't be understood; the message says why."""


@dataclass(frozen=True, slots=True)
class Payload:
    """What the client says of an event, as far as it is used here; whatever else it says does not matter.

    ``file`` is what a tool was used on, ``words`` what it was to replace and put there, ``written`` only what it was to
    put there, ``command`` the shell command, ``called`` the skill or the sort of agent, ``error`` what went wrong; ""
    after an interruption, which is no error.
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
    """One event with its header. ``at`` in seconds since the epoch; ``client`` is "" for Claude Code."""

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
        """Where the session began: the project's identity; the working folder moves with the model's `cd`."""
        return self.project_dir or self.payload.cwd or "/"


def read_entry(path: Path) -> Entry:
    """Read a whole entry. Raises BrokenEntryError, or OSError when it is gone or can't be read now."""
    try:
        # Hooks write files and no links; what a link leads to, nobody has handed over.
        return parse_entry(path.name, read_regular(path, MAX_BYTES, follow=False))
    except (NotRegularError, TooLargeError) as error:
        raise BrokenEntryError(str(error.strerror)) from error


def parse_entry(name: str, raw: bytes) -> Entry:
    """Parse the header and the payload. Raises BrokenEntryError with the reason."""
    end = raw.find(b"\n", 0, MAX_HEADER)
    fields = raw[: max(0, end)].decode("utf-8", "surrogateescape").split("\t")
    if len(fields) != 7 or fields[0] != f"{FORMAT} {VERSION}":
        raise BrokenEntryError("the header is not of a format this version knows")
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
    """Read the texts that are used. The rest may be anything: half an emoji, a number of a million digits."""
    if has_too_many_values(body):
        raise BrokenEntryError(f"the payload has more than {MOST_VALUES} values")
    try:
        said = json.loads(body.decode("utf-8", "replace"), parse_int=_unread)
    except (ValueError, RecursionError) as error:
        raise BrokenEntryError(f"the payload is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise BrokenEntryError("the payload is no JSON object")
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
    """What a tool was used on, and what it says went wrong."""
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
    """Give the texts that a tool was to put into a file."""
    edits = used.get("edits")
    parts = [used, *(edit for edit in edits if isinstance(edit, dict))] if isinstance(edits, list) else [used]
    texts = (part.get(name) for part in parts for name in ("new_string", "new_source", "content"))
    return (text[:LONGEST_WRITTEN] for text in texts if isinstance(text, str))


def _unread(digits: str) -> None:
    """No number is used here; reading one of a million digits takes seconds, or fails."""


def _seconds(text: str) -> float:
    try:
        return int(text) / 1e9
    except (ValueError, OverflowError) as error:
        raise BrokenEntryError(f"{text!r} is no time") from error


def _options(text: str) -> dict[str, str]:
    pairs = (_split_option(pair) for pair in text.split(";") if "=" in pair)
    return {_unescape(key): _unescape(value) for key, value in pairs}


def _split_option(pair: str) -> tuple[str, str]:
    key, _, value = pair.partition("=")
    return key, value


def parse_secrets(text: str) -> dict[str, str]:
    """The sensitive options, as they come beside an entry that a hook asks about: never in it, for it lies on disk."""
    pairs = (_split_option(pair) for pair in text.split(";") if "=" in pair)
    try:
        return {key: bytes.fromhex(value).decode("utf-8", "replace") for key, value in pairs}
    except ValueError:
        return {}


def _unescape(text: str) -> str:
    """Undo the header's escapes, left to right."""
    parts: list[str] = []
    rest = iter(text)
    for character in rest:
        pair = character + next(rest, "") if character == "\\" else character
        parts.append(ESCAPES.get(pair, pair))
    return "".join(parts)


def _storable(text: str) -> str:
    """What is no UTF-8 can't be stored as text, nor can NUL; what can't be kept is shown as such."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
