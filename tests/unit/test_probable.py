"""What a person probably stated, and what an approved plan says, may be given unconfirmed; which of it comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from bench.tuned import tuned
from subconscious.capture.evaluation import weigh
from subconscious.capture.session_limits import without_place
from subconscious.domain.model import Act, Admission, Candidate, Decision, Evidence, Origin, Role, Strength, Turn
from subconscious.settings.settings import Settings
from subconscious.store.captures import SessionCapture
from subconscious.supersession.merging import Repeats, made_certain

FACT = "the exporter writes one file a day to the archive of its region"
RULE = "the exporter should write one file a day to the archive of its region"


def typed(text: str) -> Turn:
    return Turn("asked", "s", Role.USER, Origin.USER, text, 1.0, "", 0, 1)


def statement(turn: Turn, text: str, confidence: float, kind: str = "learning") -> Candidate:
    evidence = Evidence(text, turn.id, "", 0, 1)
    return Candidate(kind, text, text, evidence, turn.origin, Strength.EXPLICIT, confidence, "typed-1", 1.0)


def admitted(turns: Sequence[Turn], candidate: Candidate, **settings: Any) -> Admission:
    ((_, admission),) = weigh([candidate], turns, Settings(**settings))
    return admission


def is_unconfirmed(admission: Admission) -> bool:
    return admission.decision is Decision.REVIEW and admission.reservation == ""


@pytest.mark.parametrize(
    ("text", "kind", "confidence", "given"),
    [
        (FACT, "learning", 0.55, True),
        (FACT, "learning", 0.45, False),
        (RULE, "preference", 0.85, True),
        (RULE, "preference", 0.75, False),
        ("every exporter should write one file a day to the archive", "preference", 0.55, True),
        ("every exporter should write one file a day to the archive", "preference", 0.45, False),
        ("can you let every exporter write one file a day to the archive", "preference", 0.75, False),
        (RULE, "learning", 0.75, False),  # what reads like a fact may be a task
        ("\u2022 the exporter writes one file a day to the archive", "learning", 0.85, False),
        ("it writes one file a day to the archive of its region", "learning", 0.85, False),
        ("the exporter probably writes one file a day to the archive", "learning", 0.85, False),
        ("the exporter sends its password to the archive every day", "learning", 0.85, False),
        ("I just saw that the exporter writes one file to the archive", "learning", 0.85, False),
    ],
)
def test_what_a_person_probably_stated(text: str, kind: str, confidence: float, given: bool) -> None:
    turn = typed(text)
    assert is_unconfirmed(admitted([turn], statement(turn, text, confidence, kind))) is given


def test_what_was_probably_stated_is_stored_where_it_bears_on_what_is_stored() -> None:
    turn = typed(RULE)
    candidate = statement(turn, RULE, 0.85, "preference")
    probable = admitted([turn], candidate)
    assert is_unconfirmed(probable)
    assert made_certain(candidate, probable, Repeats()).decision is Decision.REVIEW
    bears = Repeats(replaced={candidate.content: (1,)})
    assert made_certain(candidate, probable, bears).decision is Decision.AUTO


def test_what_is_quoted_is_held_to_what_findings_are_held_to() -> None:
    told = "Cutting the text by its byte index breaks characters of several bytes."
    advice = "You should run the tests of the exporter without the slow ones."
    for text, given in ((told, True), (advice, False)):
        turn = typed(f"can you look into this comment: {text}")
        assert is_unconfirmed(admitted([turn], statement(turn, text, 0.95))) is given


@pytest.mark.parametrize("off", [{"unconfirmed": False}, {"poisoning": False}])
def test_nothing_is_tried_where_that_is_switched_off(off: dict[str, bool]) -> None:
    turn = typed(FACT)
    assert not is_unconfirmed(admitted([turn], statement(turn, FACT, 0.85), **off))


def plan(text: str) -> Turn:
    return Turn("plan", "s", Role.USER, Origin.ASSISTANT, text, 1.0, "", 0, 1, act=Act.APPROVED)


@pytest.mark.parametrize(
    ("text", "confidence", "given"),
    [
        ("A remediation of the exporter lists one entry for each target file of its report.", 0.72, True),
        ("A remediation of the exporter lists one entry for each target file of its report.", 0.45, False),
        ("The exporter crashes for reports that list more than one target file in a row.", 0.72, False),
        ("The exporter reads its report in export.py:120 before it lists the target files.", 0.72, False),
        ("Add an entry for each target file to the report of the exporter and its callers.", 0.72, False),
    ],
)
def test_what_an_approved_plan_says_needs_no_other_evidence(text: str, confidence: float, given: bool) -> None:
    turn = plan(text)
    candidate = statement(turn, text, confidence)
    assert is_unconfirmed(admitted([turn], candidate)) is given
    assert not is_unconfirmed(admitted([replace(turn, act=Act.NONE)], candidate))


def row(number: int, confidence: float, *, reservation: str = "") -> SessionCapture:
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
    said = f"{words[number]} {words[number]}s {words[number]}ed {words[number]}ing"
    values: dict[str, Any] = {
        "id": number,
        "status": "review",
        "confidence": confidence,
        "content": said,
        "reservation": reservation,
        "level": "none",
        "extractor": "offline-5",
    }
    return cast("SessionCapture", values)


def test_what_waits_for_a_person_takes_no_place_from_what_may_be_given() -> None:
    rows = [row(0, 0.9, reservation="a person must look"), row(1, 0.85, reservation="the same"), row(2, 0.5)]
    assert set(without_place(rows, tuned(session_captures=1))) == {0, 1}
    assert set(without_place(rows, tuned(session_captures=1, unconfirmed=False))) == {1, 2}


def test_a_memory_that_was_stored_again_and_again_takes_one_place() -> None:
    stored = [row(0, 0.9) | {"id": number, "status": "captured", "memory_id": 7} for number in (10, 11, 12)]
    waits = row(1, 0.8, reservation="a person must look")
    assert without_place([*stored, waits], tuned(session_captures=2)) == {}
    assert set(without_place([*stored, waits], tuned(session_captures=1))) == {1}


def test_the_harmless_wording_of_what_the_check_doubts_does_not_come_first() -> None:
    claim, harmless = row(0, 0.9, reservation="it says what people want"), row(0, 0.9) | {"id": 1}
    assert set(without_place([claim, harmless], Settings())) == {0}
    assert set(without_place([claim | {"level": "medium"}, harmless], Settings())) == {1}
    assert set(without_place([claim | {"extractor": "model-2"}, harmless], Settings())) == {1}
