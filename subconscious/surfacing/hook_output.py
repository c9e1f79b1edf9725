"""The JSON that hooks print for the client."""

from __future__ import annotations

import json

from subconscious.clients import CLIENTS
from subconscious.context.entry import Entry


def output(event: str, context: str, message: str) -> bytes:
    """Return the JSON that a hook prints; empty if there is nothing to print."""
    said: dict[str, object] = {}
    if context:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    if message:
        said["systemMessage"] = message
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") if said else b""


def in_form_of(entry: Entry, answer: bytes) -> bytes:
    """Return a response in the form that the client of ``entry`` reads."""
    if not entry.client or not answer.startswith(b"{"):
        return answer if not entry.client else b""
    said = CLIENTS[entry.client].answer(entry.event, json.loads(answer))
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") if said else b""


def done(text: str) -> bytes:
    """Return the JSON for a prompt that the hook has handled itself: the client shows ``text`` and calls no model.

    Unlike with ``continue: false``, neither the prompt nor the text enters the context of the session.
    """
    quiet = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}
    said = {"decision": "block", "reason": text, "hookSpecificOutput": quiet}
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")
