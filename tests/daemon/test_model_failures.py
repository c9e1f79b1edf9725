"""Whatever keeps a model from answering: nothing is lost, `status` says why in a line, and work goes on offline."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import time
from typing import Any

import pytest

from bench.sessions import Speaker
from cli.__main__ import main
from subconscious import wire
from subconscious.settings.home import Home
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.fake_openai import FakeOpenAI
from tests.support.refining import HINTED, PATIENCE, captured, of_model, sees, waits

RULE = "From now on all amounts are stored as integer cents, never as floats."
OVER = int(time()) + 5 * 86_400
"""When a weekly limit may be over."""

NOT_LOGGED_IN = {"type": "result", "is_error": True, "result": "Not logged in · Please run /login"}
REACHED = {"type": "result", "is_error": True, "result": f"Claude AI usage limit reached|{OVER}"}
NEAR = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "resetsAt": OVER}}
ANSWER = {"type": "result", "is_error": False, "structured_output": {"candidates": []}, "total_cost_usd": 0.0}

Shown = Callable[[], str]


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(sees(HINTED)) as model:
        yield model


@pytest.fixture
def shown(stopped: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """What `subconscious status` prints, in one line."""
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(stopped.root))

    def shown() -> str:
        capsys.readouterr()
        assert main(["status"]) == 0
        return " ".join(capsys.readouterr().out.split())

    return shown


@pytest.fixture
def claude(stopped: Home, tmp_path: Path) -> Path:
    """Claude Code as the provider: a small program that prints what stands in a file; the file."""
    said, program = tmp_path / "said.json", tmp_path / "claude"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.read()\nprint(open({str(said)!r}).read())\n")
    program.chmod(0o700)
    configure(stopped, provider='"claude_code"', claude_code_command=f'"{program}"', **QUICK)
    return said


QUICK: dict[str, Any] = {"provider_attempts": 1, "breaker_seconds": 0.2, "refine_pause_seconds": 0.2}


def lived(home: Home, folder: Path) -> Speaker:
    """A session that is over."""
    wire.ensure_daemon(home)
    talker = new_session(home, folder / "project")
    for words in (RULE, HINTED):
        talker.say(words)
    talker.hook("drop", "SessionEnd", reason="other")
    drained(home)
    return talker


def offline(home: Home) -> bool:
    """Whether the user's rule was found without a model."""
    return any("integer cents" in one["content"] and one["status"] == "captured" for one in captured(home))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "answered 429; the request is retried"),
        (529, "answered 529; the request is retried"),
        (500, "answered 500; the request is retried"),
        (401, "the key is refused; check the key"),
        (402, "no credit left; add credit"),
        (403, "the key is refused; check the key"),
    ],
)
def test_a_server_that_refuses_loses_nothing(
    stopped: Home, model: FakeOpenAI, tmp_path: Path, shown: Shown, status: int, words: str
) -> None:
    configure(stopped, **model.config)
    model.status = status
    lived(stopped, tmp_path)
    assert eventually(lambda: bool(waits(stopped)["reason"]), PATIENCE)
    assert (offline(stopped), waits(stopped)["due"]) == (True, 1)
    assert words in shown()
    assert waits(stopped)["reason"] in shown()


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ("refused", "refused to answer"),
        ("truncated", "cut off at the output token limit"),
        ("nonsense", "contains no JSON object"),
    ],
)
def test_an_answer_that_is_none_leaves_the_session_as_it_was_found_offline(
    stopped: Home, model: FakeOpenAI, tmp_path: Path, shown: Shown, ends: str, words: str
) -> None:
    configure(stopped, **{**model.config, "refine_pause_seconds": 0.05})
    model.ends_answers = ends
    lived(stopped, tmp_path)
    assert eventually(lambda: waits(stopped)["due"] == 0 and bool(model.bodies), PATIENCE)
    assert offline(stopped)
    assert words in shown()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([REACHED], "usage limit of this Claude account is reached"),
        ([NOT_LOGGED_IN], "Claude Code has no login"),
    ],
)
def test_a_subscription_that_cannot_be_asked_makes_it_wait(
    stopped: Home, claude: Path, tmp_path: Path, shown: Shown, said: list[dict[str, Any]], why: str
) -> None:
    claude.write_text(json.dumps(said))
    lived(stopped, tmp_path)
    assert eventually(lambda: why in waits(stopped)["reason"], PATIENCE)
    assert (offline(stopped), waits(stopped)["due"]) == (True, 1)
    assert why in shown()


def test_a_limit_that_is_near_pauses_behind_the_answer(
    stopped: Home, claude: Path, tmp_path: Path, shown: Shown
) -> None:
    claude.write_text(json.dumps([NEAR, ANSWER]))
    lived(stopped, tmp_path)
    assert eventually(lambda: "is near" in waits(stopped)["looks_wait"], PATIENCE)
    assert (waits(stopped)["due"], waits(stopped)["looks"]) == (0, 1)
    assert "the usage limit of this Claude account is nearly reached" in shown()
    assert "of 150,000 tokens for Claude Code" in shown()


def test_a_client_that_is_not_there_makes_it_wait(stopped: Home, tmp_path: Path, shown: Shown) -> None:
    configure(stopped, provider='"claude_code"', claude_code_command=f'"{tmp_path / "gone"}"', **QUICK)
    lived(stopped, tmp_path)
    assert eventually(lambda: "Claude Code isn't found" in waits(stopped)["reason"], PATIENCE)
    assert (offline(stopped), waits(stopped)["due"]) == (True, 1)
    assert "Claude Code isn't found on this machine" in shown()


def test_the_cap_of_tokens_is_shown_in_one_line(stopped: Home, claude: Path, tmp_path: Path, shown: Shown) -> None:
    with (stopped.root / "config.toml").open("a") as config:
        config.write("claude_code_tokens_per_day = 100\n")
    lived(stopped, tmp_path)
    assert eventually(lambda: "tokens a day for Claude Code is reached" in waits(stopped)["reason"], PATIENCE)
    assert "the cap of 100 tokens a day for Claude Code is reached" in shown()
    assert not claude.exists()


def test_what_waited_is_read_when_the_server_answers_again(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    configure(stopped, **model.config)
    model.status = 529
    lived(stopped, tmp_path)
    assert eventually(lambda: bool(waits(stopped)["reason"]), PATIENCE)
    model.status = 200
    assert eventually(lambda: [one["content"] for one in of_model(stopped)] == [HINTED], PATIENCE)
    assert (waits(stopped)["reason"], waits(stopped)["looks_wait"]) == ("", "")
