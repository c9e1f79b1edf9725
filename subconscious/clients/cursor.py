"""The client Cursor, written from its documentation; not tested with the real editor (docs/other-agents.md)."""

from __future__ import annotations

import re
from typing import Any

from subconscious.clients.client import Client, Values, text_of
from subconscious.system import agent_marks

_TOOLS = {"Shell": "Bash", "run_terminal_cmd": "Bash", "read_file": "Read", "edit_file": "Edit", "write": "Write"}


def payload(event: str, given: Values) -> dict[str, Any]:
    """Return a hook's payload in Claude Code's format: a conversation becomes a session, and a generation a prompt."""
    said = dict(given)
    roots = given.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    said["session_id"] = text_of(given, "conversation_id") or text_of(given, "session_id")
    said["cwd"] = text_of(given, "cwd") or root
    if event == "UserPromptSubmit":
        said["prompt_id"] = text_of(given, "generation_id")
    elif event == "PostToolUse":
        name = text_of(given, "tool_name")
        used = given.get("tool_input")
        used = dict(used) if isinstance(used, dict) else {}
        used.setdefault("file_path", used.get("target_file") or used.get("path"))
        said |= {"tool_name": _TOOLS.get(name, name), "tool_input": used}
    return said


def answer(event: str, said: Values) -> dict[str, Any]:
    """Return a hook's output. At a prompt, a hook of Cursor can only stop the prompt; it can't add context."""
    if event == "UserPromptSubmit":
        return {"continue": False, "user_message": said.get("reason", "")} if "decision" in said else {}
    text = text_of(said, "hookSpecificOutput", "additionalContext")
    return {"additional_context": text} if text else {}


def records(line: Values) -> list[dict[str, Any]]:
    """Return an empty list: the format of Cursor's transcripts is not documented."""
    del line
    return []


CLIENT = Client(
    name="cursor",
    label="Cursor",
    payload=payload,
    answer=answer,
    transcript=re.compile(rb"(?!)"),
    records=records,
    programs=frozenset({b"cursor", b"cursor-agent", b"Cursor"}),
    scripts=(b"/cursor-agent",),
    marks=agent_marks.CURSOR,
    instructions=("AGENTS.md",),
)
