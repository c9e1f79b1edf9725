"""What was learned offline is read on by a model: in the background, once, and never at the cost of what stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import client
from subconscious.home import Home
from tests.daemon.conftest import configure, drained, eventually, new_session
from tests.fake_model import FakeModel, Row, candidate, numbered

STATED = "We decided to keep all amounts in integer cents, because floats lost a cent."
HINTED = "The bank rounds half to even, so whatever we show must do the same in kiln.py."


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture
def reading(stopped: Home, model: FakeModel) -> Home:
    """A state folder whose daemon has a model to ask."""
    configure(stopped, **model.config)
    client.ensure_daemon(stopped)
    return stopped


@pytest.fixture
def talker(reading: Home, tmp_path: Path) -> Speaker:
    return new_session(reading, tmp_path / "project")


def sees(words: str, **own: Any) -> Any:
    """A model that finds one statement."""
    return lambda text: [candidate(numbered(text, words), words, **own)] if words in text else []


def captured(home: Home) -> list[Row]:
    found: list[Row] = client.call(home, "captures")["captures"]
    return found


def of_model(home: Home) -> list[Row]:
    return [capture for capture in captured(home) if capture["extractor"].startswith("model-")]


def waits(home: Home) -> Row:
    found: Row = client.call(home, "status")["refining"]
    return found


def test_what_offline_misses_is_found_when_the_session_ends(reading: Home, talker: Speaker, model: FakeModel) -> None:
    model.script = sees(HINTED)
    talker.say(STATED)
    talker.say(HINTED)
    talker.hook("drop", "Stop")
    drained(reading)
    assert (len(captured(reading)), model.bodies) == (1, [])
    talker.hook("drop", "SessionEnd", reason="other")
    drained(reading)
    assert eventually(lambda: bool(of_model(reading)), 40)
    (found,) = of_model(reading)
    assert (found["content"], found["evidence"], found["origin"], found["status"]) == (
        HINTED,
        HINTED,
        "user",
        "captured",
    )
    assert found["extractor"] == "model-1:openai/tiny"
    assert waits(reading)["due"] == 0
