"""The client Google Gemini CLI; its formats were observed in version 0.61.0 (docs/other-agents.md)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from subconscious.clients.client import INTERRUPTED, Client, Values, spoken, text_of, tool_result, tool_use
from subconscious.system import agent_marks

_TOOLS: Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]] = {
    "run_shell_command": ("Bash", {"command": ("command",)}),
    "read_file": ("Read", {"file_path": ("file_path", "absolute_path")}),
    "write_file": ("Write", {"file_path": ("file_path",), "content": ("content",)}),
    "replace": (
        "Edit",
        {"file_path": ("file_path",), "old_string": ("old_string",), "new_string": ("new_string",)},
    ),
    "glob": ("Glob", {"pattern": ("pattern",), "path": ("path", "dir_path")}),
    "grep_search": ("Grep", {"pattern": ("pattern",), "path": ("path", "dir_path")}),
    "search_file_content": ("Grep", {"pattern": ("pattern",), "path": ("path", "dir_path")}),
}
"""Gemini's tools by name: the name of the same tool in Claude Code, and the keys of its arguments."""

_EVENTS = {"UserPromptSubmit": "BeforeAgent", "PostToolUse": "AfterTool", "Stop": "AfterAgent"}
_GIVEN = re.compile(r"\A\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
_EXIT = re.compile(r"^(?:Exit Code|Command exited with code):? (-?\d+)", re.MULTILINE)
_WRAPPED = re.compile(r"\A<untrusted_context>\n(.*)\n</untrusted_context>\s*\Z", re.DOTALL)
_CANCELLED = "Request cancelled"
ROUNDS = 4
"""The most hook outputs that are removed from the beginning of a prompt: each hook of an event can add one."""


def payload(event: str, given: Values) -> dict[str, Any]:
    """Return a hook's payload in Claude Code's format. A prompt's id is a hash of its text: Gemini sends no id."""
    said = dict(given)
    if event == "UserPromptSubmit":
        words = typed(text_of(given, "prompt"))
        said |= {"prompt": words, "prompt_id": number_of(words)}
    elif event == "Stop":
        said["last_assistant_message"] = given.get("prompt_response")
    elif event == "PostToolUse":
        name, used = _tool(text_of(given, "tool_name"), given.get("tool_input"))
        error = text_of(given, "tool_response", "error", "message") or text_of(given, "tool_response", "error")
        said |= {"tool_name": name, "tool_input": used, "tool_response": {}, "error": error}
    return said


def answer(event: str, said: Values) -> dict[str, Any]:
    """Return a hook's output in Gemini's format, with Gemini's name for the event."""
    if "decision" in said:
        return {"decision": "deny", "reason": said.get("reason", "")}
    given = said.get("hookSpecificOutput")
    if not isinstance(given, Mapping):
        return dict(said)
    return {**said, "hookSpecificOutput": {**given, "hookEventName": _EVENTS.get(event, event)}}


def typed(text: str) -> str:
    """Return a prompt without the hook outputs that Gemini puts before it."""
    for _ in range(ROUNDS):
        text = _GIVEN.sub("", text, count=1)
    return text.strip()


def number_of(words: str) -> str:
    """Return an id for a prompt: a hash of its text."""
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:32] if words else ""


def records(line: Values) -> list[dict[str, Any]]:
    """Return a line of Gemini's transcripts as lines in the format of Claude Code's transcripts."""
    if "sessionId" in line:
        return [{"type": "system", "sessionId": text_of(line, "sessionId"), "timestamp": text_of(line, "startTime")}]
    number, at = text_of(line, "id"), {"timestamp": text_of(line, "timestamp")}
    match text_of(line, "type"):
        case "user":
            words = typed(_joined(line.get("displayContent") or line.get("content")))
            found = [spoken("user", number, words, promptId=number_of(words))] if words else []
        case "gemini":
            found = list(_answer(number, line))
        case "info" if text_of(line, "content").startswith(_CANCELLED):
            found = [spoken("user", number, INTERRUPTED)]
        case _:
            found = []
    return [one | at for one in found]


def _joined(content: object) -> str:
    """Return the text of a message, without tool results (which are stored with the calls) and without hook outputs."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else text_of(part, "text") for part in parts)
    return "\n".join(text for text in texts if text and typed(text))


def _answer(number: str, line: Values) -> Iterator[dict[str, Any]]:
    """Yield the assistant's text, and its tool calls if they have ended.

    When they end, Gemini repeats the line with the same ids and the results.
    """
    if text := _joined(line.get("content")):
        yield spoken("assistant", number, [{"type": "text", "text": text}])
    calls = line.get("toolCalls")
    calls = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    done = [call for call in calls if isinstance(call.get("result"), list)]
    if not done:
        return
    uses = ((text_of(call, "id"), *_tool(text_of(call, "name"), call.get("args"))) for call in done)
    yield spoken("assistant", f"{number}:use", [tool_use(*use) for use in uses])
    yield spoken("user", f"{number}:result", [_result(call) for call in done])


def _tool(name: str, given: object) -> tuple[str, dict[str, Any]]:
    used = given if isinstance(given, dict) else {}
    if name not in _TOOLS:
        return name, used
    own, fields = _TOOLS[name]
    texts = {field: next((used[key] for key in keys if key in used), "") for field, keys in fields.items()}
    return own, texts


def _result(call: Values) -> dict[str, Any]:
    parts = call.get("result")
    answers = [part.get("functionResponse") for part in parts if isinstance(part, Mapping)] if parts else []
    error = "\n".join(filter(None, (text_of(one, "response", "error") for one in answers)))
    text = error or "\n".join(text_of(one, "response", "output") for one in answers)
    wrapped = _WRAPPED.match(text)
    text = wrapped[1] if wrapped else text
    exit_code = _EXIT.search(text)
    failed = bool(error) or text_of(call, "status") == "error" or bool(exit_code and exit_code[1] != "0")
    return tool_result(text_of(call, "id"), text.removeprefix("Output: "), failed=failed)


CLIENT = Client(
    name="gemini",
    label="Gemini CLI",
    payload=payload,
    answer=answer,
    transcript=re.compile(rb'\{"sessionId":"[^"]{1,80}","projectHash":"'),
    records=records,
    programs=frozenset({b"gemini"}),
    scripts=(b"/gemini", b"/gemini.js", b"gemini-cli/bundle/gemini.js"),
    marks=agent_marks.GEMINI,
    instructions=("GEMINI.md", ".gemini/GEMINI.md", "../../memory/MEMORY.md"),
    notes="../../memory",
)
