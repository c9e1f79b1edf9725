"""Reads who said what in a transcript. Tool output is also read: not to capture it, but to find copied words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import BinaryIO

from subconscious.text.code_prose import split
from subconscious.transcripts import speech
from subconscious.transcripts.lines import skip_line, whole_lines
from subconscious.transcripts.records import Record, blocks, joined_text, message_blocks, parse, string

OWN_WORDS = frozenset(
    {"ExitPlanMode", "Write", "Edit", "MultiEdit", "NotebookEdit", "AskUserQuestion", "TodoWrite", "Skill"}
)
"""Tools with results that repeat the assistant's own words."""

WRITING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})

SOURCE_FILE = re.compile(
    r"\.(?:py|pyi|jsx?|tsx?|mjs|cjs|go|rs|rb|java|kt|kts|swift|c|h|cc|cpp|hpp|cs|php|sql|css|scss|vue|svelte|proto|ex|exs"
    r"|scala|clj|dart|lua|zig|sh|ya?ml|toml|json|avsc|graphql|tf|gradle|cmake|conf|ini|cfg|xml)(?![\w.])"
    r"|(?:^|/)(?:Dockerfile|Makefile|CMakeLists\.txt|CODEOWNERS)(?![\w.])"
)
"""Matches names of files with code or settings; the content of all other files counts as prose."""

_SHOWS_SOURCE = re.compile(
    rf"(?:cat|head|tail|nl|sed -n)(?: -[\w-]{{1,20}}| ['\"]?\d[\d,p$]{{0,20}}['\"]?)*"
    rf"(?: [\w./@+-]{{1,200}}(?:{SOURCE_FILE.pattern}))+"
)
"""Matches a command that only prints source files."""

LONGEST_COMMAND = 1_000

LONGEST = 200_000
"""The maximum number of characters of one line's text that are examined."""


class Source(Enum):
    """The source of an utterance."""

    TOOL = "tool"
    AFTER_TOOL = "retold"
    """The assistant, after a tool result in the same turn: the words may be the tool's."""
    PERSON = "person"
    RAN = "ran"
    """A command that the assistant ran."""
    CODE = "code"
    """Source code that the session read or wrote, without its comments, and the paths of the files it opened."""
    PROSE = "prose"
    """Other output of a tool: pages, documents, messages, and the comments in source code."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words, their source, and the offset of their line.

    ``of_summary``: the words are a summary of earlier lines of the file, made when the conversation was compacted.
    """

    source: Source
    text: str
    start: int
    of_summary: bool = False


class UtteranceReader:
    """Reads the utterances of a transcript line by line, and can continue later."""

    def __init__(self, begin: int) -> None:
        self.position = begin
        self._uses: dict[str, Record] = {}
        # There may have been a tool result before ``begin``.
        self._tool_seen = begin > 0
        self._any_result = False

    @classmethod
    def starting_at(cls, file: BinaryIO, begin: int) -> UtteranceReader:
        """Return a reader that begins with the first line starting at or after an offset."""
        if begin <= 0:
            return cls(0)
        file.seek(begin - 1)
        return cls(skip_line(file, begin - 1))

    def read(self, file: BinaryIO, end: int) -> Iterator[Utterance]:
        """Yield the utterances of the next lines, up to the first line that starts at or after ``end``."""
        for line in whole_lines(file, self.position, final=True):
            if line.start >= end:
                return
            record = parse(line.raw) if line.raw is not None else None
            if record is not None:
                yield from self._utterances(record, line.start)
            self.position = line.end

    def _utterances(self, record: Record, start: int) -> Iterator[Utterance]:
        sort = string(record, "type")
        if sort == "assistant":
            for use in message_blocks(record):
                if string(use, "type") == "tool_use":
                    self._uses[string(use, "id")] = _shortened(use)
            yield from _commands(record, start)
            yield from _source_files(record, start)
            if self._tool_seen or record.get("isSidechain"):
                yield Utterance(Source.AFTER_TOOL, joined_text(message_blocks(record))[:LONGEST], start)
        elif sort == "attachment":
            attached = _strings(record.get("attachment"))[:LONGEST]
            yield Utterance(Source.TOOL, attached, start)
            yield Utterance(Source.PROSE, attached, start)
        elif sort == "user":
            results = [block for block in message_blocks(record) if block.get("type") == "tool_result"]
            is_summary = speech.is_compaction(record, joined_text(message_blocks(record)))
            self._tool_seen = bool(results) or is_summary
            marked = record.get("isCompactSummary") is True  # by the client; any text can begin like a summary
            for saying in _of_user(record, results, self._uses, start):
                # A summary at the beginning of a file is about lines in another file.
                yield replace(saying, of_summary=True) if marked and self._any_result else saying
            self._any_result |= bool(results)


def _commands(record: Record, start: int) -> Iterator[Utterance]:
    for use in message_blocks(record):
        given = use.get("input")
        if string(use, "type") == "tool_use" and isinstance(given, Mapping) and isinstance(given.get("command"), str):
            yield Utterance(Source.RAN, given["command"][:LONGEST], start)


def _shortened(use: Record) -> Record:
    """Return the parts of a tool call that identify the content of its result."""
    keys = ("file_path", "path", "command")
    return {"name": string(use, "name"), "input": {key: string(use, "input", key)[:LONGEST_COMMAND] for key in keys}}


def _source_files(record: Record, start: int) -> Iterator[Utterance]:
    """Yield the paths of the source files that tools opened, and the code written to them."""
    for use in message_blocks(record):
        given = use.get("input")
        if string(use, "type") != "tool_use" or not isinstance(given, Mapping):
            continue
        path = next((value for key in ("file_path", "notebook_path", "path") if (value := string(given, key))), "")
        if not SOURCE_FILE.search(path):
            continue
        yield Utterance(Source.CODE, path, start)
        if string(use, "name") in WRITING:
            yield Utterance(Source.CODE, split(_strings(given)[:LONGEST])[0], start)


def _of_user(record: Record, results: list[Record], uses: Mapping[str, Record], start: int) -> Iterator[Utterance]:
    for block in results:
        use = uses.get(string(block, "tool_use_id"), {})
        if string(use, "name") in OWN_WORDS:
            continue
        content = block.get("content")
        text = (content if isinstance(content, str) else joined_text(blocks(content)))[:LONGEST]
        yield Utterance(Source.TOOL, text, start)
        yield from _split_result(use, block, text, start)
    text = joined_text(message_blocks(record))
    if speech.is_compaction(record, text) or record.get("isSidechain"):
        yield Utterance(Source.TOOL, text[:LONGEST], start)
        yield Utterance(Source.PROSE, text[:LONGEST], start)
    elif not results and not speech.written_by_client(record) and not speech.is_plan(record, text):
        yield Utterance(Source.PERSON, speech.typed(text)[:LONGEST], start)


def _split_result(use: Record, result: Record, text: str, start: int) -> Iterator[Utterance]:
    """Split a tool's result into code and prose."""
    prose = text
    if not result.get("is_error") and _is_of_source(use, text):
        code, prose = split(text)
        yield Utterance(Source.CODE, code, start)
    yield Utterance(Source.PROSE, prose, start)


def _is_of_source(use: Record, text: str) -> bool:
    """Return whether a result is only source code, from a file that was read or files that were searched."""
    tool = string(use, "name")
    if tool == "Read":
        return bool(SOURCE_FILE.search(string(use, "input", "file_path")))
    if tool == "Bash":
        return bool(_SHOWS_SOURCE.fullmatch(string(use, "input", "command")[:LONGEST_COMMAND]))
    return tool == "Grep" and (bool(SOURCE_FILE.search(string(use, "input", "path"))) or _lists_source(text))


def _lists_source(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("Found ")]
    return all(SOURCE_FILE.search(line.partition(":")[0]) for line in lines)


def _strings(value: object, depth: int = 4) -> str:
    """Return all strings within a JSON value, one per line."""
    if isinstance(value, str):
        return value
    if depth == 0:
        return ""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, (_strings(one, depth - 1) for one in inner)))
