"""What a transcript holds besides turns: the words of tools, which are never captured, only compared with (SPEC N4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from subconscious.safe_files import open_regular
from subconscious.transcripts import speech
from subconscious.transcripts.lines import skip_line, whole_lines
from subconscious.transcripts.records import Record, blocks, joined_text, message_blocks, parse, string

OWN_WORDS = frozenset(
    {"ExitPlanMode", "Write", "Edit", "MultiEdit", "NotebookEdit", "AskUserQuestion", "TodoWrite", "Skill"}
)
"""Tools whose results give the assistant's own words back."""

LONGEST = 200_000
"""Characters of one line's text that are looked at."""


class Heard(Enum):
    """Who said something."""

    TOOL = "tool"
    RETOLD = "retold"
    """The assistant, after a tool had answered in the same turn: the tool's words as far as anybody can know."""
    PERSON = "person"
    RAN = "ran"
    """The assistant, as a command: what it ran, and not what it said."""


@dataclass(frozen=True, slots=True)
class Saying:
    """Words, whose they are, and where their line starts."""

    by: Heard
    text: str
    start: int


def heard(path: Path, begin: int, end: int) -> list[Saying]:
    """Return what tools and people said in the lines that start in a span; nothing of a file that can't be read."""
    try:
        with open_regular(path) as file:
            return list(Listener.behind(file, begin).listen(file, end))
    except OSError:
        return []


class Listener:
    """Reads a transcript's sayings line by line, and can go on later where it stopped."""

    def __init__(self, begin: int) -> None:
        self.position = begin
        self._names: dict[str, str] = {}
        # What came before the first line that is read may have been a tool's.
        self._tool_seen = begin > 0

    @classmethod
    def behind(cls, file: BinaryIO, begin: int) -> Listener:
        """Return a listener that begins with the first line that starts at an offset or behind it."""
        if begin <= 0:
            return cls(0)
        file.seek(begin - 1)
        return cls(skip_line(file, begin - 1))

    def listen(self, file: BinaryIO, end: int) -> Iterator[Saying]:
        """Give what the next lines say, up to the one that starts at ``end`` or behind it."""
        for line in whole_lines(file, self.position, final=True):
            if line.start >= end:
                return
            record = parse(line.raw) if line.raw is not None else None
            if record is not None:
                yield from self._hear(record, line.start)
            self.position = line.end

    def _hear(self, record: Record, start: int) -> Iterator[Saying]:
        sort = string(record, "type")
        if sort == "assistant":
            self._names |= {string(use, "id"): string(use, "name") for use in message_blocks(record)}
            yield from _ran(record, start)
            if self._tool_seen or record.get("isSidechain"):
                yield Saying(Heard.RETOLD, joined_text(message_blocks(record))[:LONGEST], start)
        elif sort == "attachment":
            yield Saying(Heard.TOOL, _strings(record.get("attachment"))[:LONGEST], start)
        elif sort == "user":
            results = [block for block in message_blocks(record) if block.get("type") == "tool_result"]
            self._tool_seen = bool(results) or speech.is_compaction(record, joined_text(message_blocks(record)))
            yield from _of_user(record, results, self._names, start)


def _ran(record: Record, start: int) -> Iterator[Saying]:
    for use in message_blocks(record):
        given = use.get("input")
        if string(use, "type") == "tool_use" and isinstance(given, Mapping) and isinstance(given.get("command"), str):
            yield Saying(Heard.RAN, given["command"][:LONGEST], start)


def _of_user(record: Record, results: list[Record], names: Mapping[str, str], start: int) -> Iterator[Saying]:
    foreign = [block for block in results if names.get(string(block, "tool_use_id"), "") not in OWN_WORDS]
    for block in foreign:
        content = block.get("content")
        text = content if isinstance(content, str) else joined_text(blocks(content))
        yield Saying(Heard.TOOL, text[:LONGEST], start)
    text = joined_text(message_blocks(record))
    if speech.is_compaction(record, text) or record.get("isSidechain"):
        yield Saying(Heard.TOOL, text[:LONGEST], start)
    elif not results and not speech.written_by_client(record) and not speech.is_plan(record, text):
        yield Saying(Heard.PERSON, speech.typed(text)[:LONGEST], start)


def _strings(value: object, depth: int = 4) -> str:
    """All text within a value."""
    if isinstance(value, str):
        return value
    if depth == 0:
        return ""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, (_strings(one, depth - 1) for one in inner)))
