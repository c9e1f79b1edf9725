"""What a hook prints for the client to read."""

from __future__ import annotations

import json


def output(event: str, context: str, message: str) -> bytes:
    """The hook's JSON, or silence."""
    said: dict[str, object] = {}
    if context:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    if message:
        said["systemMessage"] = message
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") if said else b""
