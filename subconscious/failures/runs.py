"""Reads the tool calls of a transcript with their results, and searches earlier texts for the source of a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from subconscious.failures.commands import only
from subconscious.system.safe_files import open_regular
from subconscious.transcripts.records import Record, blocks, joined_text, message_blocks, string, timestamp
from subconscious.transcripts.records_of import records_of

LOOKED_BACK = 4 << 20
"""The most bytes before a transcript's new part that are read again: a new call may be an old failure's way out."""
MOST_SEARCHED = 64 << 20
"""The most bytes of a transcript that are searched for the source of a command."""

SUGGESTED = "a file, a page or an output of the session named it before it was run"
"""The reason shown to a person who must approve a command that the assistant perhaps did not find by itself."""

_HINTS = (b'"tool_use"', b'"tool_result"')
_REFUSED = ("The user doesn't want", "Permission to use", "[Request interrupted", "<tool_use_error>Sibling")
_OWN_ATTACHMENTS = ("hook_", "async_hook_response", "skill_listing", "agent_listing", "task_reminder", "todo")
_TRACE = re.compile(r"^(?:\[[\w:.-]{1,40}\] )?\$ .*$", re.MULTILINE)
"""The lines in which a task runner prints what it runs: "[test] $ go test ./..."."""

_OF_THE_CLONE = (("git", "remote"), ("git", "config"), ("git", "branch"))
"""Commands that only show how this clone of the repository is set up."""


@dataclass(frozen=True, slots=True)
class Run:
    """One tool call and its result. ``id`` and the offsets are those of the line with the result."""

    id: str
    at: float
    tool: str
    given: Mapping[str, object]
    failed: bool
    error: str
    cwd: str
    start: int
    end: int
    branch: str = ""

    def text(self, name: str) -> str:
        """Return a text argument of the call; "" if it has no such argument."""
        value = self.given.get(name)
        return value if isinstance(value, str) else ""

    @property
    def command(self) -> str:
        """Return the shell command; "" if the call was not a shell command."""
        return self.text("command") if self.tool == "Bash" else ""

    @property
    def file(self) -> str:
        """Return the file that the tool was used on; "" if there is none."""
        return self.text("file_path") or self.text("notebook_path") or self.text("path")


def read_runs(path: Path, start: int, end: int) -> list[Run]:
    """Return the calls of the main conversation between two offsets, in the order of their results."""
    uses: dict[str, tuple[Record, str]] = {}
    found: list[Run] = []
    for at, stop, record in _records(path, start, end, _HINTS):
        for block in message_blocks(record):
            if block.get("type") == "tool_use":
                uses[string(block, "id")] = block, string(record, "cwd")
            elif block.get("type") == "tool_result" and (use := uses.pop(string(block, "tool_use_id"), None)):
                run = _run(use, record, block, (at, stop))
                found += [run] if run is not None else []
    return found


def _run(use: tuple[Record, str], record: Record, block: Record, place: tuple[int, int]) -> Run | None:
    said = joined_text(blocks(block.get("content")))
    given = use[0].get("input")
    if said.startswith(_REFUSED) or not isinstance(given, Mapping) or not string(record, "uuid"):
        return None
    failed = block.get("is_error") is True
    return Run(
        id=f"{string(record, 'uuid')}:{string(block, 'tool_use_id')}",
        at=timestamp(record, 0.0),
        tool=string(use[0], "name"),
        given=given,
        failed=failed,
        error=said,
        cwd=use[1],
        start=place[0],
        end=place[1],
        branch=string(record, "gitBranch"),
    )


def _records(
    path: Path, start: int, end: int, hints: Sequence[bytes], *, sides: bool = False
) -> Iterator[tuple[int, int, Record]]:
    """Yield the records with one of ``hints`` between two offsets, each with the offsets of its line.

    With ``sides``, records of sub-agents are included. If ``start`` is within a line, that line is skipped.
    """
    try:
        with open_regular(path) as file:
            for line, records in records_of(file, start, final=True, hints=hints):
                if line.start >= end:
                    return
                for record in records or ():
                    if sides or not (record.get("isSidechain") or record.get("agentId")):
                        yield line.start, line.end, record
    except OSError:
        return


def brought(path: Path, end: int, needle: Sequence[str], clean: Callable[[str], str]) -> bool:
    """Whether a line of a file, page or output before the offset ``end`` contains all words of ``needle``.

    ``clean`` removes the memories that Subconscious itself added. Also true if the transcript is too long to search.
    """
    if end > MOST_SEARCHED:
        return True
    sought = _Sought.of(needle)
    commands: dict[str, str] = {}
    for _, _, record in _records(path, 0, end, (*_HINTS, b'"attachment"'), sides=True):
        if any(sought.is_in(text, clean) for text, _ in _outside_texts(record, commands)):
            return True
    return False


def named_first(
    path: Path,
    end: int,
    commands: Sequence[str],
    clean: Callable[[str], str],
    is_check: Callable[[str], bool],
) -> bool:
    """Whether a line of a file, page or output contains all words of one of ``commands`` before that command was run.

    Like ``brought``, but each command is looked for until the assistant runs it for the first time. In the output of a
    command for which ``is_check`` is true, lines in which a task runner prints the commands that it runs are ignored.
    """
    if end > MOST_SEARCHED:
        return True
    sought = [_Sought.of(command.split()) for command in commands]
    ran: dict[str, str] = {}
    for _, _, record in _records(path, 0, end, (*_HINTS, b'"attachment"'), sides=True):
        for text, command in _outside_texts(record, ran):
            told = _TRACE.sub("", text) if is_check(command) else text
            if any(one.is_in(told, clean) for one in sought):
                return True
        run = [string(block, "input", "command") for block in message_blocks(record) if block.get("type") == "tool_use"]
        sought = [one for one in sought if not any(map(one.is_run_by, run))]
        if not sought:
            return False
    return False


@dataclass(frozen=True, slots=True)
class _Sought:
    """Words that are looked for in the lines of a text, each with its pattern."""

    words: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, needle: Sequence[str]) -> _Sought:
        words = tuple(word.casefold() for word in needle)
        return cls(words, tuple(re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])") for word in words))

    def is_in(self, text: str, clean: Callable[[str], str]) -> bool:
        """Whether a line of a text contains all words, and still does after ``clean`` has removed memories from it."""
        return self._holds(text) and self._holds(clean(text))

    def is_run_by(self, line: str) -> bool:
        """Whether a command in ``line`` begins with the words, perhaps after variables that it sets (`A=1 pytest`)."""
        command = r"\s+".join(map(re.escape, self.words))
        return bool(re.search(rf"(?:\A|[\n;&|(])\s*+(?:\w++=\S*+\s++)*+{command}(?![\w-])", line.casefold()))

    def _holds(self, text: str) -> bool:
        folded = text.casefold()
        if not all(word.split()[0] in folded for word in self.words):
            return False
        lines = (" ".join(line.split()) for line in folded.splitlines())
        return any(all(pattern.search(line) for pattern in self.patterns) for line in lines)


def _outside_texts(record: Record, commands: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a record that are from neither a person nor the assistant, each with its command or ""."""
    if string(record, "type") == "attachment":
        if not string(record, "attachment", "type").startswith(_OWN_ATTACHMENTS):
            yield str(record.get("attachment")), ""
        return
    for block in message_blocks(record):
        if block.get("type") == "tool_use":
            commands[string(block, "id")] = string(block, "input", "command")
        elif block.get("type") == "tool_result":
            command = commands.pop(string(block, "tool_use_id"), "")
            ran = only(command)
            if ran is None or ran.shape[:2] not in _OF_THE_CLONE:
                yield joined_text(blocks(block.get("content"))), command
