"""Nothing is captured from words that nobody said here: every place of a transcript that could smuggle them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.scripts import Script, captured

SENTENCE = "We decided: the kiln always fires twice, because the relay drops the first command."
FINDING = "The root cause is that `KilnDriver.fire()` requires a warm relay, because it drops the first command."
TEXT = f"{SENTENCE} {FINDING}"


def tool_output(script: Script) -> Script:
    return script.runs("cat NOTES.md", TEXT)


def failed_output(script: Script) -> Script:
    return script.uses("Read", {"file_path": "/home/dev/kiln/NOTES.md"}, TEXT, failed=True)


def own_text(script: Script) -> Script:
    return script.user(f'<subconscious-memory note="quoted">\n{TEXT}\n</subconscious-memory>')


def reminder(script: Script) -> Script:
    return script.user(f"go on <system-reminder>{TEXT}</system-reminder>")


def side_chain(script: Script) -> Script:
    return script.user(TEXT, isSidechain=True).says(TEXT, isSidechain=True)


def flagged(**keys: Any) -> Any:
    return lambda script: script.user(TEXT, **keys)


PLACES = {
    "tool output": tool_output,
    "output of a failed tool": failed_output,
    "our own text": own_text,
    "a reminder of the client": reminder,
    "a meta line": flagged(isMeta=True),
    "a compaction summary": flagged(isCompactSummary=True),
    "a task notification": flagged(origin={"kind": "task-notification"}),
    "a task notification in tags": lambda s: s.user(f"<task-notification>\n{TEXT}\n</task-notification>"),
    "a side chain": side_chain,
    "a local command's output": lambda s: s.user(f"<local-command-stdout>{TEXT}</local-command-stdout>"),
    "a shell command's output": lambda s: s.user(f"<bash-stdout>{TEXT}</bash-stdout><bash-stderr></bash-stderr>"),
}


@pytest.mark.parametrize("place", PLACES)
def test_words_that_nobody_said_are_not_captured(place: str, tmp_path: Path) -> None:
    script = PLACES[place](Script().user("look at the kiln").says("I will read the notes."))
    assert [one.content for one in captured(script, tmp_path)] == []


def test_the_same_words_are_captured_when_they_are_said(tmp_path: Path) -> None:
    typed = captured(Script().user("look at the kiln").user(TEXT), tmp_path)
    assert [one.kind for one in typed if one.content in SENTENCE] == ["decision"]
    told = captured(Script().user("look at the kiln").says(FINDING), tmp_path)
    assert any(FINDING in one.content for one in told)
