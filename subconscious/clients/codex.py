"""The client OpenAI Codex CLI; its formats were observed in version 0.169.0 (docs/other-agents.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from subconscious.clients.client import INTERRUPTED, Client, Values, spoken, text_of, tool_result, tool_use
from subconscious.system import agent_marks

_SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"})
_PATCH = "apply_patch"
_EXIT = re.compile(r"\A(?:[^\n]*\n){0,6}?(?:Process exited with code|Exit code:) (-?\d+)")
_OUTPUT = "\nOutput:\n"
_REFUSED = re.compile(r"(?:rejected|denied|aborted) by (?:the )?user", re.IGNORECASE)
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* (?:Move to|End of File|End Patch|Begin Patch).*$")
_HOME = "../../../../.."
"""The path to Codex's folder, relative to a transcript in its sessions/YEAR/MONTH/DAY."""
LONGEST_PATCH = 1 << 20


def payload(event: str, given: Values) -> dict[str, Any]:
    """Return a hook's payload in Claude Code's format: the prompt's id, edits and sub-agents are converted.

    The model writes a sub-agent's prompt, although the hook and the transcript say that the user typed it. So the
    prompt and the path of the sub-agent's transcript are left out; the sub-agent's result is in the main transcript, as
    the result of a tool.
    """
    said = dict(given)
    if event == "UserPromptSubmit":
        said["prompt_id"] = given.get("turn_id")
    if given.get("agent_id"):
        said |= {"prompt": "", "prompt_id": "", "transcript_path": ""}
    if given.get("tool_name") == _PATCH:
        edit = next(_edits(text_of(given, "tool_input", "command") or text_of(given, "tool_input", "input")), None)
        said |= {"tool_name": edit[0], "tool_input": edit[1]} if edit else {}
    return said


def answer(event: str, said: Values) -> dict[str, Any]:
    """Return a hook's output, without added context if it has a decision: Codex rejects unexpected fields."""
    del event
    return {key: value for key, value in said.items() if key != "hookSpecificOutput" or "decision" not in said}


def records(line: Values) -> list[dict[str, Any]]:
    """Return a line of Codex's transcripts as lines in the format of Claude Code's transcripts."""
    kind, said = text_of(line, "type"), line.get("payload")
    if not isinstance(said, Mapping):
        return []
    at = {"timestamp": text_of(line, "timestamp")}
    match kind, text_of(said, "type"):
        case "session_meta", _:
            branch = text_of(said, "git", "branch")
            return [
                {"type": "system", "sessionId": text_of(said, "id"), "cwd": text_of(said, "cwd"), "gitBranch": branch}
            ]
        case "response_item", "message":
            found = _message(said)
        case "response_item", "function_call" | "custom_tool_call" | "local_shell_call":
            found = [spoken("assistant", f"{_number(said)}:use", list(_uses(said)))]
        case "response_item", "function_call_output" | "custom_tool_call_output":
            found = [_result(said)]
        case "response_item", "web_search_call":
            found = [{"type": "attachment", "attachment": {"type": "web_search"}}]
        case "event_msg", "turn_aborted":
            found = [spoken("user", f"{text_of(said, 'turn_id')}:aborted", INTERRUPTED)]
        case "compacted", _:
            found = [{"type": "user", "isCompactSummary": True, "message": {"content": text_of(said, "message")}}]
        case _:
            found = []
    return [one | at for one in found]


def _message(said: Values) -> list[dict[str, Any]]:
    """Return the assistant's text, or the parts of a user's message that its metadata attribute to the user."""
    content = said.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    number, role = text_of(said, "id"), text_of(said, "role")
    if role == "assistant":
        text = "\n".join(text_of(part, "text") for part in parts)
        return [spoken("assistant", number, [{"type": "text", "text": text}])]
    meta = said.get("internal_chat_message_metadata_passthrough")
    about = meta.get("content_item_metadata") if isinstance(meta, Mapping) else None
    sources = [text_of(one, "provenance", "type") for one in about] if isinstance(about, list) else []
    typed = [text_of(part, "text") for part, source in zip(parts, sources, strict=False) if source == "user"]
    if role != "user" or not any(typed):
        return []
    return [spoken("user", number, "\n".join(typed), promptId=text_of(meta, "turn_id"))]


def _number(said: Values) -> str:
    return text_of(said, "call_id") or text_of(said, "id")


def _uses(said: Values) -> Iterator[dict[str, Any]]:
    name, number = text_of(said, "name"), _number(said)
    given = _arguments(said)
    patch = text_of(said, "input") or text_of(given, "input")
    if name == _PATCH and patch:
        for place, (tool, edit) in enumerate(_edits(patch)):
            yield tool_use(number if not place else f"{number}:{place}", tool, edit)
    elif name in _SHELLS or text_of(said, "type") == "local_shell_call":
        yield tool_use(number, "Bash", {"command": _command(given)})
    else:
        yield tool_use(number, name, given)


def _arguments(said: Values) -> Values:
    action = said.get("action")  # of a local_shell_call
    try:
        given = action if isinstance(action, Mapping) else json.loads(text_of(said, "arguments") or "{}")
    except (ValueError, RecursionError):
        given = {}
    return given if isinstance(given, dict) else {}


def _command(given: Values) -> str:
    """Return the shell command of a tool call as text; from a list like ``["bash", "-lc", COMMAND]``, the last item."""
    command = given.get("cmd") or given.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        shell = len(command) == 3 and command[1].startswith("-") and command[1].endswith("c")
        return command[2] if shell else " ".join(command)
    return command if isinstance(command, str) else ""


def _edits(patch: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an edit for each file that a patch changes, as a call of Claude Code's Write or Edit tool."""
    heads = list(_FILE.finditer(patch[:LONGEST_PATCH]))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        lines = patch[head.end() : following.start() if following else len(patch)].splitlines()
        lines = [line for line in lines if not _MOVED.match(line) and not line.startswith("@@")]
        new = "\n".join(line[1:] for line in lines if line.startswith("+"))
        if head[1] == "Add":
            yield "Write", {"file_path": head[2].strip(), "content": new}
        else:
            old = "\n".join(line[1:] for line in lines if line.startswith("-"))
            yield "Edit", {"file_path": head[2].strip(), "old_string": old, "new_string": new}


def _result(said: Values) -> dict[str, Any]:
    output = said.get("output")
    text = output if isinstance(output, str) else text_of(output, "content")
    exit_code = _EXIT.match(text)
    failed = bool(exit_code and exit_code[1] != "0") or (isinstance(output, Mapping) and output.get("success") is False)
    _, found, body = text.partition(_OUTPUT)
    refused = bool(_REFUSED.search(text[:300]))
    result = tool_result(_number(said), body if exit_code and found else text, failed=failed and not refused)
    return spoken("user", f"{_number(said)}:result", [result])


CLIENT = Client(
    name="codex",
    label="Codex CLI",
    payload=payload,
    answer=answer,
    transcript=re.compile(rb'\{"timestamp":"[^"]{10,40}",(?:"ordinal":\d+,)?"type":"session_meta"'),
    records=records,
    programs=frozenset({b"codex"}),
    scripts=(b"/codex", b"/codex.js"),
    marks=agent_marks.CODEX,
    servers=(b"app-server", b"exec-server", b"mcp-server", b"remote-control"),
    instructions=("AGENTS.md", ".codex/AGENTS.md", f"{_HOME}/AGENTS.md", f"{_HOME}/memories/memory_summary.md"),
)
