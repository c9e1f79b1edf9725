from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.imports.sources import EXAMINED_BYTES, Sort, examine_file, files_below
from subconscious.system.projects import root_of


def line(text: str = "Tidy up.", **changes: Any) -> str:
    record = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "cwd": "/shop",
        "timestamp": "2025-03-01T10:00:00Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(record | changes) + "\n"


def test_a_session_is_known_by_its_first_and_last_lines(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    middle = line("x" * 2 * EXAMINED_BYTES, uuid="u2", cwd="/shop/inner")
    file.write_text(line() + middle + line(uuid="u3", timestamp="2025-03-04T10:00:00Z"))
    found = examine_file(file)
    assert (found.sort, found.session_id, found.folder) == (Sort.SESSION, "s1", "/shop")
    assert (found.begun, found.last) == (1740823200.0, 1741082400.0)
    assert found.bytes == file.stat().st_size


def test_a_session_is_found_behind_a_long_run_of_old_summaries(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    summary = json.dumps({"type": "summary", "summary": "x" * 1000, "leafUuid": "l"}) + "\n"
    file.write_text(summary * 300 + line())
    assert examine_file(file).session_id == "s1"


def test_a_last_line_that_is_longer_than_the_look_gives_the_files_own_time(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(line() + line("x" * 2 * EXAMINED_BYTES, uuid="u2"))
    os.utime(file, (1_750_000_000, 1_750_000_000))
    assert examine_file(file).last == 1_750_000_000.0


def test_an_agents_file_names_its_session(tmp_path: Path) -> None:
    file = tmp_path / "agent-7.jsonl"
    file.write_text(line(isSidechain=True, agentId="7"))
    assert (examine_file(file).sort, examine_file(file).session_id) == (Sort.AGENT, "s1")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.jsonl", "", "it is empty"),
        ("a.jsonl", "{}\n", "contains no record"),
        ("a.jsonl", "<html>", "markup"),
        ("a.jsonl", '{"type": "summary", "leafUuid": "x"}\n', "it names no session"),
        ("a.txt", "words", "neither a transcript"),
        ("a.md", "x" * 1_100_000, "more than 1 MB"),
    ],
)
def test_skipped_files_have_a_reason(tmp_path: Path, name: str, content: str, reason: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    found = examine_file(file)
    assert found.sort is Sort.FOREIGN
    assert reason in found.reason
    assert str(tmp_path) not in found.reason


def test_missing_and_odd_files_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert "does not exist" in examine_file(tmp_path / "none.jsonl").reason
    assert "regular" in examine_file(tmp_path / "pipe.jsonl").reason
    assert "regular" in examine_file(tmp_path).reason
    assert examine_file(Path("a\0b.jsonl")).sort is Sort.FOREIGN


@given(st.binary(max_size=2000))
def test_no_bytes_do_harm(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("odd") / "a.jsonl"
    file.write_bytes(content)
    assert examine_file(file).sort in Sort


def test_each_file_is_listed_once_and_foreign_folders_are_skipped(tmp_path: Path) -> None:
    for place in (
        "a.jsonl",
        "docs/adr/1.md",
        "node_modules/x/README.md",
        ".claude/projects/p/memory/MEMORY.md",
        "x.py",
    ):
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    found = [str(path.relative_to(tmp_path)) for path in files_below([str(tmp_path), str(tmp_path / "a.jsonl")])]
    assert found == ["a.jsonl", "docs/adr/1.md"]


def test_the_root_of_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "shop"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert root_of(str(repository)) == str(repository)
    assert root_of(str(repository / "gone" / "inner")) == str(repository)
    assert root_of(str(tmp_path / "gone")) == str(tmp_path / "gone")
    assert root_of(str(tmp_path / "gone" / ".claude" / "worktrees" / "fix")) == str(tmp_path / "gone")
    monkeypatch.setenv("HOME", str(repository))
    assert root_of(str(repository / "gone")) == str(repository / "gone")
