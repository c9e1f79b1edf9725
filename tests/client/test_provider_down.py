"""The provider dies in the middle of a session: the person notices nothing, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from subconscious.settings.settings import Settings
from tests.client.machine import Machine, Row, wait_for
from tests.support.fake_openai import FakeOpenAI, candidate, numbered

pytestmark = [pytest.mark.client, pytest.mark.timeout(600, func_only=True)]

FIRST = "We decided to send invoices as PDF, because clients print them."
SECOND = "We decided to store receipts in object storage, because disks filled up."
HINTS = (
    "The printer at the Hamburg office drops the last page of every duplex job.",
    "Make the receipts page a bit narrower on phones.",
)
PATIENCE = 240.0
"""Seconds: the daemon tries four times, then pauses for half a minute, twice as long with every failure."""


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    """A model that sees what offline capture misses."""

    def script(text: str) -> list[Row]:
        found = [(numbered(text, hint), hint) for hint in HINTS]
        return [candidate(number, hint, kind="learning") for number, hint in found if number]

    with FakeOpenAI(script) as model:
        yield model


@pytest.fixture
def configured(machine: Machine, model: FakeOpenAI) -> Machine:
    """A machine whose person has set a provider that reads after every turn."""
    values = {name: value for name, value in model.config.items() if name in Settings.model_fields}
    values["refine_tokens"] = 1
    (machine.state / "config.toml").write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
    (machine.state / "config.toml").chmod(0o600)
    machine.talk("Good morning.")
    machine.drain()
    return machine


def test_a_session_does_not_feel_that_the_provider_died(configured: Machine, model: FakeOpenAI) -> None:
    with configured.session() as session:
        session.say(f"{FIRST} {HINTS[0]}")
        wait_for(lambda: _by_model(configured, HINTS[0]), configured.last_words, PATIENCE)
        model.stop()
        session.say(f"{SECOND} {HINTS[1]}")
        session.say("Go on.")
        session.end()
        configured.assert_untroubled(session)
    configured.drain()
    kept = configured.remembered("invoices as PDF") + configured.remembered("object storage")
    assert [(row["recurrence"], row["extractor"]) for row in kept] == [(1, "typed-1"), (1, "typed-1")]
    wait_for(lambda: "can't be reached" in _left(configured)["reason"], configured.last_words, PATIENCE)
    configured.talk("Good evening.")  # the next session starts as ever
    assert _by_model(configured, HINTS[1]) == []
    model.start()
    wait_for(lambda: _by_model(configured, HINTS[1]), configured.last_words, PATIENCE)
    # What a model found is stored after the second look, which comes when its session is over.
    wait_for(lambda: _recurrences(configured) == [1, 1], configured.last_words, PATIENCE)


def _recurrences(machine: Machine) -> list[int]:
    return [row["recurrence"] for hint in HINTS for row in machine.remembered(hint)]


def _by_model(machine: Machine, words: str) -> list[Row]:
    found = [row for row in machine.rows("implicit_captures") if row["extractor"].startswith("model-")]
    return [row for row in found if row["content"] == words]


def _left(machine: Machine) -> Row:
    left: Row = machine.request("status", cwd=str(machine.project))["refining"]
    return left
