"""What a person types ends what holds: in the same message, the same session, and in later ones."""

from __future__ import annotations

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support.daemons import configure, new_session
from tests.support.deciding import captured, context, decide
from tests.support.purging import person

REDIS = "We decided: the job queue runs on Redis."
NATS = "We decided: the job queue runs on NATS now."
TICKETS = "From now on every commit message starts with the ticket number."
FROZEN = "From now on nobody merges to main until the audit is done."


@pytest.fixture(autouse=True)
def links_are_on(home: Home) -> None:
    configure(home, link_limit=20)


def later(home: Home, speaker: Speaker, *texts: str) -> Speaker:
    """Another session, in which somebody types something."""
    session = new_session(home, speaker.project)
    for text in texts:
        decide(home, session, text)
    return session


def given(home: Home, speaker: Speaker) -> str:
    """What a new session starts with."""
    return context(new_session(home, speaker.project).ask("SessionStart", source="startup"))


def contents(home: Home, speaker: Speaker) -> list[str]:
    """The memories in use."""
    return [memory["content"] for memory in wire.call(home, "list", {"cwd": str(speaker.project)})["memories"]]


def test_a_newer_value_supersedes_the_older_one(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, REDIS)
    later(running, speaker, NATS)
    start = given(running, speaker)
    assert ("NATS" in start, "Redis" in start) == (True, False)
    shown = person(running, "show", id=1)["memory"]
    assert (shown["superseded_by"], shown["archived_at"]) == ([2], None)


def test_a_value_of_another_environment_supersedes_nothing(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, "Remember that the staging database listens on 5432.")
    later(running, speaker, "Remember that the production database listens on 6543.")
    start = given(running, speaker)
    assert "5432" in start
    assert "6543" in start


def test_in_one_message_and_one_session(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, f"{TICKETS} Actually no.")
    assert contents(running, speaker) == []
    session = later(running, speaker, TICKETS, "scrap that")
    assert contents(running, session) == []


def test_the_last_thing_is_the_message_before(running: Home, speaker: Speaker) -> None:
    later(running, speaker, TICKETS, "rename Foo to Bar", "scrap that")
    assert contents(running, speaker) == [TICKETS]


@pytest.mark.parametrize(
    "aside",
    [
        "and can we drop uplot for.. nah forget it",
        "could you rename the kiln? no, forget it",
        "should we move to arm\u2026 actually, never mind",
        "und k\u00f6nnen wir uplot.. vergiss es",
        "on peut aussi enlever uplot ? non, laisse tomber",
    ],
)
def test_a_take_back_of_a_question_leaves_what_was_stated_before(running: Home, speaker: Speaker, aside: str) -> None:
    decide(running, speaker, f"{TICKETS} {aside}")
    assert contents(running, speaker) == [TICKETS]
    later(running, speaker, TICKETS, aside)
    assert contents(running, speaker) == [TICKETS]


@pytest.mark.parametrize("ending", [".. nah forget it", ". wait.. scratch that"])
def test_a_statement_that_breaks_off_is_taken_back(running: Home, speaker: Speaker, ending: str) -> None:
    decide(running, speaker, f"{TICKETS[:-1]}{ending}")
    assert contents(running, speaker) == []


def test_a_task_that_is_taken_back_leaves_the_message_before(running: Home, speaker: Speaker) -> None:
    later(running, speaker, TICKETS, "rename Foo to Bar. nah, forget it")
    assert contents(running, speaker) == [TICKETS]


def test_across_sessions_and_back(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, TICKETS)
    later(running, speaker, "forget what i said about the ticket numbers")
    assert contents(running, speaker) == []
    assert "ticket" not in given(running, speaker)
    events = person(running, "history", limit=20)["events"]
    (archived,) = [event for event in events if event["action"] == "archive"]
    assert "forget what i said about the ticket numbers" in archived["reason"]
    person(running, "undo_acts", ids=[archived["id"]])
    assert contents(running, speaker) == [TICKETS]


def test_a_question_and_a_task_end_nothing(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, REDIS)
    later(running, speaker, "should we move off Redis?", "drop the redis table from the job queue schema")
    assert contents(running, speaker) == [REDIS]


def test_what_is_left_goes_with_all_that_it_had_replaced(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, REDIS)
    later(running, speaker, NATS)
    later(running, speaker, "we got rid of NATS")
    assert contents(running, speaker) == []


def test_what_replaced_something_is_taken_back_at_once(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, REDIS)
    later(running, speaker, NATS, "scrap that")
    start = given(running, speaker)
    assert ("NATS" in start, "Redis" in start) == (False, True)


def test_a_milestone_ends_what_held_until_then(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, FROZEN)
    later(running, speaker, "the login page is done")
    assert contents(running, speaker) == [FROZEN]
    later(running, speaker, "the audit is done")
    assert contents(running, speaker) == []


def test_what_waits_is_taken_out_of_the_queue(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, "Let's use pytest for the billing tests.")
    assert len(captured(running, speaker, "review")) == 1
    later(running, speaker, "forget the thing about pytest for the billing tests")
    assert captured(running, speaker, "review") == []


QUESTION = "Should I store the times as local or as UTC strings?"


@pytest.mark.parametrize(
    "again",
    ["hold on wait no, millis. the buoys send sub second", "no wait, unix millis", "scratch that, unix millis"],
)
def test_an_answer_that_is_corrected_at_once_is_replaced(running: Home, speaker: Speaker, again: str) -> None:
    speaker.say("add the table of measurements")
    speaker.say(QUESTION, "assistant")
    decide(running, speaker, "neither, unix seconds")
    speaker.say("Okay.", "assistant")
    decide(running, speaker, again)
    old, new = (person(running, "show", id=number)["memory"] for number in (1, 2))
    assert (old["superseded_by"], "millis" in new["content"], QUESTION in new["content"]) == ([2], True, True)


def test_a_later_task_replaces_no_answer(running: Home, speaker: Speaker) -> None:
    speaker.say("add the table of measurements")
    speaker.say(QUESTION, "assistant")
    decide(running, speaker, "neither, unix seconds")
    speaker.say("Okay.", "assistant")
    decide(running, speaker, "hold on wait no, run the tests first")
    assert person(running, "show", id=1)["memory"]["superseded_by"] == []
