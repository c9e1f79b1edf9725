"""Statements that take another one of their exchange: which belong together, and what must stay apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture.draft import Draft
from subconscious.capture.gathered import gather
from subconscious.capture.offline import extract
from subconscious.capture.passages import LONGEST
from subconscious.model import Origin, Role, Turn

FAULT = "`KilnDriver.fire()` drops the first command because the relay in `kiln/driver.py` opens late."
CAUSE = "The relay behind `KilnDriver.fire()` needs two seconds, which `kiln/driver.py` never waits for."
ELSEWHERE = "Porcelain cones are named in `glaze.toml`, one line for each shelf."


def turn(name: str, text: str, origin: Origin = Origin.ASSISTANT) -> Turn:
    return Turn(name, "s", Role.ASSISTANT, origin, text, 0.0, "", 0, 0)


def draft(said: str, within: Turn | None = None, source: str = "point") -> Draft:
    return Draft(within or turn(said, said), "learning", said, said, source)


def by_length(one: Draft) -> float:
    """Stands in for the model where it makes no difference: the longer the better."""
    return len(one.content) / 1000


def contents(weighed: list[tuple[Draft, float]], exchange_of: dict[str, int] | None = None) -> list[str]:
    numbers = exchange_of or {one.turn.id: 0 for one, _ in weighed}
    return [one.content for one, _ in gather(weighed, numbers, by_length)]


def test_two_about_the_same_thing_become_one() -> None:
    fault, cause = draft(FAULT), draft(CAUSE)
    ((told, sure),) = gather([(cause, 0.6), (fault, 0.8)], {FAULT: 0, CAUSE: 0}, by_length)
    assert told.content == f"{FAULT} {CAUSE}"
    assert (told.quote, told.turn) == (FAULT, fault.turn), "the stronger one vouches for both"
    assert sure == len(told.content) / 1000, "what they say together is weighed anew"
    assert "another statement" in told.reason


def test_what_shares_no_names_or_no_exchange_stays_apart() -> None:
    assert contents([(draft(FAULT), 0.8), (draft(ELSEWHERE), 0.7)]) == [FAULT, ELSEWHERE]
    assert contents([(draft(FAULT), 0.8), (draft(CAUSE), 0.7)], {FAULT: 0, CAUSE: 1}) == [FAULT, CAUSE]


def test_one_message_needs_no_names_in_common() -> None:
    whole = turn("t", f"{FAULT}\n\n{ELSEWHERE}")
    assert contents([(draft(FAULT, whole), 0.8), (draft(ELSEWHERE, whole), 0.7)]) == [f"{FAULT} {ELSEWHERE}"]


@pytest.mark.parametrize(
    "other",
    [
        replace(draft(CAUSE), turn=turn(CAUSE, CAUSE, Origin.TOOL)),
        replace(draft(CAUSE), origin=Origin.USER),
        draft(CAUSE, source="answer"),
        draft(CAUSE, source="convention"),
    ],
)
def test_nothing_is_taken_from_another_speaker_or_from_what_was_settled(other: Draft) -> None:
    assert contents([(draft(FAULT), 0.8), (other, 0.7)]) == [FAULT, CAUSE]


def test_what_a_person_settled_takes_nothing() -> None:
    settled = draft(FAULT, source="approved")
    assert contents([(settled, 0.95), (draft(CAUSE), 0.7)]) == [FAULT, CAUSE]


def test_the_weak_and_the_repeated_are_not_taken() -> None:
    assert contents([(draft(FAULT), 0.8), (draft(CAUSE), 0.4)]) == [FAULT, CAUSE]
    again = FAULT.replace("opens late", "is slow")
    assert contents([(draft(FAULT), 0.8), (draft(again), 0.7)]) == [FAULT, again]


@pytest.mark.parametrize("source", ["point", "finding", "convention"])
def test_what_takes_none_of_the_others_of_its_exchange_is_worth_less(source: str) -> None:
    lone = [(draft(FAULT, source=source), 0.8)]
    among = [*lone, (draft(ELSEWHERE), 0.6), (draft(f"{ELSEWHERE} Cones bend."), 0.6)]
    sure = dict(gather(among, {FAULT: 0, ELSEWHERE: 0, f"{ELSEWHERE} Cones bend.": 0}, by_length))[lone[0][0]]
    assert sure < 0.8 if source != "convention" else sure == 0.8, "a convention takes none anyway"
    assert gather(lone, {FAULT: 0}, by_length) == lone, "a short answer is no narrower for being all that was said"


def test_no_confidence_is_below_nothing() -> None:
    assert gather([(draft(FAULT), 0.01)], {FAULT: 0}, by_length)[0][1] >= 0.0


def test_of_several_that_would_fit_the_one_that_goes_best_with_it_is_taken() -> None:
    other = f"`KilnDriver.fire()` and `kiln/driver.py` are old. {ELSEWHERE}"
    weighed = [(draft(FAULT), 0.8), (draft(CAUSE), 0.6), (draft(other), 0.79)]
    with_cause = gather(weighed, dict.fromkeys((FAULT, CAUSE, other), 0), lambda one: 0.9 * (CAUSE in one.content))
    assert [one.content for one, _ in with_cause] == [f"{FAULT} {CAUSE}", other]


def test_two_cuts_of_the_same_words_stay_apart() -> None:
    whole = turn("t", f"{FAULT} {ELSEWHERE} {CAUSE}")
    first = replace(draft(f"{FAULT} {ELSEWHERE}", whole), content=FAULT)
    second = replace(draft(f"{ELSEWHERE} {CAUSE}", whole), content=CAUSE)
    assert contents([(first, 0.8), (second, 0.7)]) == [FAULT, CAUSE]


def test_headings_that_both_have_are_told_once_and_files_behind_are_left_out() -> None:
    whole = turn("t", f"{FAULT}\n\n{ELSEWHERE}")
    first = replace(draft(FAULT, whole), content=f"Warm up the relay: {FAULT} (driver.py, ramp.py)")
    second = replace(draft(ELSEWHERE, whole), content=f"Warm up the relay: {ELSEWHERE} (driver.py)")
    assert contents([(first, 0.8), (second, 0.7)]) == [f"Warm up the relay: {FAULT} {ELSEWHERE}"]


def test_what_points_at_something_else_is_not_taken() -> None:
    leaning = "This is why `KilnDriver.fire()` waits in `kiln/driver.py`, with a thermocouple beside the shelf."
    assert contents([(draft(FAULT), 0.8), (draft(leaning), 0.7)]) == [FAULT, leaning]


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.floats(0, 1), st.sampled_from(("point", "finding", "answer", "commit"))),
        max_size=12,
        unique_by=lambda row: row[0],
    )
)
def test_nothing_is_lost_and_nothing_is_told_twice(rows: list[tuple[int, float, str]]) -> None:
    whole = [
        (f"`ramp_{at % 3}()` reads `cone{at}.toml` for shelf{at} {'slowly ' * at}.", sure, of) for at, sure, of in rows
    ]
    weighed = [(draft(said, source=of), sure) for said, sure, of in whole]
    told = contents(weighed)
    assert all(len(content) <= LONGEST or content in {said for said, _, _ in whole} for content in told)
    for said, _, _ in whole:
        assert sum(said in content for content in told) == 1


def test_a_session_is_told_in_fewer_statements_that_say_more() -> None:
    """The sentences stand in no corpus."""
    asked = Turn("u", "s", Role.USER, Origin.USER, "Go on", 0.0, "", 0, 0)
    (found,) = extract([asked, turn("a", FAULT), turn("b", CAUSE)])
    assert FAULT in found.content
    assert CAUSE in found.content
    assert found.evidence.quote in (FAULT, CAUSE)
