"""The JSON of one line, read without assumptions about its structure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from subconscious.system.json_bounds import has_too_many_values

Record = Mapping[str, Any]

AGENT_FILE = "agent-"
"""The prefix of the names of sub-agents' transcripts."""


def parse(raw: bytes) -> Record | None:
    """Return the JSON object in a line; None if it is not a complete object, or nested too deep or too large."""
    if has_too_many_values(raw):
        return None
    text = raw.strip(b" \t\r\n\0").decode("utf-8", "replace").lstrip("\ufeff")
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def storable(text: str) -> str:
    """Return ``text`` without NULs and lone surrogates, which UTF-8 and SQLite can't store."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def string(record: object, *keys: str) -> str:
    """Return the string at a path of keys, or "" if there is none."""
    for key in keys:
        record = record.get(key) if isinstance(record, Mapping) else None
    return storable(record) if isinstance(record, str) else ""


def blocks(content: object) -> list[Record]:
    """Return a message's content blocks; a bare string is one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [
        {"type": "text", "text": block} if isinstance(block, str) else block
        for block in content
        if isinstance(block, (str, dict))
    ]


def message_blocks(record: Record) -> list[Record]:
    """Return the content blocks of a record's message."""
    message = record.get("message")
    return blocks(message.get("content")) if isinstance(message, Mapping) else []


def joined_text(content: list[Record]) -> str:
    """Return the text of all text blocks, separated by line feeds."""
    return "\n".join(string(block, "text") for block in content if block.get("type") == "text")


def timestamp(record: Record, fallback: float) -> float:
    """Return a record's time in seconds since the epoch; ``fallback`` if it has no valid time."""
    try:
        time = datetime.fromisoformat(string(record, "timestamp"))
    except ValueError:
        return fallback
    seconds = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return seconds if seconds > 0 else fallback
