"""Uninstalling: the daemon stops, what is ours goes, the memories go or stay as a person says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from subconscious.wire import AbsentError
from tests.support import terminal
from tests.support.deciding import DECISION, decide

COMMAND = [sys.executable, "-m", "cli", "uninstall"]


def furnish(home: Home, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """What an installation leaves: the launcher, a link to it on the PATH, a file that is not ours."""
    (home.root / "bin").mkdir()
    (home.root / "bin" / "subconscious").write_text("#!/bin/sh\n")
    path = tmp_path / "path"
    path.mkdir()
    link = path / "subconscious"
    link.symlink_to(home.root / "bin" / "subconscious")
    (home.root / "mine.txt").write_text("mine")
    environment = terminal.environment(home)
    return link, environment | {"PATH": f"{path}:{environment['PATH']}"}


def uninstall(environment: dict[str, str], folder: Path, *words: str, keys: str = "") -> tuple[int, str]:
    with terminal.Terminal([*COMMAND, *words], environment, folder) as window:
        if keys:
            window.await_text("removes nothing:")
            window.press(keys)
        return window.end(), window.shown


@pytest.mark.parametrize(("words", "keys"), [(["--keep-memories"], ""), ([], "keep\n")])
def test_the_memories_stay_if_wanted(
    running: Home, speaker: Speaker, tmp_path: Path, words: list[str], keys: str
) -> None:
    decide(running, speaker)
    link, environment = furnish(running, tmp_path)
    code, told = uninstall(environment, speaker.project, *words, keys=keys)
    assert code == 0, told
    assert "claude plugin marketplace remove subconscious" in told
    assert not link.is_symlink()
    left = {path.name for path in running.root.iterdir()}
    assert {"memory.db", "config.toml", "mine.txt"} <= left
    assert not left & {"bin", "env", "log", "run", "spool"}
    wire.ensure_daemon(running)
    found = wire.call(running, "list", {"cwd": str(speaker.project)})["memories"]
    assert [memory["content"] for memory in found] == [DECISION]


def test_everything_of_ours_goes_and_nothing_else(running: Home, speaker: Speaker, tmp_path: Path) -> None:
    decide(running, speaker)
    _, environment = furnish(running, tmp_path)
    wire.call(running, "export", {"everywhere": True})
    assert (running.root / "export.key").is_file()
    code, told = uninstall(environment, speaker.project, "--all")
    assert (code, "Kept: mine.txt" in told) == (0, True), told
    assert [path.name for path in running.root.iterdir()] == ["mine.txt"]
    with pytest.raises(AbsentError):
        wire.hello(running)


def test_typing_yes_deletes_the_memories(running: Home, speaker: Speaker, tmp_path: Path) -> None:
    decide(running, speaker)
    _, environment = furnish(running, tmp_path)
    code, told = uninstall(environment, speaker.project, keys="yes\n")
    assert code == 0, told
    assert [path.name for path in running.root.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("keys", ["\n", "d\n", "y\n"])
def test_without_a_clear_word_nothing_is_removed(running: Home, speaker: Speaker, tmp_path: Path, keys: str) -> None:
    _, environment = furnish(running, tmp_path)
    code, told = uninstall(environment, speaker.project, keys=keys)
    assert (code, "Nothing was removed." in told) == (1, True), told
    assert running.database.exists()
    assert wire.hello(running)
