"""What a transcript holds besides turns: the words of tools, which are never captured, only compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from subconscious.safe_files import open_regular
from subconscious.text.code_prose import split
from subconscious.transcripts import speech
from subconscious.transcripts.lines import skip_line, whole_lines
from subconscious.transcripts.records import Record, blocks, joined_text, message_blocks, parse, string

OWN_WORDS = frozenset(
    {"ExitPlanMode", "Write", "Edit", "MultiEdit", "NotebookEdit", "AskUserQuestion", "TodoWrite", "Skill"}
)
"""Tools whose results give the assistant's own words back."""

READING = frozenset({"Read", "Grep"})
"""Tools whose results are the words of files."""

WRITING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})

SOURCE = re.compile(
    r"\.(?:py|pyi|jsx?|tsx?|mjs|cjs|go|rs|rb|java|kt|kts|swift|c|h|cc|cpp|hpp|cs|php|sql|css|scss|vue|svelte|proto|ex|exs"
    r"|scala|clj|dart|lua|zig|sh|ya?ml|toml|json|avsc|graphql|tf|gradle|cmake|conf|ini|cfg|xml)(?![\w.])"
    r"|(?:^|/)(?:Dockerfile|Makefile|CMakeLists\.txt|CODEOWNERS)(?![\w.])"
)
"""Names of files that hold code or settings; all others hold prose."""

_SHOWS_SOURCE = re.compile(
    rf"(?:cat|head|tail|nl|sed -n)(?: -[\w-]{{1,20}}| ['\"]?\d[\d,p$]{{0,20}}['\"]?)*"
    rf"(?: [\w./@+-]{{1,200}}(?:{SOURCE.pattern}))+"
)
"""A command that shows source files and nothing else."""

LONGEST_COMMAND = 1_000

LONGEST = 200_000
"""Characters of one line's text that are looked at."""


class Heard(Enum):
    """Who said something."""

    TOOL = "tool"
    RETOLD = "retold"
    """The assistant, after a tool had answered in the same turn: the tool's words as far as anybody can know."""
    PERSON = "person"
    RAN = "ran"
    """A command of the assistant: text that it ran, not text that it said."""
    CODE = "code"
    """Source code that the session read or wrote, without its comments, and the paths of the files it opened."""
    PROSE = "prose"
    """Other output of a tool: pages, documents, messages, and the comments in source code."""


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
    """Reads the utterances of a transcript line by line, and can continue later."""

    def __init__(self, begin: int) -> None:
        self.position = begin
        self._uses: dict[str, Record] = {}
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
        """Yield the utterances of the next lines, up to the one that starts at ``end`` or behind it."""
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
            for use in message_blocks(record):
                if string(use, "type") == "tool_use":
                    self._uses[string(use, "id")] = _shortened(use)
            yield from _ran(record, start)
            yield from _worked_on(record, start)
            if self._tool_seen or record.get("isSidechain"):
                yield Saying(Heard.RETOLD, joined_text(message_blocks(record))[:LONGEST], start)
        elif sort == "attachment":
            attached = _strings(record.get("attachment"))[:LONGEST]
            yield Saying(Heard.TOOL, attached, start)
            yield Saying(Heard.PROSE, attached, start)
        elif sort == "user":
            results = [block for block in message_blocks(record) if block.get("type") == "tool_result"]
            self._tool_seen = bool(results) or speech.is_compaction(record, joined_text(message_blocks(record)))
            yield from _of_user(record, results, self._uses, start)


def _ran(record: Record, start: int) -> Iterator[Saying]:
    for use in message_blocks(record):
        given = use.get("input")
        if string(use, "type") == "tool_use" and isinstance(given, Mapping) and isinstance(given.get("command"), str):
            yield Saying(Heard.RAN, given["command"][:LONGEST], start)


def _shortened(use: Record) -> Record:
    """The parts of a tool call that identify the content of its result."""
    keys = ("file_path", "path", "command")
    return {"name": string(use, "name"), "input": {key: string(use, "input", key)[:LONGEST_COMMAND] for key in keys}}


def _worked_on(record: Record, start: int) -> Iterator[Saying]:
    """Return the paths of the source files that tools opened, and the code that was written into them."""
    for use in message_blocks(record):
        given = use.get("input")
        if string(use, "type") != "tool_use" or not isinstance(given, Mapping):
            continue
        path = next((value for key in ("file_path", "notebook_path", "path") if (value := string(given, key))), "")
        if not SOURCE.search(path):
            continue
        yield Saying(Heard.CODE, path, start)
        if string(use, "name") in WRITING:
            yield Saying(Heard.CODE, split(_strings(given)[:LONGEST])[0], start)


def _of_user(record: Record, results: list[Record], uses: Mapping[str, Record], start: int) -> Iterator[Saying]:
    for block in results:
        use = uses.get(string(block, "tool_use_id"), {})
        if string(use, "name") in OWN_WORDS:
            continue
        content = block.get("content")
        text = (content if isinstance(content, str) else joined_text(blocks(content)))[:LONGEST]
        yield Saying(Heard.TOOL, text, start)
        yield from _parted(use, block, text, start)
    text = joined_text(message_blocks(record))
    if speech.is_compaction(record, text) or record.get("isSidechain"):
        yield Saying(Heard.TOOL, text[:LONGEST], start)
        yield Saying(Heard.PROSE, text[:LONGEST], start)
    elif not results and not speech.written_by_client(record) and not speech.is_plan(record, text):
        yield Saying(Heard.PERSON, speech.typed(text)[:LONGEST], start)


def _parted(use: Record, result: Record, text: str, start: int) -> Iterator[Saying]:
    """Split a tool's result into code and prose."""
    prose = text
    if not result.get("is_error") and _is_of_source(use, text):
        code, prose = split(text)
        yield Saying(Heard.CODE, code, start)
    yield Saying(Heard.PROSE, prose, start)


def _is_of_source(use: Record, text: str) -> bool:
    """Whether a result holds source alone: that of the file which was read, or of those whose lines were found."""
    tool = string(use, "name")
    if tool == "Read":
        return bool(SOURCE.search(string(use, "input", "file_path")))
    if tool == "Bash":
        return bool(_SHOWS_SOURCE.fullmatch(string(use, "input", "command")[:LONGEST_COMMAND]))
    return tool == "Grep" and (bool(SOURCE.search(string(use, "input", "path"))) or _lists_source(text))


def _lists_source(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("Found ")]
    return all(SOURCE.search(line.partition(":")[0]) for line in lines)


def _strings(value: object, depth: int = 4) -> str:
    """All text within a value."""
    if isinstance(value, str):
        return value
    if depth == 0:
        return ""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, (_strings(one, depth - 1) for one in inner)))
