"""The price tag of an import as a person meets it, and the sum that they hold it to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli import price
from cli.__main__ import main
from subconscious.settings.home import Home
from tests.support.cli_answers import ANSWERS, FILE
from tests.support.stub_daemon import StubDaemon, answering

OFFERS = [
    {"provider": "anthropic", "model": "m-1", "configured": True, "cost": 1.5, "batch": 0.75, "most": 4.0},
    {"provider": "openai", "model": "m-2", "configured": False, "cost": 0.002, "batch": 0.001, "most": 0.02},
    {"provider": "ollama", "model": "m-3", "configured": False, "cost": 0.0, "batch": None, "most": 0.0},
    {"provider": "claude_code", "model": "m-4", "configured": False, "cost": None, "batch": None, "most": None},
]
TAGS: dict[str, Any] = {
    "sessions": 3,
    "calls": 40,
    "tokens": 1_234_567,
    "estimated": False,
    "cost_per_day": 10.0,
    "offers": OFFERS,
}
SESSIONS: list[Any] = [
    FILE | {"path": f"/t/{name}.jsonl", "last": last, "model": {"calls": 2, "tokens": 9, "most": most}}
    for name, last, most in (("old", 1.0, 1.0), ("big", 2.0, 3.0), ("new", 3.0, 1.5))
]


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubDaemon]:
    answers = dict(ANSWERS)
    answers["import_plan"] = {"files": SESSIONS, "model": TAGS}
    answers["import_read"] = {"calls": 2, "tokens": 9, "reason": ""}
    with answering(Home(tmp_path), monkeypatch, answers, columns=100) as stub:
        yield stub


def handed(daemon: StubDaemon) -> list[str]:
    return [request.args["transcript"] for request in daemon.requests if request.cmd == "import_read"]


def test_what_a_model_would_cost_is_shown_and_none_is_asked(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "--yes"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "costs nothing" in shown
    assert "3 sessions, 1235k tokens in 40 calls" in shown
    assert "anthropic m-1 $1.50, $0.75 as a batch (answered within a day); at most $4.00" in shown
    assert "openai m-2 less than $0.01" in shown
    assert "ollama m-3 $0, it runs on your machine (not set up)" in shown
    assert "claude_code m-4 price unknown (not set up)" in shown
    assert "--with-model" in shown
    assert handed(daemon) == []


def test_with_a_model_every_session_is_handed_over_after_it_was_imported(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "--yes", "--with-model"]) == 0
    assert handed(daemon) == ["/t/new.jsonl", "/t/big.jsonl", "/t/old.jsonl"]
    assert [request.cmd for request in daemon.requests].index("import_read") > 3
    assert daemon.requests[0].args["with_model"] is True
    shown = capsys.readouterr().out
    assert "$10.00 a day" in shown
    assert "subconscious status" in shown


def test_a_sum_is_held_at_the_very_most_newest_first(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--yes", "--with-model", "--max-cost", "2.5"]) == 0
    assert handed(daemon) == ["/t/new.jsonl", "/t/old.jsonl"]
    assert "1 session left out, to stay below $2.50" in capsys.readouterr().out


@pytest.mark.parametrize("most", [0.0, 0.9, 1.0, 2.4, 2.5, 4.4, 5.5, 100.0])
def test_no_sum_is_ever_exceeded(most: float) -> None:
    kept = price.affordable(SESSIONS, most)
    assert sum(row["model"]["most"] or 0.0 for row in kept) <= most


def test_what_has_no_known_price_is_not_held_to_a_sum(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    unknown = OFFERS[0] | {"cost": None, "batch": None, "most": None}
    daemon.answers["import_plan"] = {"files": SESSIONS, "model": TAGS | {"offers": [unknown]}}
    assert main(["import", "--yes", "--with-model", "--max-cost", "5"]) == 1
    assert "is unknown" in capsys.readouterr().err
    assert handed(daemon) == []
    assert main(["import", "--yes", "--with-model"]) == 0
    assert len(handed(daemon)) == 3


def test_without_a_provider_there_is_nothing_to_ask(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answers["import_plan"] = {"files": SESSIONS, "model": TAGS | {"offers": OFFERS[1:]}}
    assert main(["import", "--yes", "--with-model"]) == 1
    assert "no provider is set" in capsys.readouterr().err


def test_a_sum_for_nothing_is_a_mistake(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--yes", "--max-cost", "5"]) == 1
    assert "costs nothing" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["import", "--max-cost", "lots"])


def test_json_tells_prices_and_what_was_handed_over(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["offers"] == OFFERS
    assert main(["import", "--json", "--yes", "--with-model"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == {"sessions": 3, "calls": 6, "tokens": 27, "not_read": {}}
