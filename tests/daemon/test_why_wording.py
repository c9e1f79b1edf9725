"""A model words why something is so for a person at the terminal; without one the stored reasons are shown alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import configure, new_session
from tests.support.fake_openai import FakeOpenAI, Row
from tests.support.surfacing import remember

CENTS = "Amounts are kept as integer cents in the ledger."
BUG = "A rounding error lost a cent in the March report."
ANSWER = [{"text": BUG, "notes": [2]}, {"text": CENTS, "notes": [1]}]


def answering(*sentences: Row) -> Any:
    return lambda text: {"sentences": list(sentences)} if '"question":' in text else []


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(answering(*ANSWER)) as model:
        yield model


@pytest.fixture
def linked(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> tuple[Home, dict[str, Any]]:
    """Two memories of which one is the reason of the other, and how to ask why the other is so."""
    configure(stopped, **model.config)
    wire.ensure_daemon(stopped)
    speaker = new_session(stopped, tmp_path / "project")
    cents, bug = remember(stopped, speaker, CENTS, BUG)
    made = terminal.ask(stopped, "link", source=bug, type="CAUSED", target=cents)
    assert made["ok"], made
    return stopped, {"id": cents, "cwd": str(speaker.project), "origin": "user", "worded": True}


def asked(home: Home, args: dict[str, Any]) -> str:
    answer = wire.call(home, "why", args)
    assert answer["answers"][0]["chains"][0][0]["memory"]["content"] == BUG
    return str(answer["worded"])


def questions(model: FakeOpenAI) -> int:
    return sum('"question":' in text for text in model.told)


def test_the_answer_is_worded_for_a_person_and_paid_for(linked: tuple[Home, dict[str, Any]], model: FakeOpenAI) -> None:
    home, args = linked
    cents, bug = args["id"], args["id"] + 1
    assert asked(home, args) == f"{BUG} [{bug}] {CENTS} [{cents}]"
    assert asked(home, args | {"worded": False}) == ""
    assert asked(home, args | {"origin": "assistant"}) == ""
    assert questions(model) == 1
    assert wire.call(home, "status")["provider"]["spending"]["spent_today"] > 0


@pytest.mark.parametrize("sentence", ["The auditors of Lisbon demanded cents.", "Amounts are not kept as cents."])
def test_an_answer_that_says_more_than_the_memories_is_not_shown(
    linked: tuple[Home, dict[str, Any]], model: FakeOpenAI, sentence: str
) -> None:
    home, args = linked
    model.script = answering({"text": sentence, "notes": [1, 2]})
    assert asked(home, args) == ""
    assert questions(model) == 1


@pytest.mark.parametrize("status", [429, 500, 401])
def test_a_provider_that_refuses_leaves_the_reasons(
    linked: tuple[Home, dict[str, Any]], model: FakeOpenAI, status: int
) -> None:
    home, args = linked
    model.status = status
    assert asked(home, args) == ""
