"""Converts records to turns, line by line, and tracks the state that determines the origin of later words."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import ClassVar, TypedDict, Unpack

from subconscious.domain.model import Act, Origin, Role, Turn
from subconscious.text.own_correction import without_lead
from subconscious.transcripts import speech
from subconscious.transcripts.lines import Line
from subconscious.transcripts.records import Record, joined_text, message_blocks, string, timestamp
from subconscious.transcripts.state import Queued, State
from subconscious.transcripts.tool_excerpts import of_results, of_uses

KNOWN_TYPES = frozenset(
    {
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "queue-operation",
        "file-history-snapshot",
        "summary",
        "last-prompt",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-setting",
        "pr-link",
        "mode",
        "permission-mode",
    }
)
TYPED_MARK = ":typed"
"""The suffix of the id of a turn that the user typed in a tool call's dialog, not as a prompt."""

_IDENTITY_KEYS = ("sessionId", "uuid", "messageId", "leafUuid")

_QUESTION_ENDS = ("?", "?**")
_SHORT_REPLY = 300
"""The most characters of the assistant's reply to an answer that the user may still correct with the next prompt."""

_FILE_KEYS = {"Read": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path"}
_FILE_KEYS["NotebookEdit"] = "notebook_path"

_OWN_ATTACHMENTS = ("hook_", "async_hook_response", "skill_listing", "agent_listing", "task_reminder", "todo")
"""Attachments without outside text; after any other attachment, the assistant's words may come from a file."""

_MOST_WAITING = 64
_LONGEST_QUEUED = 4000
LONGEST_COMMAND = 3000
LONGEST_BEFORE = 1500
"""The maximum number of characters of the assistant's last message that are stored with the user's reply."""
_LONGEST_PATH = 4096
"""The maximum number of characters of a path, a branch or an id; longer ones are ignored."""
_LONGEST_AIM = 300


class _OptionalFields(TypedDict, total=False):
    """Fields that only some turns have: tool calls, results and answers."""

    tools: tuple[str, ...]
    files: tuple[str, ...]
    commands: tuple[str, ...]
    after_interrupt: bool
    failed: bool
    act: Act
    before: str
    shown: str


class TurnBuilder:
    """Builds the turns of one batch of lines."""

    def __init__(
        self, file: str, state: State, time: float, clean: Callable[[str], str], *, tool_excerpts: bool = False
    ) -> None:
        self.turns: list[Turn] = []
        self.skipped: Counter[str] = Counter()
        self.sessions: dict[str, None] = {}
        self.cwd = state.cwd
        self.branch = state.branch
        self.lines_seen = 0
        self.recognised = False
        self._file = file
        self._clean = clean
        self._tool_excerpts = tool_excerpts
        self._time = state.time or time
        self._session_id = state.session_id or PurePath(file).stem
        self._tool_seen = state.tool_seen
        self._interrupted = state.interrupted
        self._tools = dict(state.tools)
        self._aims = dict(state.aims)
        self._queue = list(state.queue)
        self._said = state.said
        self._answered = state.answered

    def state(self) -> State:
        """Return the state for the next call of ``read_turns``."""
        return State(
            tool_seen=self._tool_seen,
            interrupted=self._interrupted,
            time=self._time,
            session_id=self._session_id,
            cwd=self.cwd,
            branch=self.branch,
            tools=dict(list(self._tools.items())[-_MOST_WAITING:]),
            aims=dict(list(self._aims.items())[-_MOST_WAITING:]),
            queue=tuple(self._queue[-_MOST_WAITING:]),
            said=self._said,
            answered=self._answered,
        )

    def write(self, line: Line, records: Sequence[Record] | None) -> None:
        """Process one line; ``records`` is None if it contains no JSON object."""
        self.lines_seen += 1
        if records is None:
            self.skipped["too long" if line.raw is None else "not a JSON object"] += 1
            return
        for record in records:
            self._write_record(line, record)

    def _write_record(self, line: Line, record: Record) -> None:
        self._note(record)
        writer = self._WRITERS.get(string(record, "type"))
        if writer is None:
            known = string(record, "type") in KNOWN_TYPES
            self.skipped["no speech" if known else "unknown type"] += 1
        else:
            writer(self, line, record)

    def _note(self, record: Record) -> None:
        known = string(record, "type") in KNOWN_TYPES
        self.recognised |= known and any(key in record for key in _IDENTITY_KEYS)
        self._time = timestamp(record, self._time)
        session_id = _name(record, "sessionId")
        self._session_id = session_id or self._session_id
        if session_id:
            self.sessions[self._session_id] = None
        self.cwd = _name(record, "cwd") or self.cwd
        self.branch = _name(record, "gitBranch") or self.branch

    def _write_user(self, line: Line, record: Record) -> None:
        content = message_blocks(record)
        text = self._answer(self._clean(joined_text(content)))
        results = [block for block in content if block.get("type") == "tool_result"]
        if results:
            self._write_results(line, record, results, text)
        elif _is_side(record):
            self._add(line, record, Role.USER, Origin.TOOL, text)
        else:
            self._write_prompt(line, record, text)

    def _answer(self, text: str) -> str:
        """Return a user's text without a secret that can be recognised only with the assistant's question before it."""
        if not self._said.endswith(_QUESTION_ENDS) or not text.strip():
            return text
        question = self._said.rpartition("\n")[2] + "\n"
        cleaned = self._clean(question + text)
        return cleaned.removeprefix(question) if cleaned.startswith(question) else text

    def _write_prompt(self, line: Line, record: Record, text: str) -> None:
        if speech.is_compaction(record, text):
            self._tool_seen = True  # the summary may repeat tool output
            self.skipped["compaction summary"] += 1
        elif speech.written_by_client(record):
            self.skipped["written by the client"] += 1
        elif speech.is_interrupt(text.lstrip()):
            self._interrupted = True
            self.skipped["interrupt"] += 1
        elif speech.is_plan(record, text):
            self._tool_seen = False
            self._add(line, record, Role.USER, Origin.ASSISTANT, text, act=Act.APPROVED)
        elif words := speech.typed(text):
            self._tool_seen = False
            self._unqueue(words)
            self._add_typed(line, record, words)
        else:
            self.skipped["command or client text"] += 1

    def _write_results(self, line: Line, record: Record, results: list[Record], text: str) -> None:
        """Add a tool's turn, and a separate turn for text that the user typed when allowing or refusing it."""
        names = [self._tools.pop(string(block, "tool_use_id"), "") for block in results]
        self._tool_seen |= not _is_side(record)
        self._add_results(line, record, results, names)
        if _is_side(record) or not all(map(speech.is_builtin, names)) or speech.written_by_client(record):
            return
        if answers := self._clean(speech.answers(record, names)):
            self._add(line, record, Role.USER, Origin.ASSISTANT, answers, mark=":answered", act=Act.ANSWERED)
        refused = [block for block in results if speech.is_rejection(block)]
        self._interrupted |= bool(refused)
        reasons = [self._clean(speech.rejection_reason(block)) for block in refused]
        if words := speech.typed("\n".join([*reasons, text])):
            self._add_typed(line, record, words, mark=TYPED_MARK)

    def _add_results(self, line: Line, record: Record, results: list[Record], names: list[str]) -> None:
        """Add a tool's turn: names, targets and failure, but not the output.

        A refused call was never run, so it has no result.
        """
        aims = [self._aims.pop(string(block, "tool_use_id"), "") for block in results]
        allowed = [not speech.is_rejection(block) for block in results]
        executed = tuple(pair for pair, ran in zip(zip(names, aims, strict=True), allowed, strict=True) if ran)
        self._add(
            line,
            record,
            Role.TOOL,
            Origin.TOOL,
            "",
            tools=tuple(filter(None, names)),
            files=tuple(aim for name, aim in executed if aim and name in _FILE_KEYS),
            commands=tuple(aim for name, aim in executed if aim and name == "Bash"),
            failed=all(allowed) and any(block.get("is_error") is True for block in results),
            shown=of_results(results, names, self._clean) if self._tool_excerpts and all(allowed) else "",
        )

    def _write_assistant(self, line: Line, record: Record) -> None:
        if record.get("isApiErrorMessage") or string(record, "message", "model") == "<synthetic>":
            self.skipped["written by the client"] += 1
            return
        content = message_blocks(record)
        uses = [block for block in content if block.get("type") == "tool_use"]
        self._tools.update({string(block, "id"): string(block, "name") for block in uses})
        self._aims.update({string(block, "id"): self._aim(block) for block in uses})
        origin = Origin.TOOL if self._tool_seen or _is_side(record) else Origin.ASSISTANT
        text = self._clean(joined_text(content))
        tools = tuple(filter(None, (string(block, "name") for block in uses)))
        commands = tuple(filter(None, map(self._command, uses)))
        if text.strip() and not _is_side(record):
            self._said = text.strip()[-LONGEST_BEFORE:]
        shown = of_uses(uses, self.cwd, self._clean) if self._tool_excerpts else ""
        self._add(
            line, record, Role.ASSISTANT, origin, text, tools=tools, files=_files(uses), commands=commands, shown=shown
        )

    def _command(self, use: Record) -> str:
        """Return the shell command of a tool call, or ""; very long ones are cut."""
        if string(use, "name") != "Bash":
            return ""
        # Cleaned before it is cut: half a secret would not be recognised.
        return self._clean(string(use, "input", "command"))[:LONGEST_COMMAND].strip()

    def _aim(self, use: Record) -> str:
        return (self._command(use) or next(iter(_files([use])), ""))[:_LONGEST_AIM]

    def _write_attachment(self, line: Line, record: Record) -> None:
        words = speech.typed(self._clean(speech.queued_prompt(record)))
        if words and not _is_side(record):
            self._unqueue(words)
            self._add_typed(line, record, words)
            return
        if not string(record, "attachment", "type").startswith(_OWN_ATTACHMENTS):
            self._tool_seen = True
        self.skipped["attachment"] += 1

    def _write_queue(self, line: Line, record: Record) -> None:
        """Track prompts typed while the model works: older clients record them nowhere else."""
        match string(record, "operation"):
            case "enqueue":
                words = speech.typed(self._clean(string(record, "content")))
                waits = not words.startswith("{") and len(words) <= _LONGEST_QUEUED
                self._queue.append(Queued(words if waits else "", self._time, line.start, line.end))
            case "dequeue":  # its own user line follows
                del self._queue[:1]
            case "remove":
                self._take_queued()
            case _:
                self._queue.clear()
        self.skipped["queue"] += 1

    def _take_queued(self) -> None:
        """Add the queued prompt that the model received mid-turn, unless it was a notification."""
        used = next((item for item in self._queue if not item.text), None)
        taken = used or next(iter(self._queue), None)
        if taken is None:
            return
        self._queue.remove(taken)
        if taken.text:
            key = hashlib.sha256(f"{taken.time}:{taken.text}".encode()).hexdigest()[:16]
            line = Line(taken.start, taken.end, None)
            self._add_typed(line, {"uuid": f"queued-{key}"}, taken.text)

    def _unqueue(self, words: str) -> None:
        """Mark a queued prompt as used, because the transcript also has a separate line for it."""
        for index, item in enumerate(self._queue):
            if item.text == words:
                self._queue[index] = Queued("", item.time, item.start, item.end)
                return

    def _add_typed(self, line: Line, record: Record, words: str, mark: str = "") -> None:
        after = self._interrupted
        added = self._add(
            line, record, Role.USER, Origin.USER, words, mark=mark, after_interrupt=after, before=self._before(words)
        )
        self._interrupted &= not added

    def _before(self, words: str) -> str:
        """Return the assistant's message that a prompt refers to, usually the last one.

        A prompt that corrects the user's answer to a question ("wait no, millis") refers to that question again.
        """
        short = len(self._said) <= _SHORT_REPLY
        asked = self._said.endswith(_QUESTION_ENDS)
        if not (self._answered and short and not asked and without_lead(words)):
            self._answered = self._said if asked else ""
        return self._answered or self._said

    def _add(
        self,
        line: Line,
        record: Record,
        role: Role,
        origin: Origin,
        text: str,
        mark: str = "",
        **seen: Unpack[_OptionalFields],
    ) -> bool:
        """Add a turn; return False if it is empty or has no id, which identifies it if its line is read again."""
        uuid = string(record, "uuid")
        if not uuid or not (text.strip() or seen.get("tools") or role is Role.TOOL):
            self.skipped["empty" if uuid else "no uuid"] += 1
            return False
        self.turns.append(
            Turn(
                id=uuid + mark,
                session_id=self._session_id,
                role=role,
                origin=origin,
                text=text.strip(),
                time=self._time,
                file=self._file,
                start=line.start,
                end=line.end,
                branch=self.branch,
                cwd=self.cwd,
                sidechain=_is_side(record),
                prompt_id=string(record, "promptId") if role is Role.USER else "",
                **seen,
            )
        )
        return True

    _WRITERS: ClassVar[Mapping[str, Callable[[TurnBuilder, Line, Record], None]]] = {
        "user": _write_user,
        "assistant": _write_assistant,
        "attachment": _write_attachment,
        "queue-operation": _write_queue,
    }


def _is_side(record: Record) -> bool:
    """Whether a line belongs to a sub-agent, which counts as a tool of the main conversation."""
    return bool(record.get("isSidechain") or record.get("agentId"))


def _files(uses: list[Record]) -> tuple[str, ...]:
    paths = (_name(use, "input", _FILE_KEYS.get(string(use, "name"), "")) for use in uses)
    return tuple(dict.fromkeys(filter(None, paths)))


def _name(record: Record, *keys: str) -> str:
    """Return the path, branch or id at a path of keys, or "" if there is none."""
    found = string(record, *keys)
    return found if len(found) <= _LONGEST_PATH else ""
