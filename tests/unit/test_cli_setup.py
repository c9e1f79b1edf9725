"""Choosing a model as a person meets it: each step can be skipped, and only the last one switches anything on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli import origin
from cli.__main__ import main
from subconscious.domain.errors import RequestError
from subconscious.settings.home import Home
from subconscious.settings.provider_table import provider_row
from tests.support.cli_answers import ANSWERS
from tests.support.stub_daemon import StubDaemon, answering

FREE = {"cost": None, "lacks_key": False, "found": True}
OFFERS = [
    {
        **FREE,
        "provider": "anthropic",
        "about": provider_row("anthropic").about,
        "model": "m-1",
        "cost": 0.0125,
        "lacks_key": True,
    },
    {**FREE, "provider": "openai", "about": provider_row("openai").about, "model": "m-2"},
    {**FREE, "provider": "ollama", "about": provider_row("ollama").about, "model": "m-3", "cost": 0.0},
    {**FREE, "provider": "claude_code", "about": provider_row("claude_code").about, "model": "haiku"},
]
PLAN: dict[str, Any] = {
    "sessions": 7,
    "measured": True,
    "median": 7100,
    "most": 29_000,
    "provider": "none",
    "tokens_per_day": 150_000,
    "cost_per_day": 10.0,
    "offers": OFFERS,
}
TRIED = {
    "session": "Round the rents",
    "tokens": 900,
    "found": [{"content": "Amounts are integer cents.", "kind": "decision", "origin": "user"}],
    "error": "",
    "remedy": "",
}
BROKEN = {"session": "", "found": [], "error": "Claude Code has no login", "remedy": "run /login"}


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubDaemon]:
    answers: dict[str, Any] = dict(ANSWERS)
    answers["status"] = ANSWERS["status"] | {"settings": {"surface": True, "start_tokens": 600}}
    answers["pull"] = {"folder": str(tmp_path / "rendered"), "files": []}
    answers |= {"setup_plan": PLAN, "setup_try": TRIED, "setup_accept": {"changed": {"provider": ["none", "x"]}}}
    with answering(Home(tmp_path), monkeypatch, answers, columns=100) as stub:
        yield stub


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a person types, one line a question."""
    lines: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: lines.pop(0))
    return lines


def asked(daemon: StubDaemon) -> list[str]:
    return [request.cmd for request in daemon.requests if request.cmd.startswith("setup_")]


def config(tmp_path: Path) -> str:
    file = tmp_path / "config.toml"
    return file.read_text() if file.exists() else ""


def test_it_shows_what_is_sent_and_what_it_costs(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "--show"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "7,100 tokens (median), 29,000 for a long one (95th percentile), measured on the last 7 sessions here" in shown
    )
    assert "m-1, $0.0125 a session" in shown
    assert "150,000 tokens a day for Claude Code" in shown
    assert "Secrets and <private> passages are removed first" in shown
    assert asked(daemon) == ["setup_plan"]


def test_a_person_chooses_tries_and_switches_on(
    daemon: StubDaemon, typed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed += ["n", "claude_code", "y", "y", ""]
    assert main(["setup"]) == 0
    assert asked(daemon) == ["setup_plan", "setup_try", "setup_accept"]
    assert config(tmp_path) == 'provider = "claude_code"\n'
    assert "Amounts are integer cents." in capsys.readouterr().out


@pytest.mark.parametrize(
    "lines", [["s"], [""], ["claude_code", "y", "n"], ["claude_code", "n", "n"], ["ollama", "n", ""]]
)
def test_each_step_can_be_skipped(daemon: StubDaemon, typed: list[str], tmp_path: Path, lines: list[str]) -> None:
    typed += ["", *lines, ""]
    assert main(["setup"]) == 0
    assert (config(tmp_path), "setup_accept" in asked(daemon), typed) == ("", False, [])
    assert "import_file" not in [request.cmd for request in daemon.requests]


def test_the_first_step_imports_and_the_last_switches_memories_off(
    daemon: StubDaemon, typed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "rendered"
    place.mkdir()
    given = {"hookSpecificOutput": {"additionalContext": "[7] Amounts are integer cents.\n- As of today: a copy."}}
    (place / "start").write_text(f"7\n{json.dumps(given)}")
    daemon.answers |= {"pull": {"folder": str(place), "files": ["start"]}, "stop": {"stopping": True}}
    typed += ["y", "s", "n"]
    assert main(["setup"]) == 0
    shown = capsys.readouterr().out
    assert [title in shown for title in ("1 of 3  Past sessions", "2 of 3  A model", "3 of 3  What a")] == [True] * 3
    assert "  [7] Amounts are integer cents." in shown
    assert "As of" not in shown
    assert "import_file" in [request.cmd for request in daemon.requests]
    assert (config(tmp_path), daemon.requests[-1].cmd) == ("surface = false\n", "stop")


def test_a_step_that_fails_does_not_end_the_others(
    daemon: StubDaemon, typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answers["import_plan"] = RequestError("nothing can be read", "look there")
    typed += ["nobody", ""]
    assert main(["setup"]) == 1
    shown = capsys.readouterr().out
    assert "nothing can be read\n  look there" in shown
    assert "there is no provider 'nobody'" in shown
    assert "3 of 3" in shown


def test_a_script_names_it_and_is_asked_nothing(daemon: StubDaemon, tmp_path: Path) -> None:
    assert main(["setup", "--yes", "--provider", "claude_code"]) == 0
    assert asked(daemon) == ["setup_plan", "setup_try", "setup_accept"]
    assert config(tmp_path) == 'provider = "claude_code"\n'
    assert main(["setup", "--yes", "--provider", "none"]) == 0
    assert config(tmp_path) == 'provider = "none"\n'


@pytest.mark.parametrize(
    "arguments", [["--yes"], ["--yes", "--provider", "nobody"], ["--yes", "--provider", "anthropic"]]
)
def test_a_script_that_names_nothing_that_works_changes_nothing(
    daemon: StubDaemon, tmp_path: Path, arguments: list[str]
) -> None:
    assert main(["setup", *arguments]) == 1
    assert (config(tmp_path), asked(daemon)) == ("", ["setup_plan"])


def test_a_trial_that_fails_switches_nothing_on(
    daemon: StubDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answers["setup_try"] = BROKEN
    assert main(["setup", "--yes", "--provider", "claude_code"]) == 1
    assert config(tmp_path) == ""
    assert "Claude Code has no login" in capsys.readouterr().out


def test_a_key_is_typed_unseen_and_kept_in_the_file(
    daemon: StubDaemon, typed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.setup.getpass", lambda _: "dummy-key")
    typed += ["n", "anthropic", "y", "y", ""]
    assert main(["setup"]) == 0
    assert config(tmp_path) == 'anthropic_key = "dummy-key"\nprovider = "anthropic"\n'


def test_the_model_may_look_and_not_decide(
    daemon: StubDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    assert main(["setup", "--show"]) == 0
    assert main(["setup", "--yes", "--provider", "claude_code"]) == 1
    assert "only a person may" in capsys.readouterr().err
    assert (config(tmp_path), set(asked(daemon))) == ("", {"setup_plan"})
