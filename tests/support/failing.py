"""Sessions in which tools fail, and what then works."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.sessions import Speaker
from subconscious.settings.home import Home
from tests.support.daemons import drained, new_session

SUBCOMMAND = "Exit code 2\nerror: unrecognized subcommand 'bun'\n\nUsage: wrap [OPTIONS] <COMMAND>"
FAILS = "wrap bun run test"
WORKS = "bun run test"
TOLD = "`wrap bun run test` failed here; `bun run test` then worked."


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and its result."""

    name: str
    given: Mapping[str, str]
    output: str = ""
    failed: bool = False


def bash(command: str, output: str = "ok", *, failed: bool = False) -> Call:
    return Call("Bash", {"command": command}, output, failed)


def edit(file: str, old: str, output: str = "ok", *, failed: bool = False) -> Call:
    return Call("Edit", {"file_path": file, "old_string": old, "new_string": "new"}, output, failed)


TROUBLE = (bash(FAILS, SUBCOMMAND, failed=True), bash(WORKS))


def perform(speaker: Speaker, calls: Sequence[Call]) -> None:
    """Have the calls in a session's transcript."""
    for call in calls:
        speaker.call(call.name, call.given, call.output, failed=call.failed)


def lived(home: Home, project: Path, *calls: Call) -> Speaker:
    """A whole session with these calls, from which the daemon has learned."""
    speaker = new_session(home, project)
    speaker.say("Go on with the work on the shop.")
    perform(speaker, calls)
    speaker.hook("drop", "SessionEnd", reason="other")
    drained(home)
    return speaker


def fails(speaker: Speaker, call: Call) -> str:
    """What the client's hook is given for a call that failed."""
    answer = speaker.ask("PostToolUseFailure", tool_name=call.name, tool_input=dict(call.given), error=call.output)
    told: str = json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""
    return told


def rows(home: Home, sql: str) -> list[dict[str, Any]]:
    """Rows of the database file."""
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as store:
        store.row_factory = sqlite3.Row
        return [dict(row) for row in store.execute(sql)]


def observed(home: Home) -> list[dict[str, Any]]:
    """The memories in use that were observed in tool calls."""
    return rows(home, "SELECT * FROM memories WHERE extractor LIKE 'observed-%' AND archived_at IS NULL ORDER BY id")


def waiting(home: Home) -> list[dict[str, Any]]:
    """What was observed and waits for a person, or is kept apart."""
    return rows(
        home,
        "SELECT * FROM implicit_captures WHERE extractor LIKE 'observed-%' AND memory_id IS NULL ORDER BY id",
    )
