"""A spool entry (docs/protocol.md): parsed once, at this edge, into frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

FORMAT = "subconscious"
VERSION = "1"
NAME_SUFFIX = ".entry"
MAX_BYTES = 64 * 2**20
ESCAPES = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\:": ";"}


class BrokenEntryError(ValueError):
    """An entry that can't be understood; the message says why."""


class Payload(BaseModel):
    """What the client says of an event. Keys that are not used here are ignored: new clients add some."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=False)

    session_id: str = Field(min_length=1, max_length=200)
    transcript_path: str = ""
    cwd: str = ""
    hook_event_name: str = ""
    source: str = ""
    reason: str = ""
    prompt: str = ""
    prompt_id: str = ""
    tool_name: str = ""
    tool_input: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def file_path(self) -> str:
        """The file a tool touched, if it names one."""
        path = self.tool_input.get("file_path") or self.tool_input.get("notebook_path") or ""
        return path if isinstance(path, str) else ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event with its header. ``at`` in seconds since the epoch."""

    name: str
    event: str
    at: float
    project_dir: str
    config_dir: str
    version: str
    options: Mapping[str, str]
    payload: Payload

    @property
    def folder(self) -> str:
        """Where the session began: the project's identity; the working folder moves with the model's `cd`."""
        return self.project_dir or self.payload.cwd


def read_entry(path: Path) -> Entry:
    """Read a whole entry. Raises BrokenEntryError, or OSError when the file is gone."""
    if path.stat().st_size > MAX_BYTES:
        raise BrokenEntryError(f"larger than {MAX_BYTES} bytes")
    return parse_entry(path.name, path.read_bytes())


def parse_entry(name: str, raw: bytes) -> Entry:
    """Parse the header and the payload. Raises BrokenEntryError with the reason."""
    header, _, body = raw.partition(b"\n")
    fields = header.decode("utf-8", "surrogateescape").split("\t")
    if len(fields) != 7 or fields[0] != f"{FORMAT} {VERSION}":
        raise BrokenEntryError("the header is not of a format this version knows")
    event, at, project_dir, config_dir, version = (_unescape(field) for field in fields[1:6])
    return Entry(
        name=name,
        event=event,
        at=_seconds(at),
        project_dir=_storable(project_dir),
        config_dir=_storable(config_dir),
        version=version,
        options=_options(fields[6]),
        payload=_payload(body),
    )


def _payload(body: bytes) -> Payload:
    """Parse the client's JSON. Anything goes in a text but lone surrogates, which can't be stored."""
    try:
        return Payload.model_validate_json(body.decode("utf-8", "replace"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "payload"
        raise BrokenEntryError(f"{place}: {first['msg']}") from error


def _seconds(text: str) -> float:
    try:
        return int(text) / 1e9
    except ValueError as error:
        raise BrokenEntryError(f"{text!r} is no time") from error


def _options(text: str) -> dict[str, str]:
    pairs = (_split_option(pair) for pair in text.split(";") if "=" in pair)
    return {_unescape(key): _unescape(value) for key, value in pairs}


def _split_option(pair: str) -> tuple[str, str]:
    key, _, value = pair.partition("=")
    return key, value


def _unescape(text: str) -> str:
    """Undo the header's escapes, left to right."""
    parts: list[str] = []
    rest = iter(text)
    for character in rest:
        pair = character + next(rest, "") if character == "\\" else character
        parts.append(ESCAPES.get(pair, pair))
    return "".join(parts)


def _storable(text: str) -> str:
    """A path that is no UTF-8 can't be stored as text; what can't be kept is shown as such."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
