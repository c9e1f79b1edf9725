"""The review queue as a person meets it: three at a time, one number, a reminder once a week."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import configure, drained, new_session
from tests.support.reviewing import active, listed, person, typed

SAID = (
    "Let's use pytest for the billing tests.",
    "Let's use structlog for the audit trail.",
    "Let's use Alembic for the database migrations.",
    "Let's use Terraform for the staging network.",
    "Let's use Prettier for the frontend templates.",
)


@pytest.fixture
def running(stopped: Home) -> Home:
    """A daemon without an embedder, so that what a soft statement is worth does not depend on when it is loaded."""
    configure(stopped)
    wire.ensure_daemon(stopped)
    return stopped


def fill(home: Home, speaker: Speaker, said: tuple[str, ...] = SAID) -> list[int]:
    for text in said:
        speaker.say(f"{text} What do you think?")
    speaker.hook("drop", "Stop")
    drained(home)
    return [capture["id"] for capture in listed(home, speaker, "review")]


def start(home: Home, speaker: Speaker) -> bytes:
    return new_session(home, speaker.project).ask("SessionStart", source="startup")


def test_three_are_offered_and_the_number_stays(running: Home, speaker: Speaker) -> None:
    numbers = fill(running, speaker)
    assert len(numbers) == 5
    _, shown = typed(speaker, running, "/subconscious:review")
    assert sum(text in shown for text in SAID) == 3
    assert "2 more wait" in shown
    offered = next(number for number in numbers if f"(capture {number}, " in shown)
    _, told = typed(speaker, running, f"/subconscious:review approve {offered}")
    assert f"{offered} is approved, stored as memory {offered}" in told
    result = terminal.ask(running, "show", id=offered)["result"]
    assert result["memory"]["content"] in SAID
    assert len(active(running, speaker)) == 1


def test_an_approval_that_is_undone_and_repeated_gives_the_same_number(running: Home, speaker: Speaker) -> None:
    (number,) = fill(running, speaker, SAID[:1])
    for deed in ("approve", "undo", "approve"):
        (capture,) = person(running, deed, ids=[number])
    assert (capture["id"], capture["memory_id"]) == (number, number)
    assert active(running, speaker) == [SAID[0]]


def test_the_queue_is_reminded_of_once_a_week_at_most(running: Home, speaker: Speaker) -> None:
    fill(running, speaker, SAID[:1])
    assert b"for your review" in start(running, speaker)
    fill(running, new_session(running, speaker.project), SAID[1:3])
    assert b"for your review" not in start(running, speaker)
    with closing(sqlite3.connect(running.database)) as connection, connection:
        connection.execute("UPDATE events SET at = at - 8 * 86400.0 WHERE action = 'told'")
    assert b"for your review" in start(running, speaker)
    assert b"for your review" not in start(running, speaker)
