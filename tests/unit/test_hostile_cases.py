"""The command that tries hostile cases: what it counts, and when it fails."""

from __future__ import annotations

import pytest

from bench.hostile import __main__ as command
from bench.hostile.case import Case, NotHeld, Stage


class Breaking:
    """A case that breaks its promise a number of times."""

    def __init__(self, times: int) -> None:
        self.tried = 0
        self._times = times

    def __call__(self, stage: Stage) -> None:
        self.tried += 1
        if self.tried <= self._times:
            raise NotHeld("it answered too late")


def run(monkeypatch: pytest.MonkeyPatch, breaking: Breaking, *arguments: str) -> int:
    cases = [Case("clock", "a case that holds", lambda stage: None, True), Case("clock", "a slow one", breaking, True)]
    monkeypatch.setattr(command, "collect", lambda: cases)
    return command.main([*arguments])


def test_a_broken_promise_fails_the_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, Breaking(1)) == 1
    shown = capsys.readouterr().out
    assert "clock: a slow one: it answered too late" in shown
    assert shown.endswith("1 of 2 held\n")


@pytest.mark.parametrize(("times", "code", "held"), [(1, 0, "2 of 2 held"), (2, 1, "1 of 2 held")])
def test_what_ci_runs_tries_a_failed_case_once_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], times: int, code: int, held: str
) -> None:
    breaking = Breaking(times)
    assert run(monkeypatch, breaking, "--short") == code
    assert breaking.tried == 2
    assert capsys.readouterr().out.endswith(f"{held}\n")


def test_no_case_at_all_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, Breaking(0), "--only", "nothing of that name") == 1
