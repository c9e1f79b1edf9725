"""What is told of tools beside their names: short, cleaned whole, and only where it was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from subconscious.domain.model import Turn
from subconscious.redaction.cleaning import clean
from subconscious.transcripts import read_turns
from subconscious.transcripts.tool_excerpts import LONGEST_ERROR, LONGEST_OUTPUT, LONGEST_SUMMARY

KEY = "AKIA" + "QWERTYUIOPASDFGH"


def turns(tmp_path: Path, name: str, given: dict[str, Any], output: str, *, failed: bool = False) -> tuple[Turn, ...]:
    own = {"sessionId": "s1", "timestamp": "2025-01-01T00:00:00Z", "cwd": "/home/me/shop"}
    use = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": output, "is_error": failed}
    lines = [
        own | {"type": "assistant", "uuid": "a", "message": {"role": "assistant", "content": [use]}},
        own | {"type": "user", "uuid": "b", "message": {"role": "user", "content": [result]}},
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_turns(path, clean=clean, tool_excerpts=True).turns


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("Read", {"file_path": "/home/me/shop/src/kiln.py"}, "Read src/kiln.py"),
        ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts"),
        ("Grep", {"pattern": "def fire", "path": "/home/me/shop/src"}, "Grep 'def fire' src"),
        (
            "Edit",
            {"file_path": "/home/me/shop/kiln.py", "old_string": "cone = 4", "new_string": "cone = 6"},
            "Edit kiln.py: - cone = 4 + cone = 6",
        ),
        ("Edit", {"file_path": "/home/me/shop/kiln.py", "old_string": "a " * 200, "new_string": "b"}, "Edit kiln.py"),
        ("Bash", {"command": "ls"}, ""),
        ("Edit", {"file_path": 7, "old_string": None}, "Edit"),
    ],
)
def test_uses_tell_where_they_looked(tmp_path: Path, name: str, given: dict[str, Any], shown: str) -> None:
    assert turns(tmp_path, name, given, "fine")[0].shown.strip() == shown


def test_an_error_is_told_by_its_lines_and_success_not_at_all(tmp_path: Path) -> None:
    output = "Collecting\nE   KeyError: 'cone'\nmore\n" + "fatal: too hot\n" * 90
    told = turns(tmp_path, "Bash", {"command": "make"}, output, failed=True)[1].shown
    assert told == "E KeyError: 'cone' | fatal: too hot"
    assert turns(tmp_path, "Read", {"file_path": "x"}, "error: a file's own words")[1].shown == ""
    lines = "\n".join(f"error {number} " + "x" * 90 for number in range(9))
    long = turns(tmp_path, "Bash", {"command": "make"}, lines, failed=True)
    assert len(long[1].shown) == LONGEST_ERROR


def test_how_tests_ended_is_told(tmp_path: Path) -> None:
    output = "Task 1 failed: x\n....F\nFAILED tests/test_kiln.py::test_cone\n==== 1 failed, 4 passed in 0.2s ===="
    told = turns(tmp_path, "Bash", {"command": "pytest"}, output)[1].shown
    assert told == "FAILED tests/test_kiln.py::test_cone | ==== 1 failed, 4 passed in 0.2s ===="
    assert len(turns(tmp_path, "Bash", {"command": "x"}, "9 passed " * 90)[1].shown) <= LONGEST_SUMMARY


def test_nothing_is_cut_before_it_is_cleaned(tmp_path: Path) -> None:
    for before in range(150, 200):
        output = "error " + "x" * before + f" {KEY} "
        told = turns(tmp_path, "Bash", {"command": "make"}, output, failed=True)[1].shown
        assert KEY[:8] not in told
    for given in ({"file_path": KEY, "old_string": KEY, "new_string": f"<private>{KEY}</private>"},):
        assert KEY not in turns(tmp_path, "Edit", given, "")[0].shown
    assert turns(tmp_path, "Bash", {"command": "x"}, "error " * LONGEST_OUTPUT, failed=True)[1].shown == ""


def test_no_turn_shows_anything_where_that_was_not_asked_for(tmp_path: Path) -> None:
    turns(tmp_path, "Bash", {"command": "make"}, "error: too hot", failed=True)
    assert [turn.shown for turn in read_turns(tmp_path / "t.jsonl", clean=clean).turns] == ["", ""]
