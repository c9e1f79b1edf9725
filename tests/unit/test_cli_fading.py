"""Archiving many at once, and the picture of a curve, as a person meets them."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.__main__ import main
from cli.fading import HEIGHT, curve
from subconscious.settings.home import Home
from tests.support.cli_answers import ANSWERS, MEMORY
from tests.support.stub_daemon import StubDaemon, answering


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StubDaemon]:
    with answering(Home(tmp_path_factory.mktemp("home")), monkeypatch, ANSWERS) as stub:
        yield stub


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def asked(daemon: StubDaemon) -> list[str]:
    return [request.cmd for request in daemon.requests]


@pytest.mark.parametrize(("typed", "moves"), [("y\n", True), ("n\n", False), ("", False)])
@pytest.mark.slow
def test_many_are_shown_before_they_are_archived(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: str, moves: bool
) -> None:
    many = [MEMORY | {"id": number} for number in range(1, 701)]
    daemon.answers["archive_plan"] = {"memories": many}
    daemon.answers["archive"] = {"memories": many[:350]}
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    assert main(["archive", "--query", "cents"]) == 0
    out = capsys.readouterr().out
    assert "and 680 more" in out
    assert "Archive 700 memories? [y/N]" in out
    assert ("Archived: 700 memories." in out) == moves
    assert asked(daemon) == ["archive_plan", *(["archive"] * 2 if moves else [])]


def test_a_script_has_to_say_yes(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unarchive", "--session", "9445"]) == 0
    assert "Add --yes" in capsys.readouterr().err
    assert asked(daemon) == ["archive_plan"]
    assert daemon.requests[0].args["archived"] is True


def test_it_has_to_be_said_which(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["archive"]) == 1
    assert "say which memories: ID..., --session ID or --query WORDS" in capsys.readouterr().err
    assert asked(daemon) == []


@pytest.mark.parametrize("date", ["yesterday", "2026-13-01"])
def test_a_date_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], date: str) -> None:
    with pytest.raises(SystemExit):
        main(["decay", "--log", "--since", date])
    assert "is not a date" in capsys.readouterr().err


def test_a_curve_is_drawn() -> None:
    drawn = curve([(0, 1.0), (50, 0.5), (100, 0.0)], 28, mark=0.3, unit="days")
    assert drawn[0] == " 1.00 |" + "*" * 10
    assert drawn[5].startswith(" 0.50 |          *")
    assert drawn[7].startswith("      |.....")
    assert drawn[-1].rstrip() == "       0           100 days"
    assert drawn[-3].endswith("*")


@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=50),
    st.integers(1, 200),
    st.floats(0, 10),
    st.none() | st.floats(-1, 2),
)
def test_any_curve_fits(values: list[float], width: int, top: float, mark: float | None) -> None:
    drawn = curve([(float(place), value) for place, value in enumerate(values)], width, top=top, mark=mark)
    assert len(drawn) == HEIGHT + 3
    assert all(len(line) <= max(width, 20) for line in drawn)
    assert sum(line.count("*") for line in drawn) == max(10, width - 8)
