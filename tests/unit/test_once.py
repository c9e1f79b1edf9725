"""What one worker makes for all."""

from __future__ import annotations

from multiprocessing.pool import ThreadPool
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from tests.support.once import once


class Factory:
    """The place of one worker, as pytest-xdist gives it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        base.mkdir()

    def getbasetemp(self) -> Path:
        return self.base


def made_by_three(tmp_path: Path) -> tuple[list[str], int]:
    """What three workers get that ask at once, and how often it was made."""
    made: list[str] = []

    def make() -> str:
        made.append("made")
        sleep(0.05)  # the others ask meanwhile
        return f"result {len(made)}"

    def ask(factory: Any) -> str:
        return once(factory, "result", make)

    factories = [Factory(tmp_path / f"popen-gw{number}") for number in range(3)]
    with ThreadPool(3) as workers:
        return workers.map(ask, factories), len(made)


def test_the_first_of_several_workers_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    assert made_by_three(tmp_path) == (["result 1"] * 3, 1)


def test_what_fails_is_tried_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    factory: Any = Factory(tmp_path / "popen-gw0")

    def fail() -> str:
        raise OSError("no session")

    with pytest.raises(OSError, match="no session"):
        once(factory, "result", fail)
    assert once(factory, "result", lambda: "made") == "made"


def test_a_run_without_workers_makes_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    _, count = made_by_three(tmp_path)
    assert count == 3
