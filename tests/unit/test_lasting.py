"""What is over with its session is not stored without a person, whoever said it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from subconscious.capture.evaluation import weigh
from subconscious.capture.lasting import Session, of_the_moment, passing
from subconscious.domain.model import Act, Candidate, Decision, Evidence, Origin, Role, Strength, Turn
from subconscious.settings.settings import Settings


def typed(text: str, name: str = "asked") -> Turn:
    return Turn(name, "s", Role.USER, Origin.USER, text, 1.0, "", 0, 1)


def said(text: str, name: str = "found") -> Turn:
    return Turn(name, "s", Role.ASSISTANT, Origin.ASSISTANT, text, 2.0, "", 1, 2)


def edited(file: str, name: str = "edited") -> Turn:
    return replace(said("", name), tools=("Edit",), files=(file,))


def statement(turn: Turn, text: str = "", *, confidence: float = 0.95) -> Candidate:
    words = text or turn.text
    evidence = Evidence(words, turn.id, "", 0, 1)
    kind, origin = "learning", turn.origin
    return Candidate(kind, words, words, evidence, origin, Strength.EXPLICIT, confidence, "typed-1", 1.0)


def decision(turns: Sequence[Turn], candidate: Candidate) -> Decision:
    ((_, admission),) = weigh([candidate], turns, Settings())
    return admission.decision


REQUEST = typed("the exporter should write its dates to report.csv in UTC")
RULE = typed("the exporter must only write dates to report.csv in UTC")


def test_a_request_that_its_exchange_carried_out_waits() -> None:
    turns = [REQUEST, edited("out/report.csv")]
    assert passing(statement(REQUEST), Session.of(turns)) == "was carried out in its session"
    assert decision(turns, statement(REQUEST)) is Decision.REVIEW


@pytest.mark.parametrize(
    "turns",
    [
        [REQUEST],
        [REQUEST, edited("out/other.csv")],
        [REQUEST, typed("and now the importer", "next"), edited("out/report.csv")],
        [RULE, edited("out/report.csv")],
    ],
)
def test_what_was_not_carried_out_or_holds_beyond_it_is_stored(turns: list[Turn]) -> None:
    assert decision(turns, statement(turns[0])) is Decision.AUTO


@pytest.mark.parametrize(
    "text",
    [
        "I've added the logos of the three vendors to assets/logos",
        "I can't see any usage of the audit log in our code",
        "ok so I just pushed the new exporter to the test server",
        "the importer does not list the logs folder right now",
        "the trailer is called Checkpoint, or it's not even a trailer but the message",
    ],
)
def test_a_report_of_the_moment_waits(text: str) -> None:
    assert decision([typed(text)], statement(typed(text))) is Decision.REVIEW


@pytest.mark.parametrize(
    "text",
    [
        "I always want dates in UTC in our reports",
        "when you are not sure about a requirement, ask",
        "I just want short answers without a summary at the end",
        "I have been bitten by floats, so amounts are integers here",
        "I have decided that the exporter writes UTC dates",
        "the staging server belongs to the platform team",
    ],
)
def test_what_holds_for_good_does_not(text: str) -> None:
    assert decision([typed(text)], statement(typed(text))) is Decision.AUTO


def test_quoted_words_of_others_wait() -> None:
    quoted = "The wrapper functions of the parser are used nowhere in the code."
    turn = typed(f"can you take a look at: {quoted}")
    assert decision([turn], statement(turn, quoted)) is Decision.REVIEW
    own = typed(f"for the release: {quoted}")
    assert decision([own], statement(own, quoted)) is Decision.AUTO


def test_what_a_person_answered_must_be_clear_too() -> None:
    turn = replace(said("Which way? \u2192 it stays as it is", "answer"), role=Role.USER, act=Act.ANSWERED)
    candidate = replace(statement(turn, "it stays as it is"), kind="decision")
    assert decision([turn], candidate) is Decision.REVIEW


FOUND = "The exporter opens one connection for each report, since `Pool.acquire` returns a fresh one."


def test_how_something_is_may_be_given() -> None:
    turn = said(FOUND)
    assert of_the_moment(statement(turn), Session.of([typed("how does it connect?"), turn])) == ""


def test_what_the_edits_of_its_exchange_show_is_not_given() -> None:
    found = said("In `export.py` each report opens one connection, since `Pool.acquire` returns a fresh one.")
    turns = [typed("make the exporter faster"), found, edited("src/export.py")]
    assert of_the_moment(statement(found), Session.of(turns)) == "repeats what the edits after the same prompt show"
    assert of_the_moment(statement(found), Session.of([turns[0], found, edited("src/other.py")])) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The exporter now accepts a list of reports and their owners.", "is about a change"),
        ("Exporter: Swapped the two columns so that owners come first.", "is about a change"),
        ("The exporter reads its columns in export.py:120 and nowhere else.", "contains line numbers"),
        ("Reads a; writes b; closes c; opens d; and returns the exporter.", "is a list of notes"),
        ("The exporter loses the last line, since `Pool.acquire` returns a fresh one.", "is about a defect"),
        (
            "The exporter calls these helpers whenever a report has an owner.",
            "refers to something that it does not name",
        ),
    ],
)
def test_what_git_shows_or_nobody_understands_is_not_given(text: str, why: str) -> None:
    assert of_the_moment(statement(said(text)), Session.of([said(text)])) == why
