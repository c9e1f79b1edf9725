"""Reads the tool calls of a transcript with their results, and searches earlier outputs for the source of a command."""

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
"""The most bytes before a transcript's new part that are read again: a new call may end an old failure."""
MOST_SEARCHED = 64 << 20
"""The most bytes of a transcript that are searched for the source of a command."""

_HINTS = (b'"tool_use"', b'"tool_result"')
_REFUSED = ("The user doesn't want", "Permission to use", "[Request interrupted", "<tool_use_error>Sibling")
_OWN_ATTACHMENTS = ("hook_", "async_hook_response", "skill_listing", "agent_listing", "task_reminder", "todo")
_OF_THE_CLONE = (("git", "remote"), ("git", "config"), ("git", "branch"))
"""Commands that only show how this clone is set up."""


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
        """Return the shell command; "" if it was no shell call."""
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

    With ``sides``, those of sub-agents are included. A first line without its beginning is skipped.
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
    """Whether a line of a file, page or output before an offset contains all words of ``needle``.

    ``clean`` removes the memories that this plugin itself added. Also true if the transcript is too long to search.
    """
    if end > MOST_SEARCHED:
        return True
    words = [word.casefold() for word in needle]
    patterns = [re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])") for word in words]
    commands: dict[str, str] = {}
    for _, _, record in _records(path, 0, end, (*_HINTS, b'"attachment"'), sides=True):
        for text in _outside_texts(record, commands):
            if _holds(text, words, patterns) and _holds(clean(text), words, patterns):
                return True
    return False


def _holds(text: str, words: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> bool:
    folded = text.casefold()
    if not all(word.split()[0] in folded for word in words):
        return False
    lines = (" ".join(line.split()) for line in folded.splitlines())
    return any(all(pattern.search(line) for pattern in patterns) for line in lines)


def _outside_texts(record: Record, commands: dict[str, str]) -> Iterator[str]:
    """Yield the texts of a line that neither a person nor the assistant wrote."""
    if string(record, "type") == "attachment":
        if not string(record, "attachment", "type").startswith(_OWN_ATTACHMENTS):
            yield str(record.get("attachment"))
        return
    for block in message_blocks(record):
        if block.get("type") == "tool_use":
            commands[string(block, "id")] = string(block, "input", "command")
        elif block.get("type") == "tool_result":
            ran = only(commands.pop(string(block, "tool_use_id"), ""))
            if ran is None or ran.shape[:2] not in _OF_THE_CLONE:
                yield joined_text(blocks(block.get("content")))
