"""The JSON that hooks print for the client."""

from __future__ import annotations

import json


def output(event: str, context: str, message: str) -> bytes:
    """Return the JSON of a hook; empty if there is nothing to print."""
    said: dict[str, object] = {}
    if context:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    if message:
        said["systemMessage"] = message
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") if said else b""


def done(text: str) -> bytes:
    """Return the JSON of a hook that has handled a prompt itself: the client shows ``text`` and calls no model.

    Unlike with ``continue: false``, neither the prompt nor the text enters the context of the session.
    """
    quiet = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}
    said = {"decision": "block", "reason": text, "hookSpecificOutput": quiet}
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")
