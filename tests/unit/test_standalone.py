"""Statements that a reader without the conversation understands, and those that need it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.text.standalone import unclear


@pytest.mark.parametrize(
    "text",
    [
        "prod db is on 6543, don't touch 5432",
        "This project uses tabs",
        "that's not our staging url, staging is stg.example",
        "there's no misc in this repo, helpers sit next to the feature",
        "option b, for all services (asked: give each service its own NATS stream)",
        "Should dates be local or UTC? Decided: UTC",
        "状態管理はZustandに決まりました",
    ],
)
def test_what_names_its_subject_is_clear(text: str) -> None:
    assert unclear(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("it must never be edited by hand", "begins with what it does not name"),
        ("the other one stays as it is", "begins with what it does not name"),
        ("never undo your change to the mapper again", "speaks of a conversation that is over"),
        ("the mapper keeps the second approach for good", "speaks of a conversation that is over"),
        ("we call the library directly in other places", "speaks of a conversation that is over"),
        ("we keep the old name, as described above", "speaks of a conversation that is over"),
        ("Acme Inc.", "names something and says nothing of it"),
        ("the exporter writes files to", "is cut short"),
        ("always pass `--strict to the parser", "is cut short"),
    ],
)
def test_what_needs_its_conversation_is_not(text: str, why: str) -> None:
    assert unclear(text) == why


@given(st.text(max_size=300))
def test_any_text_gets_an_answer(text: str) -> None:
    assert isinstance(unclear(text), str)
