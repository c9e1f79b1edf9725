"""Uninstalling: the daemon stops, what is ours goes, the memories go or stay as a person says."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from bench import tuned_daemon
from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from subconscious.store.team.address import PASSWORD_FILE
from subconscious.wire import AbsentError
from tests.support import terminal
from tests.support.daemons import processes_of
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
            window.await_text("[N]othing:")
            window.press(keys)
        return window.end(), window.shown


@pytest.mark.parametrize(("words", "keys"), [(["--keep-memories"], ""), ([], "k\n")])
def test_the_memories_stay_if_wanted(
    running: Home, speaker: Speaker, tmp_path: Path, words: list[str], keys: str
) -> None:
    decide(running, speaker)
    link, environment = furnish(running, tmp_path)
    code, told = uninstall(environment, speaker.project, *words, keys=keys)
    assert code == 0, told
    assert "claude plugin uninstall" in told
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


def test_without_a_clear_word_nothing_is_removed(running: Home, speaker: Speaker, tmp_path: Path) -> None:
    _, environment = furnish(running, tmp_path)
    code, told = uninstall(environment, speaker.project, keys="\n")
    assert (code, "Nothing was removed." in told) == (1, True), told
    assert running.database.exists()
    assert wire.hello(running)


@pytest.mark.process
def test_a_daemon_that_hangs_is_killed(stopped: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "daemon_command", tuned_daemon._shipped_command)
    wire.ensure_daemon(stopped)
    (process,) = processes_of(stopped)
    os.kill(process, signal.SIGSTOP)
    code, told = uninstall(terminal.environment(stopped), tmp_path, "--all")
    assert (code, f"killed (pid {process})" in told) == (0, True), told
    assert not processes_of(stopped)
    assert not stopped.root.exists()


@pytest.mark.process
def test_nothing_is_removed_under_a_daemon_that_can_t_be_stopped(running: Home, tmp_path: Path) -> None:
    (process,) = processes_of(running)  # the command of a test's daemon is not known as one
    os.kill(process, signal.SIGSTOP)
    code, told = uninstall(terminal.environment(running), tmp_path, "--all")
    assert (code, "nothing was removed" in told) == (1, True), told
    assert running.database.exists()


def test_the_team_s_password_goes_and_stays_with_the_settings(running: Home, tmp_path: Path) -> None:
    password = running.root / PASSWORD_FILE
    password.write_text("secret")
    assert uninstall(terminal.environment(running), tmp_path, "--keep-memories")[0] == 0
    assert password.exists()
    assert uninstall(terminal.environment(running), tmp_path, "--all")[0] == 0
    assert not running.root.exists()
