"""Words that end what holds, and which statements they end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subconscious.capture.ended import ended_by
from subconscious.capture.endings import End, endings, spelled

STATED = [
    "Always run the integration tests before pushing",
    "Never use default exports in typescript files",
    "All endpoints must be versioned under /v1.",
    "Always ask me before adding a dependency.",
    "Don't touch the billing module without asking me.",
    "The nightly import job writes to the legacy_orders table.",
    "Commits immer auf Englisch schreiben.",
    "code freeze: no merges to main until the audit is done",
    "We decided: the job queue runs on Redis.",
    "Always add a changelog entry for each pull request.",
    "Never push directly to main.",
]


@pytest.mark.parametrize(
    ("typed", "ends"),
    [
        ("forget waht i said about the integration tests", 0),
        ("pls drop the rule about default exports", 1),
        ("endpoints no longer need to be versioned under /v1", 2),
        ("never mind the thing with the dependencies, just add what you need", 3),
        ("you no longer need to ask before adding dependencies", 3),
        ("ok, you can touch the billing module again", 4),
        ("the legacy_orders table is gone", 5),
        ("vergiss was ich über die Commits gesagt habe", 6),
        ("the freeze is over", 7),
        ("the audit is done", 7),
        ("we moved off redis, it's NATS now", 8),
        ("wir nutzen Redis nicht mehr", 8),
        ("on n'utilise plus Redis", 8),
        ("ya no usamos Redis", 8),
        ("não usamos mais Redis", 8),
        ("stop adding changelog entries", 9),
        ("it's fine to push to main again", 10),
    ],
)
def test_what_is_meant_is_ended(typed: str, ends: int) -> None:
    (ending,) = endings(typed)
    assert ended_by(ending, STATED) == [ends]


FOR_A_TIME = [
    "while ines is on vacation, omar approves the invoices",
    "no load tests while staging is down",
    "mientras marta está de baja, revisa diego",
    "solange Ben im Urlaub ist, prüft Carla die Releases",
    "this sprint only bugs",
    "diese Woche keine Releases",
    "our sprints take two weeks",
    "Jeder Test bekommt einen Kommentar",
    "chaque PR a une capture",
    "retries stay off in dev till we found the duplicates",
    "use the fake mailer until the relay is repaired",
]


@pytest.mark.parametrize(
    ("typed", "ends"),
    [
        ("ines is back from vacation", [0]),
        ("ines is back, ask her", [0]),
        ("staging is up again", [1]),
        ("marta ya volvió", [2]),
        ("Ben ist wieder da", [3]),
        ("new sprint. look at the parser", [4]),
        ("neuer Sprint!", [4]),
        ("neue Woche", [5]),
        ("die Kommentare in den Tests brauchst du nicht mehr", [7]),
        ("das mit dem Kommentar musst du nicht mehr machen", [7]),
        ("plus besoin de capture dans la PR", [8]),
        ("found it, a double click. retries back on in dev", [9]),
        ("retries are on again", [9]),
        ("you can use the real mailer again", [10]),
        ("mail client on again", []),
        ("omar is back", []),
        ("ines is done", []),
        ("the sprint board is up again", []),
    ],
)
def test_what_holds_for_a_time_ends(typed: str, ends: list[int]) -> None:
    assert [place for ending in endings(typed) for place in ended_by(ending, FOR_A_TIME)] == ends


@pytest.mark.parametrize("typed", ["new week view please", "is ines back?", "when ines is back, ask her"])
def test_what_only_looks_like_a_new_period_or_a_return_ends_nothing(typed: str) -> None:
    assert not [place for ending in endings(typed) for place in ended_by(ending, FOR_A_TIME)]


@pytest.mark.parametrize(
    "typed",
    [
        "should we move off Redis?",
        "if we moved off redis, what would the queue be",
        "we want to move off Redis",
        "we'll drop the rule about default exports next year, maybe",
        "don't forget what I said about the integration tests",
        "when the freeze is over we merge",
        "until the audit is done",
        "the freeze is not over",
        "drop the column nickname from the users table",
        "remove the no-console rule from .eslintrc",
        "disable the eslint rule about default exports",
        "> forget what I said about the integration tests",
        "```\nforget what I said about the integration tests\n```",
        "skip the integration tests this time",
        "just this once push directly to main",
        "the error is gone",
        "the tests are done",
        "I finished the login page",
        "forget that testing stuff maybe",
    ],
)
def test_what_ends_nothing(typed: str) -> None:
    assert [place for ending in endings(typed) for place in ended_by(ending, STATED)] == []


@pytest.mark.parametrize(
    "typed", ["scrap that", "no, forget it", "actually no", "nvm that", "hmm undo that decision", "lieber doch nicht"]
)
def test_the_thing_said_last(typed: str) -> None:
    (ending,) = endings(typed)
    assert (ending.end, ending.topic) == (End.LAST, "")


def test_two_that_fit_alike_are_left_alone() -> None:
    (ending,) = endings("drop the rule about tests")
    rules = ["Always write tests for parsers.", "Never mock the database in tests."]
    assert ended_by(ending, rules) == []
    assert ended_by(ending, rules[:1]) == [0]


def test_what_agrees_with_leaving_is_kept() -> None:
    (ending,) = endings("we moved off Redis")
    assert ended_by(ending, ["Never use Redis for sessions.", "Use NATS for the queue, not Redis."]) == []


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    for ending in endings(text):
        assert ending.evidence in text
        assert text[ending.start :].startswith(ending.evidence)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", max_size=60))
def test_spelling_keeps_the_words(text: str) -> None:
    assert len(spelled(text).split()) == len(text.split()) or "nevermind" in text
