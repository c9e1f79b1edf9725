"""Read a history: which events its sessions sent to the hooks, and when.

A history is a folder with a `plan.json` (sid, start, end, branch and cwd of each session, in order) and one transcript
`<sid>.jsonl` a session. The events are those for which the plugin registers hooks. What is not recorded in a transcript
is derived from it: a turn ends with an answer that uses no tool and is followed by something typed.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from subconscious.transcripts import speech
from subconscious.transcripts.records import Record, blocks, joined_text, message_blocks, parse, string

FILE_TOOLS = frozenset({"Read", "Edit", "Write", "NotebookEdit"})
"""The tools after which the plugin's hook runs."""

NOT_RUN = ("The user doesn't want to", "Permission to use", "[Request interrupted")
"""How the results of tools begin that a person or a rule refused: they did not fail."""

START_HOOK = "SessionStart:"
NOTIFICATION = "<task-notification>"
CUSTOM_COMMAND = "<command-message>"
SAME_START = 10.0
"""Seconds within which several hooks of one start report it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A transcript line and when it was written: lines without a time were written with the one before."""

    raw: bytes
    at: float


@dataclass(frozen=True, slots=True)
class Event:
    """The payload of a hook. ``visible`` is the number of transcript lines that are written at that time."""

    at: float
    session: int
    name: str
    visible: int
    payload: Mapping[str, Any] = field(default_factory=dict)
    first: bool = False
    """Whether a session begins with it."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a plan, with its transcript. ``number`` is its place in the plan."""

    number: int
    sid: str
    start: float
    end: float
    branch: str
    cwd: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class History:
    """All sessions of one developer on one project."""

    name: str
    sessions: Sequence[Session]

    def events(self) -> Iterator[Event]:
        """The events of all sessions by time; sessions that overlapped overlap here."""
        streams = [_ordered(_Reader(session).events()) for session in self.sessions]
        return heapq.merge(*streams, key=lambda event: (event.at, event.session))


def read_history(folder: Path) -> History:
    """Read a folder with a plan and its transcripts."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    return History(folder.name, [_session(folder, number, planned) for number, planned in enumerate(plan)])


def _session(folder: Path, number: int, planned: Mapping[str, str]) -> Session:
    start, end = _seconds(planned["start"]), _seconds(planned["end"])
    lines = _lines((folder / f"{planned['sid']}.jsonl").read_bytes(), start)
    return Session(number, planned["sid"], start, end, planned["branch"], planned["cwd"], lines)


def _lines(content: bytes, at: float) -> list[Line]:
    """The lines in the order of the file, which is the order in which they were written."""
    lines = []
    for raw in content.splitlines(keepends=True):
        record = parse(raw)
        if record is not None and string(record, "timestamp"):
            at = max(at, _seconds(string(record, "timestamp")))
        lines.append(Line(raw, at))
    return lines


def _seconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _ordered(events: Iterator[Event]) -> list[Event]:
    """A turn's end is known only by the line after it, so sort by place; within a session times follow places."""
    return sorted(events, key=lambda event: (event.at, event.visible))


@dataclass(slots=True)
class _Answer:
    """An answer that may be the last of its turn."""

    at: float
    visible: int
    text: str


class _Reader:
    """Derives the events of one session, line by line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tools: dict[str, Record] = {}
        self._queue: list[str] = []
        self._answer: _Answer | None = None
        self._prompts = 0
        self._started = session.start

    def events(self) -> Iterator[Event]:
        """All events, by the positions of their lines."""
        session = self._session
        records = [parse(line.raw) for line in session.lines]
        source = next(filter(None, (_start_source(record) for record in records if record)), "")
        first = source if source in ("clear", "resume") else "startup"
        yield Event(session.start, session.number, "SessionStart", 0, {"source": first}, first=True)
        for place, (line, record) in enumerate(zip(session.lines, records, strict=True)):
            if record is not None and not record.get("isSidechain"):
                yield from self._of_line(place, line.at, record)
        yield from self._turn_end()
        yield Event(
            max([session.end, *(line.at for line in session.lines[-1:])]),
            session.number,
            "SessionEnd",
            len(session.lines),
            {"reason": "other"},
        )

    def _event(self, place: int, at: float, name: str, **payload: Any) -> Event:
        return Event(at, self._session.number, name, place, payload)

    def _of_line(self, place: int, at: float, record: Record) -> Iterator[Event]:
        match string(record, "type"):
            case "progress" if _start_source(record) == "resume":
                yield from self._resumed(place, at)
            case "system" if string(record, "subtype") == "compact_boundary":
                yield from self._compacted(place, at, record)
            case "queue-operation":
                yield from self._queued(place, at, record)
            case "assistant":
                self._answered(place, at, record)
            case "user":
                yield from self._of_user(place, at, record)

    def _resumed(self, place: int, at: float) -> Iterator[Event]:
        if at - self._started > SAME_START:
            yield from self._turn_end()
            yield self._event(place, at, "SessionStart", source="resume")
        self._started = at

    def _compacted(self, place: int, at: float, record: Record) -> Iterator[Event]:
        yield from self._turn_end()
        trigger = string(record, "compactMetadata", "trigger") or "auto"
        yield self._event(place, at, "PreCompact", trigger=trigger)
        yield self._event(place, at, "SessionStart", source="compact")

    def _queued(self, place: int, at: float, record: Record) -> Iterator[Event]:
        """Prompts typed while the model works: older clients keep those that it took in mid-turn nowhere else."""
        match string(record, "operation"):
            case "enqueue":
                self._queue.append(speech.typed(string(record, "content")))
            case "dequeue":  # its own line follows
                del self._queue[:1]
            case "remove" if self._queue:
                taken = next((text for text in self._queue if not text), self._queue[0])
                self._queue.remove(taken)
                if taken:
                    yield self._prompt(place, at, taken)

    def _answered(self, place: int, at: float, record: Record) -> None:
        content = message_blocks(record)
        uses = [block for block in content if block.get("type") == "tool_use"]
        self._tools |= {string(block, "id"): block for block in uses}
        failed = record.get("isApiErrorMessage") or string(record, "message", "model") == "<synthetic>"
        text = joined_text(content)
        if uses or failed:
            self._answer = None
        elif text:
            self._answer = _Answer(at, place + 1, text)

    def _of_user(self, place: int, at: float, record: Record) -> Iterator[Event]:
        content = message_blocks(record)
        results = [block for block in content if block.get("type") == "tool_result"]
        if results:
            self._answer = None
            for block in results:
                yield from self._of_result(place, at, block)
            return
        text = joined_text(content)
        if speech.is_interrupt(text.lstrip()):
            self._answer = None
            return
        yield from self._turn_end()
        if words := _submitted(record, text):
            self._queue = ["" if queued == words else queued for queued in self._queue]
            yield self._prompt(place, at, words)

    def _of_result(self, place: int, at: float, block: Record) -> Iterator[Event]:
        use = self._tools.pop(string(block, "tool_use_id"), None)
        if use is None:
            return
        tool = {"tool_name": string(use, "name"), "tool_input": use.get("input")}
        if block.get("is_error") is not True:
            if tool["tool_name"] in FILE_TOOLS:
                yield self._event(place, at, "PostToolUse", **tool)
            return
        error = joined_text(blocks(block.get("content")))
        error = error.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
        if not error.startswith(NOT_RUN):
            yield self._event(place, at, "PostToolUseFailure", **tool, error=error)

    def _prompt(self, place: int, at: float, text: str) -> Event:
        self._prompts += 1
        return self._event(place, at, "UserPromptSubmit", prompt=text, prompt_id=f"{self._session.sid}-{self._prompts}")

    def _turn_end(self) -> Iterator[Event]:
        """The turn's end, if its last line is an answer: an interrupted turn has no such event."""
        answer, self._answer = self._answer, None
        if answer is not None:
            yield self._event(answer.visible, answer.at, "Stop", last_assistant_message=answer.text)


def _start_source(record: Record) -> str:
    """How a session was started, where another plugin's hook is on record for it."""
    name = string(record, "data", "hookName") if string(record, "type") == "progress" else ""
    return name.removeprefix(START_HOOK) if name.startswith(START_HOOK) else ""


def _submitted(record: Record, text: str) -> str:
    """The prompts that the client sends to its hooks: typed text, commands, and notifications."""
    if speech.written_by_client(record) or speech.is_compaction(record, text):
        return ""
    if text.startswith(NOTIFICATION):
        return text
    if text.startswith(CUSTOM_COMMAND):
        name, arguments = (_between(text, f"<{tag}>", f"</{tag}>") for tag in ("command-name", "command-args"))
        return f"{name} {arguments}".strip()
    return text if speech.is_plan(record, text) else speech.typed(text)


def _between(text: str, opening: str, closing: str) -> str:
    return text.partition(opening)[2].partition(closing)[0].strip()
