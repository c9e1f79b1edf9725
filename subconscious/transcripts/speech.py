"""Separates words that the user typed from text that the client wrote in the user's name.

The formats are those of transcripts of clients 2.0 to 2.1. In doubt, a text does not count as typed: a user can
repeat a missed statement, but a planted statement would be believed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from subconscious.transcripts.records import Record, blocks, joined_text, string

_CLIENT_FLAGS = ("isMeta", "isSynthetic", "isVisibleInTranscriptOnly")

_CLIENT_TAGS = (
    "bash-input|bash-stdout|bash-stderr|channel|command-args|command-message|command-name|cross-session-message|"
    "ide_diagnostics|ide_opened_file|ide_selection|local-command-caveat|local-command-stderr|local-command-stdout|"
    "new-diagnostics|post-tool-use-hook|scheduled-task|system-reminder|task-notification|teammate-message|tick|"
    "user-memory-input|user-prompt-submit-hook"
)
_OPENING = re.compile(rf"<({_CLIENT_TAGS})(?:\s[^<>]{{0,400}})?>")

_ROUNDS = 8
"""The maximum number of passes that remove nested tags; if tags remain, the rest of the text is cut."""

_CLIENT_OPENINGS = re.compile(
    r"Caveat: The messages below were generated"
    r"|This session is being continued from a previous conversation"
    r"|Operation stopped by hook"
    r"|\[SYSTEM NOTIFICATION"
    r"|<<autonomous-loop"
    r"|\{\"task_id\":\"[^\"\n]{1,80}\",\"(?:tool_use_id|description|task_type|status)\":"
    r"|[A-Z]\w{2,30}(?::\w{1,60})? hook (?:feedback|success|additional context|blocking error|error)"
)
_SLASH_COMMAND = re.compile(r"/[a-z][\w:-]*(?:\s|\Z)")
_INTERRUPT = "[Request interrupted by user"
PLAN = "Implement the following plan:"
"""The beginning of a prompt that the client writes if the user approved a plan of the assistant."""

_REJECTION = "The user doesn't want to proceed with this tool use."
_REASON = re.compile(r"the user (?:said|provided the following reason for the rejection):\s*")
QUESTION_TOOL = "AskUserQuestion"
ANSWERS = " \u2192 "
"""Separates a question from its answer; a question mark could not, because a question may contain several."""
_CLARIFY = "The user wants to clarify these questions"
_CLIENT_NOTE = "\n\nNote: The user's next message"


def written_by_client(record: Record) -> bool:
    """Whether the client wrote a line that has the role "user": meta text, a notification, a scheduled prompt."""
    if any(record.get(flag) for flag in _CLIENT_FLAGS):
        return True
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else origin
    return kind not in (None, "human") or record.get("promptSource") == "system"


def is_compaction(record: Record, text: str) -> bool:
    """Whether a user line is the summary of a compaction."""
    return bool(record.get("isCompactSummary")) or text.startswith("This session is being continued from")


def is_plan(record: Record, text: str) -> bool:
    """Whether a user line is a plan of the assistant that the user approved."""
    return "planContent" in record or text.startswith(PLAN)


def is_interrupt(text: str) -> bool:
    """Whether a text is the client's note of an interruption."""
    return text.startswith(_INTERRUPT)


def typed(text: str) -> str:
    """Return what the user typed in a prompt, without the client's blocks; "" for slash commands and client text."""
    text = _cut_client_blocks(text).strip()
    if _CLIENT_OPENINGS.match(text) or _SLASH_COMMAND.match(text) or is_interrupt(text):
        return ""
    return text


def _cut_client_blocks(text: str) -> str:
    """Cut each block up to its *last* closing tag, because an inner closing tag may be quoted text.

    Removing a block may join the halves of another tag, so the text is scanned again.
    """
    for _ in range(_ROUNDS):
        cut = _without_blocks(text)
        if cut == text:
            return text
        text = cut
    opening = _OPENING.search(text)
    return text[: opening.start()] if opening else text


def _without_blocks(text: str) -> str:
    parts: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        parts.append(text[at : opening.start()])
        closing = f"</{opening[1]}>"
        end = text.rfind(closing, opening.end())
        if end < 0:
            return "".join(parts)
        at = end + len(closing)
    return "".join(parts) + text[at:]


def is_rejection(block: Record) -> bool:
    """Whether a tool result is the user's refusal of the call."""
    return block.get("is_error") is True and joined_text(blocks(block.get("content"))).startswith(_REJECTION)


def rejection_reason(block: Record) -> str:
    """Return the text that the user typed when refusing a tool, or ""."""
    match = _REASON.search(joined_text(blocks(block.get("content"))))
    if match is None:
        return ""
    reason = match.string[match.end() :].partition(_CLIENT_NOTE)[0]
    return "" if reason.startswith(_CLARIFY) else reason


def queued_prompt(record: Record) -> str:
    """Return a prompt typed while the model worked, which newer clients store as an attachment; else ""."""
    attachment = record.get("attachment")
    if not isinstance(attachment, Mapping) or attachment.get("commandMode") != "prompt":
        return ""
    if string(attachment, "type") != "queued_command" or written_by_client(attachment):
        return ""
    return joined_text(blocks(attachment.get("prompt")))


def is_builtin(tool: str | None) -> bool:
    """Return whether a tool belongs to the client; other tools' results could imitate a refusal."""
    return bool(tool) and not str(tool).startswith("mcp__")


def answers(record: Record, names: list[str]) -> str:
    """Return the questions that the user answered, each with its answer, one pair per line; "" if there are none.

    The client stores them with the result of its own tool; results of MCP tools are ignored.
    """
    result = record.get("toolUseResult")
    if names != [QUESTION_TOOL] or not isinstance(result, Mapping):
        return ""
    chosen, asked = result.get("answers"), result.get("questions")
    if not isinstance(chosen, Mapping) or not isinstance(asked, list):
        return ""
    pairs = ((string(question, "question"), string(chosen, string(question, "question"))) for question in asked)
    pairs_text = (
        f"{_asked(question)}{ANSWERS}{_chosen(answer, asked)}" for question, answer in pairs if question and answer
    )
    return "\n".join(" ".join(line.split()) for line in pairs_text)


def _asked(question: str) -> str:
    """Return a question without the separator, which questions may contain too."""
    return " ".join(question.split()).replace(ANSWERS, " -> ")


def _chosen(answer: str, asked: list[object]) -> str:
    """Return an answer with the description of the option that it names."""
    for question in asked:
        options = question.get("options") if isinstance(question, Mapping) else None
        for option in options if isinstance(options, list) else []:
            if string(option, "label") == answer and string(option, "description"):
                return f"{answer}: {string(option, 'description')}"
    return answer
