from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.model import Origin, Role, Turn
from subconscious.recall.recent_turns import ADDED, MESSAGES, SECONDS, SESSIONS, RecentTurns, completed
from subconscious.text.terms import terms

TALK = ("Let us look at the retry queue.", "The UploadWorker parks a chunk after two tries in src/upload.py.")


def turn(text: str, role: Role = Role.USER, session: str = "s") -> Turn:
    return Turn("t", session, role, Origin.USER, text, 0.0, "/f", 0, 1)


@pytest.mark.parametrize("prompt", ["and why?", "why is that?", "where was it decided?", "did we try this before?"])
def test_a_prompt_that_leans_on_the_talk_is_lent_its_words(prompt: str) -> None:
    words = completed(prompt, TALK)
    assert words.startswith(prompt)
    assert {"UploadWorker", "src/upload.py"} <= set(words.split())


@pytest.mark.parametrize(
    "prompt",
    ["thanks", "go on", "yes, do it", "fix it", "commit and push", "why does the invoice table round amounts twice?"],
)
def test_a_prompt_that_asks_nothing_or_enough_stays_as_it_is(prompt: str) -> None:
    assert completed(prompt, TALK) == prompt


def test_the_latest_counts_most() -> None:
    words = completed("and why?", ["The parser is slow.", "The invoice table is slow.", "The login form is red."])
    assert words.split()[2:4] == ["form", "login"]


def test_nothing_was_said_before() -> None:
    assert completed("and why?", []) == "and why?"


@given(st.text(), st.lists(st.text(), max_size=8))
def test_any_talk_can_be_read_and_lends_little(prompt: str, before: list[str]) -> None:
    words = completed(prompt, before)
    assert words.startswith(prompt)
    assert len(words.split()) <= len(prompt.split()) + ADDED


@pytest.mark.parametrize("piece", ["and ", "why? ", "it", "a/b.", "_"])
def test_hostile_repetition_is_read_in_no_time(piece: str) -> None:
    terms(completed(piece * 50_000, [piece * 50_000] * 9))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_last_messages_are_kept_for_a_while() -> None:
    clock = Clock()
    lately = RecentTurns(clock)
    lately.add("s", [turn(f"message {number}") for number in range(9)])
    lately.add("s", [turn("output", Role.TOOL), turn("  ")])
    assert lately.messages("s") == [f"message {number}" for number in range(9 - MESSAGES, 9)]
    clock.now = SECONDS
    assert lately.messages("s") == []


def test_sessions_are_forgotten() -> None:
    lately = RecentTurns()
    for number in range(SESSIONS + 1):
        lately.add(f"s{number}", [turn("hello")])
    assert lately.messages("s0") == []
    lately.forget("s1")
    assert lately.messages("s1") == []
    assert lately.messages("s2") == ["hello"]
    lately.clear()
    assert lately.messages("s2") == []
