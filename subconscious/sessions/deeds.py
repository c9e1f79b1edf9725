"""Reads from a transcript what a session did: commands, commits, changed files, task lists, pull requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from subconscious.failures.commands import parse as parse_command
from subconscious.failures.variants import only_looks
from subconscious.sessions.commits import Commit, commits_made
from subconscious.system.safe_files import open_regular
from subconscious.text import wording
from subconscious.transcripts.records import Record, blocks, joined_text, message_blocks, string
from subconscious.transcripts.records_of import records_of

LONGEST = 200
MOST = 40
"""The maximum number of running commands, and of tasks, that are tracked at once."""

_HINTS = (b'"tool_use"', b'"tool_result"', b'"pr-link"', b'"custom-title"', b"<command-name>")
_COMMAND = re.compile(r"<command-name>\s*(/[\w:-]+)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_HOUSEKEEPING = frozenset(
    """/add-dir /agents /bashes /clear /color /compact /config /context /copy /cost /doctor /effort /exit /export /fast
    /feedback /help /hooks /ide /login /logout /mcp /memory /model /permissions /plan /plugin /quit /release-notes
    /rename /resume /rewind /sandbox /skills /stats /status /statusline /tasks /terminal-setup /theme /todos /upgrade
    /usage /vim""".split()
)
_MERGE = re.compile(r"\bgh\s+pr\s+merge\b(?!.*--(?:auto|disable-auto)\b)")
_FIXTURE = re.compile(r"(?:\S+|(?:initial|first|test) commit)", re.IGNORECASE)
"""Subjects of commits that a test probably made in a temporary repository: one word, or "initial commit".

They are not shown. In the session's own folder, they do count as commits of its work.
"""

_SYMBOL = re.compile(r"\b(?:[a-z]+_[a-z_]{2,}|[a-z]+[A-Z][A-Za-z]{2,}|[A-Z][a-z]+[A-Z][A-Za-z]+|[A-Z]+_[A-Z_]{2,})\b")
"""Names made of several words, such as ``read_file`` or ``readFile``, which occur only in code."""
MOST_SYMBOLS = 200
LONGEST_WRITTEN = 20_000
"""The maximum number of characters of one edit that are searched for names in code."""

LONGEST_OUTPUT = 20_000
"""The maximum number of characters of a command's output that are searched for the result of a commit."""

_REFUSED = ("The user doesn't want", "[Request interrupted", "Permission to use", "<tool_use_error>")
_PREFIX = re.compile(r"^\s*(?:cd\s[^&;\n]{1,300}(?:&&|;)\s*|\w+=\S*\s+)+")


@dataclass(frozen=True, slots=True)
class Deeds:
    """What a session has done so far.

    ``named`` is the title that the user gave to the session, ``opened`` the first slash command, and ``opened_at`` the
    position of that command. ``running`` are the commands without a result, by the id of their tool call. ``failed`` is
    the last command that failed and has not succeeded since. ``tasks`` are the items of the assistant's task list, by
    id: text and status. ``merged`` is true if a pull request was merged and nothing has been committed since,
    ``uncommitted`` if files were changed after the last commit; ``edited`` are the names of these files. ``symbols``
    are names in the code that the session wrote, from the oldest to the latest.
    """

    named: str = ""
    opened: str = ""
    opened_at: int = 0
    commits: tuple[str, ...] = ()
    pulls: tuple[str, ...] = ()
    failed: str = ""
    merged: bool = False
    symbols: tuple[str, ...] = ()
    uncommitted: bool = False
    edited: tuple[str, ...] = ()
    running: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tasks_made: int = 0


def read_deeds(path: Path, start: int, end: int, before: Deeds, clean: Callable[[str], str]) -> Deeds:
    """Return ``before``, updated with what the session did in a part of its transcript ``path``.

    ``start`` and ``end`` are byte offsets. ``clean`` is applied to text of the transcript before it is stored.
    """
    log = _Log(before, clean)
    for at, record in _records(path, start, end):
        if not (record.get("isSidechain") or record.get("agentId")):
            log.take(at, record)
    return log.deeds()


def _records(path: Path, start: int, end: int) -> Iterator[tuple[int, Record]]:
    try:
        with open_regular(path) as file:
            for line, records in records_of(file, start, final=True, hints=_HINTS):
                if line.start >= end:
                    return
                yield from ((line.start, record) for record in records or ())
    except OSError:
        return


class _Log:
    """Collects what a session did, one transcript record at a time."""

    def __init__(self, before: Deeds, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._named = before.named
        self._opened, self._opened_at = before.opened, before.opened_at
        self._commits = list(before.commits)
        self._pulls = list(before.pulls)
        self._failed = before.failed
        self._merged = before.merged
        self._uncommitted = before.uncommitted
        self._edited = dict.fromkeys(before.edited)
        self._folder = ""
        self._symbols = dict.fromkeys(before.symbols)
        self._running = dict(before.running)
        self._tasks = dict(before.tasks)
        self._made = before.tasks_made

    def deeds(self) -> Deeds:
        """Return the deeds so far, with only the latest commits, commands, tasks and names."""
        return Deeds(
            named=self._named,
            opened=self._opened,
            opened_at=self._opened_at,
            commits=tuple(dict.fromkeys(self._commits[-5:])),
            pulls=tuple(dict.fromkeys(self._pulls[-3:])),
            failed=self._failed,
            merged=self._merged,
            uncommitted=self._uncommitted,
            edited=tuple(self._edited)[-MOST:],
            symbols=tuple(self._symbols)[-MOST_SYMBOLS:],
            running=dict(list(self._running.items())[-MOST:]),
            tasks=dict(list(self._tasks.items())[-MOST:]),
            tasks_made=self._made,
        )

    def take(self, at: int, record: Record) -> None:
        """Add a transcript record at the byte offset ``at``."""
        self._folder = string(record, "cwd") or self._folder
        match string(record, "type"):
            case "assistant":
                for block in message_blocks(record):
                    self._take_use(block)
            case "user":
                for block in message_blocks(record):
                    self._take_result(block)
                self._take_command(at, joined_text(message_blocks(record)))
            case "pr-link":
                self._pulls.append(f"#{record.get('prNumber')}")
            case "custom-title":
                self._named = self._short(string(record, "customTitle"))

    def _take_use(self, block: Record) -> None:
        given = block.get("input")
        if block.get("type") != "tool_use" or not isinstance(given, Mapping):
            return
        match string(block, "name"):
            case "Bash":
                self._running[string(block, "id")] = self._clean(string(given, "command")[:4000])
            case "Edit" | "MultiEdit" | "NotebookEdit" | "Write":
                self._uncommitted = True
                self._edited[PurePath(string(given, "file_path") or string(given, "notebook_path")).name] = None
                written = string(given, "new_string") or string(given, "content")
                self._take_symbols(written[:LONGEST_WRITTEN])
            case "TodoWrite":
                self._take_list(given.get("todos"))
            case "TaskCreate":
                self._made += 1
                self._tasks[str(self._made)] = (self._short(string(given, "subject")), "pending")
            case "TaskUpdate":
                key, status = str(given.get("taskId", "")), string(given, "status")
                if key in self._tasks and status:
                    self._tasks[key] = (self._tasks[key][0], status)

    def _take_symbols(self, written: str) -> None:
        names = dict.fromkeys(_SYMBOL.findall(written))
        for name in self._clean(" ".join(names)).split():
            if name in names:  # otherwise, it is a part of a redacted secret
                self._symbols.pop(name, None)
                self._symbols[name] = None

    def _take_list(self, todos: Any) -> None:
        """Replace the whole task list, because older clients write the whole list each time."""
        items = [todo for todo in todos if isinstance(todo, Mapping)] if isinstance(todos, list) else []
        self._tasks = {
            str(number): (self._short(string(item, "content")), string(item, "status"))
            for number, item in enumerate(items[:MOST])
        }

    def _take_result(self, block: Record) -> None:
        if block.get("type") != "tool_result":
            return
        command = self._running.pop(string(block, "tool_use_id"), "")
        if not command:
            return
        failed = block.get("is_error") is True
        said = joined_text(blocks(block.get("content")))
        made = commits_made(command, said[:LONGEST_OUTPUT], failed=failed)
        for commit in made:
            self._take_commit(commit)
        if failed:
            if not (said.startswith(_REFUSED) or _only_looks(command)):
                self._failed = _bare(command)
            return
        if _MERGE.search(command):
            self._merged = True
        if made or _program(command) == _program(self._failed):
            self._failed = ""

    def _take_commit(self, commit: Commit) -> None:
        subject = self._short(commit.subject)
        is_plain = bool(subject) and not _FIXTURE.fullmatch(subject)
        if is_plain:
            self._commits.append(subject)
        if is_plain or not commit.is_elsewhere(self._folder):
            self._merged = self._uncommitted = False
            self._edited = {}

    def _take_command(self, at: int, text: str) -> None:
        found = _COMMAND.search(text)
        if found and not self._opened and found[1] not in _HOUSEKEEPING:
            arguments = _ARGUMENTS.search(text)
            self._opened = self._short(f"{found[1]} {arguments[1] if arguments else ''}")
            self._opened_at = at

    def _short(self, text: str) -> str:
        return wording.shorten(wording.squeeze(self._clean(text[:2000])), LONGEST)


def _only_looks(command: str) -> bool:
    """Whether a command only reads, so that its failure leaves no work undone."""
    found = parse_command(command)
    return bool(found) and all(map(only_looks, found))


def _bare(command: str) -> str:
    """Return a command's first line without leading ``cd`` commands and variable assignments."""
    lines = _PREFIX.sub("", command).strip().splitlines()
    return lines[0][:LONGEST] if lines else ""


def _program(command: str) -> tuple[str, ...]:
    """Return the first two words of a command, which name what it runs."""
    return tuple(_bare(command).split()[:2])
