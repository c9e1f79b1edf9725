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


def done(text: str) -> bytes:
    """The JSON of a hook that has done all that a prompt asks for: the client shows ``text``, and asks no model.

    The prompt and the text stay out of the session's context, unlike with ``continue: false``.
    """
    quiet = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}
    said = {"decision": "block", "reason": text, "hookSpecificOutput": quiet}
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")
