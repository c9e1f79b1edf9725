"""`subconscious export` and `subconscious import DIR` as a person runs them, against a real daemon."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from pathlib import Path

import pytest

from cli.__main__ import main
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import eventually

RULE = "Always run the linter before every commit."


@pytest.fixture
def project(running: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(running.root))
    monkeypatch.setattr("cli.origin.inside_client", lambda: False)
    terminal.call(running, "remember", text=RULE, cwd=str(folder))
    return folder


def listed(home: Home, folder: Path) -> list[tuple[str, str]]:
    found = wire.call(home, "list", {"cwd": str(folder)})["memories"]
    return [(memory["content"], memory["origin"]) for memory in found]


def run(home: Home, folder: Path, *words: str, answers: str = "") -> str:
    """Run a command in a terminal and answer its questions."""
    command = [sys.executable, "-m", "cli", *words]
    with terminal.Terminal(command, terminal.environment(home), folder) as shown:
        for answer in answers:
            shown.await_text("[y/N]")
            shown.press(f"{answer}\r")
        assert shown.end() == 0, shown.shown
        return shown.shown


def test_export_purge_import(running: Home, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "vault"
    before = listed(running, project)
    assert main(["export", "--out", str(out)]) == 0
    assert "1 memory in " in capsys.readouterr().out
    terminal.call(running, "purge", all=True, everywhere=True)
    assert listed(running, project) == []
    shown = run(running, project, "import", str(out), answers="y")
    assert "1 note to restore, with origin, confidence and status" in shown
    assert RULE in shown
    assert "vouch" not in shown
    assert listed(running, project) == before == [(RULE, "user")]
    assert "There is nothing to import." in run(running, project, "import", str(out))


def test_an_export_of_another_store_is_restored_in_its_own_project(
    running: Home, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, other, same = tmp_path / "vault", tmp_path / "other", tmp_path / "clone" / "project"
    for folder in (other, same):
        folder.mkdir(parents=True)
    ended = "Deploys are frozen until the audit."
    terminal.call(running, "remember", text=ended, cwd=str(project))
    (old,) = [one for one in wire.call(running, "list", {"cwd": str(project)})["memories"] if one["content"] == ended]
    terminal.call(running, "archive", ids=[old["id"]], cwd=str(project))
    assert main(["export", "--out", str(out)]) == 0
    terminal.call(running, "purge", all=True, everywhere=True)
    (running.root / "export.key").unlink()
    shown = " ".join(run(running, other, "import", str(out)).split())
    assert f"2 notes of other projects left out (project). To import them: `subconscious import {out}` in" in shown
    assert "There is nothing to import." in shown
    assert listed(running, other) == []
    shown = " ".join(run(running, same, "import", str(out), answers="yy").split())
    assert "2 notes from another store's export" in shown
    assert "restored 2" in shown
    assert listed(running, same) == [(RULE, "user")]
    assert "There is nothing to import." in run(running, same, "import", str(out))
    terminal.call(running, "purge", all=True, everywhere=True)
    shown = " ".join(run(running, same, "import", str(out), answers="yn").split())
    assert "waits 1 left out 1" in shown
    assert "1 archived memory left out: to import it" in shown
    assert listed(running, same) == []


def test_an_import_is_undone_with_its_links(running: Home, project: Path, tmp_path: Path) -> None:
    out = tmp_path / "vault"
    old, new = "We deploy from main.", "Never deploy from main, only from release branches."
    for text in (old, new):
        terminal.call(running, "remember", text=text, cwd=str(project))
    found = {one["content"]: one["id"] for one in wire.call(running, "list", {"cwd": str(project)})["memories"]}
    terminal.call(running, "correct", id=found[old], way="superseded", other=found[new], cwd=str(project))
    assert main(["export", "--out", str(out)]) == 0
    terminal.call(running, "purge", all=True, everywhere=True)
    (running.root / "export.key").unlink()
    shown = " ".join(run(running, project, "import", str(out), answers="yy").split())
    assert "restored 3" in shown
    (command,) = re.findall(r"To undo this import: subconscious (undo --event \d+)", shown)
    run(running, project, *command.split(), answers="y")
    assert listed(running, project) == []
    run(running, project, "undo", answers="y")
    assert {text for text, _ in listed(running, project)} == {RULE, old, new}


def test_an_edited_note_is_shown_and_corrects_its_memory(running: Home, project: Path, tmp_path: Path) -> None:
    out = tmp_path / "vault"
    assert main(["export", "--out", str(out)]) == 0
    (note,) = (out / "memories").iterdir()
    edited = "Always run the linter and the tests before every commit."
    note.write_text(note.read_text().replace(f"\n{RULE}\n", f"\n{edited}\n", 1))
    (out / "link.md").symlink_to(note)
    shown = run(running, project, "import", str(out), answers="yy")
    assert "1 note edited since the export" in shown
    assert f"- {RULE}" in shown
    assert f"+ {edited}" in shown
    assert "link.md: it is a symbolic link" in shown
    assert listed(running, project) == [(edited, "user")]


def test_edited_tags_are_shown_and_changed(running: Home, project: Path, tmp_path: Path) -> None:
    out = tmp_path / "vault"
    assert main(["export", "--out", str(out)]) == 0
    (note,) = (out / "memories").iterdir()
    note.write_text(
        note.read_text().replace("tags: []", 'tags: ["linting"]').replace("\nbranch: ", "\nmine: 1\nbranch: ", 1)
    )
    shown = run(running, project, "import", str(out), answers="yy")
    assert "1 note edited since the export" in shown
    assert "becomes linting" in shown
    assert "Copies of the edited notes" in shown
    (copy,) = (out / ".edits").iterdir()
    assert "\nmine: 1\n" in copy.read_text()
    assert main(["export", "--out", str(out)]) == 0
    assert "linting" in note.read_text()
    assert "\nmine: 1\n" not in note.read_text()


def test_a_no_changes_nothing(running: Home, project: Path, tmp_path: Path) -> None:
    out = tmp_path / "vault"
    assert main(["export", "--out", str(out)]) == 0
    (out / "mine.md").write_text("The build needs Java 21.\n")
    assert "Nothing was imported." in run(running, project, "import", str(out), answers="n")
    assert wire.call(running, "captures")["captures"][1:] == []
    shown = run(running, project, "import", str(out), answers="yn")
    assert "waits" in shown
    assert [row["origin"] for row in wire.call(running, "captures", {"status": "review"})["captures"]] == ["tool"]


def test_memories_of_another_tool_wait_for_review(
    running: Home, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mem0.json"
    memories = [{"id": "1", "memory": "Prefers tabs over spaces", "metadata": {"type": "preference"}}, {"id": "2"}]
    file.write_text(json.dumps({"results": memories}))
    assert main(["import", "--from", "mem0", str(file), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["notes"]
    assert [(row["state"], row["reason"]) for row in rows] == [("new", ""), ("refused", "it has no text")]
    shown = run(running, project, "import", "--from", "mem0", str(file), answers="y")
    assert "vouch" not in shown
    assert "mem0 memory 2: it has no text" in shown
    (capture,) = wire.call(running, "captures", {"status": "review"})["captures"]
    assert (capture["content"], capture["kind"], capture["origin"]) == (
        "Prefers tabs over spaces",
        "preference",
        "tool",
    )
    assert listed(running, project) == [(RULE, "user")]
    assert "1 note imported before" in run(running, project, "import", "--from", "mem0", str(file))


def test_a_tools_path_that_is_not_there_is_an_error(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for tool in ("claude-mem", "mem0", "basic-memory", "claude-notes"):
        assert main(["import", "--from", tool]) == 1
        assert "give " in capsys.readouterr().err


def test_the_key_is_not_in_the_export(running: Home, project: Path, tmp_path: Path) -> None:
    assert main(["export", "--out", str(tmp_path / "vault"), "--format", "json", "--all", "--json"]) == 0
    key = (running.root / "export.key").read_bytes()
    text = (tmp_path / "vault" / "memories.json").read_bytes()
    assert key not in text
    assert key.hex().encode() not in text
    assert sqlite3.connect(running.database).execute("SELECT count(*) FROM memories").fetchone() == (1,)


def note_of(out: Path, text: str) -> Path:
    (found,) = [path for path in (out / "memories").iterdir() if f"\n{text}\n" in path.read_text()]
    return found


def edit(note: Path, old: str, new: str) -> None:
    note.write_text(note.read_text().replace(f"\n{old}\n", f"\n{new}\n", 1))


def test_a_watched_folder_follows_the_store_and_asks_about_edits(running: Home, project: Path, tmp_path: Path) -> None:
    out = tmp_path / "vault"
    other, edited, refused = (
        "Amounts are integer cents.",
        "Amounts are integer tenths of a cent.",
        "Amounts are floats.",
    )
    command = [sys.executable, "-m", "cli", "export", "--watch", "--out", str(out)]
    with terminal.Terminal(command, terminal.environment(running), project) as shown:
        shown.await_text("Watching")
        terminal.call(running, "remember", text=other, cwd=str(project))
        shown.await_text("written")
        edit(note_of(out, other), other, edited)
        for answer in "yy":
            shown.await_text("[y/N]")
            shown.press(f"{answer}\r")
        shown.await_text("corrected")
        shown.await_text("written")
        assert eventually(lambda: len(listed(running, project)) == 2)
        assert (edited, "user") in listed(running, project)
        old, new = note_of(out, other), note_of(out, edited)
        assert 'status: "archived"' in old.read_text()
        edit(new, edited, refused)
        shown.await_text("[y/N]")
        shown.press("n\r")
        shown.await_text("Nothing was imported.")
        shown.press("\x03")
        shown.end()
    assert f"\n{refused}\n" in new.read_text()
    assert (edited, "user") in listed(running, project)
