"""What the terminal shows of what a project knows."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from cli import screen
from cli.__main__ import main
from subconscious.settings.home import Home
from tests.support.cli_answers import STANDING
from tests.support.stub_daemon import StubDaemon
from tests.support.values import NOON, make_memory

MEMORY = asdict(make_memory()) | {"id": 12, "standing": STANDING}
SESSION = {
    "id": "abc",
    "title": "Cents",
    "first_prompt": "",
    "summary": "Amounts became\x1b[2J cents.",
    "left_open": "rounding",
    "tags": ["money"],
    "last_event_at": NOON,
}
FRICTION = {
    "kind": "blocker",
    "content": "The lock file is stale.",
    "origin": "tool",
    "times": 4,
    "sessions": [{"id": "abc", "at": NOON}] * 3,
}
DIGESTS: dict[str, dict[str, Any]] = {
    "summarize": {"session": SESSION},
    "tag": {"tags": [{"tag": "money", "memories": 2, "sessions": 1}]},
    "patterns": {"patterns": [MEMORY], "friction": [FRICTION]},
    "synthesize": {"text": "# What is known: demo", "promoted": 1, "observed": 0},
}
SAID = {
    ("promote",): ("promoted, score 7.3 of", "10 (the mean of", "1 promoted, 2 observed", "estimated", "/kept/p1"),
    ("promote", "--preview"): ("Amounts are integer cents.", "score 7.3 of"),
    ("pull",): ("/kept/p1", "knowledge.md"),
    ("memory", "summarize"): ("Cents", "rounding", "money"),
    ("memory", "tag"): ("money", "2 memories, 1 session"),
    ("memory", "patterns"): ("The lock file is stale.", "proposed as patterns", "Amounts are integer cents."),
    ("memory", "synthesize"): ("# What is known: demo",),
}


@pytest.mark.parametrize("words", SAID, ids=" ".join)
def test_it_is_said_in_words_and_in_json(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    mode = words[-1]
    replies = {
        "standings": {"memories": [MEMORY], "counts": {"promoted": 1, "observed": 2}},
        "pull": {"folder": "/kept/p1", "files": ["knowledge.md"]},
        "digest": {"mode": mode} | DIGESTS.get(mode, {}),
    }
    with StubDaemon(home, replies) as daemon:
        assert main(words) == 0
        shown = capsys.readouterr().out
        assert all(said in shown for said in SAID[words]), shown
        assert "\x1b" not in shown
        assert main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)
        pulled = [request for request in daemon.requests if request.cmd == "pull"]
        assert bool(pulled) is (words in {("promote",), ("pull",)})


def test_without_a_mode_it_says_which_it_chose(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    with StubDaemon(home, {"digest": {"mode": "tag", "tags": []}}) as daemon:
        assert main(["memory"]) == 0
        assert "subconscious memory tag" in capsys.readouterr().out
        assert all("mode" not in request.args for request in daemon.requests if request.cmd == "digest")


@pytest.mark.parametrize(
    ("first", "indent", "expected"),
    [
        ("   - ", 5, "   - words"),
        (" 123456", 6, " 123456\n      words"),
        ("  12", 6, "  12  words"),
    ],
)
def test_a_label_shares_the_line_with_its_text_unless_it_is_too_long(first: str, indent: int, expected: str) -> None:
    assert screen.wrapped("words", indent, first) == expected
