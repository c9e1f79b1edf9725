from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep

import pytest

from cli import demo
from cli.demo import Stage, hook_commands


@pytest.mark.parametrize(
    ("payload", "scripts"),
    [
        ({"hook_event_name": "SessionStart", "source": "startup"}, ["wake", "ask"]),
        ({"hook_event_name": "UserPromptSubmit", "prompt": "x"}, ["ask"]),
        ({"hook_event_name": "PostToolUse", "tool_name": "Edit"}, ["ask"]),
        ({"hook_event_name": "PostToolUse", "tool_name": "Bash"}, []),
        ({"hook_event_name": "Stop"}, ["drop"]),
        ({"hook_event_name": "Unheard"}, []),
    ],
)
def test_hooks_run_as_they_are_wired(payload: dict[str, str], scripts: list[str]) -> None:
    commands = hook_commands(payload)
    assert [command[2] for command in commands] == scripts
    assert all(Path(command[1]).is_file() for command in commands)


def test_the_plugins_own_hooks_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = demo.plugin_root()
    monkeypatch.setenv("SUBCONSCIOUS_PLUGIN_ROOT", str(tmp_path))
    assert demo.plugin_root() == own
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "hooks.json").touch()
    assert demo.plugin_root() == tmp_path


def test_a_pause_does_not_silence_the_demonstration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_OFF", "1")
    environment = Stage(tmp_path).environment
    assert "SUBCONSCIOUS_OFF" not in environment
    assert environment["SUBCONSCIOUS_HOME"].startswith(str(tmp_path))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where demonstrations put their folders, and a home that they must leave alone."""
    for name, folder in (("TMPDIR", "tmp"), ("HOME", "home")):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("SUBCONSCIOUS_HOME", raising=False)
    return tmp_path


def _demo() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "cli", "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _left(place: Path) -> list[Path]:
    return [*(place / "tmp").iterdir(), *(place / "home").iterdir()]


@pytest.mark.serial
@pytest.mark.slow
def test_the_demonstration_plays_and_leaves_nothing(place: Path) -> None:
    began = monotonic()
    out, err = _demo().communicate(timeout=50)
    assert err == ""
    for told in (
        "integer cents",
        "Waits for your review",
        "Discarded",
        "the key and the <private> words were not stored",
        "<subconscious-memory>",
        "claude plugin install subconscious@subconscious",
    ):
        assert told in out
    assert "AKIA" not in out.partition("Stored without asking")[2]
    assert monotonic() - began < 30
    assert _left(place) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demonstration_leaves_nothing(place: Path, number: signal.Signals) -> None:
    playing = _demo()
    while not list((place / "tmp").glob("*/state/run/daemon.sock")):
        assert playing.poll() is None
        sleep(0.02)
    os.kill(playing.pid, number)
    _, err = playing.communicate(timeout=50)
    assert (playing.returncode, err) == (130, "")
    assert _left(place) == []
