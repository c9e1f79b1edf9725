"""Statements that a reader without the conversation understands, and those that need it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.text.standalone import unclear, without_announcement


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
        ("it must never be edited by hand", "begins with a reference to something that it does not name"),
        ("the other one stays as it is", "begins with a reference to something that it does not name"),
        ("never undo your change to the mapper again", "refers to a conversation that is over"),
        ("the mapper keeps the second approach for good", "refers to a conversation that is over"),
        ("we call the library directly in other places", "refers to a conversation that is over"),
        ("we keep the old name, as described above", "refers to a conversation that is over"),
        ("Acme Inc.", "names something, but says nothing about it"),
        ("the exporter writes files to", "is cut short"),
        ("always pass `--strict to the parser", "is cut short"),
    ],
)
def test_what_needs_its_conversation_is_not(text: str, why: str) -> None:
    assert unclear(text) == why


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "The fix: `Cart.total` rounds only after the discount was taken off.",
            "`Cart.total` rounds only after the discount was taken off.",
        ),
        (
            "This confirms the root cause. The `ROUNDED` list does not have the guests' carts in it.",
            "The `ROUNDED` list does not have the guests' carts in it.",
        ),
        (
            "So the problem is: why this is never seen: when a guest opens a cart, it is not locked.",
            "When a guest opens a cart, it is not locked.",
        ),
        (
            "The fix needs two parts: the worker locks the cart, and the shop waits for it.",
            "The worker locks the cart, and the shop waits for it.",
        ),
        ("But with several workers each of them locks the cart.", "With several workers each of them locks the cart."),
    ],
)
def test_an_announcement_is_left_out(text: str, said: str) -> None:
    assert without_announcement(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "It is called in several places: when a cart is opened and when it is closed again.",
        "The fix in `Cart.total` is simple: the discount is taken off before the rounding.",
        "The problem: it rounds the total twice when a guest pays.",
        "This confirms it. Both carts were locked at the same time by two workers.",
        "So that guests can pay, the worker unlocks their carts after an hour.",
        "The cause: a cart without a lock.",
        "The total is rounded once: the discount is taken off before that.",
    ],
)
def test_what_would_be_unclear_without_its_beginning_keeps_it(text: str) -> None:
    assert without_announcement(text) == text


@given(st.text(max_size=300))
def test_any_text_keeps_its_end(text: str) -> None:
    assert text.casefold().endswith(without_announcement(text).casefold())


@given(st.text(max_size=300))
def test_any_text_gets_an_answer(text: str) -> None:
    assert isinstance(unclear(text), str)


@pytest.mark.parametrize(
    "text",
    [
        "its go 1.23, no cgo pls \U0001f64f",
        "\U0001f64f its go 1.23, no cgo",
        "it's a monorepo, pnpm workspaces",
        "its pnpm in web/ never npm",
        "it's still python 3.12 here",
        "its postgres on staging, sqlite in tests",
    ],
)
def test_what_a_project_is_made_of_needs_no_earlier_sentence(text: str) -> None:
    assert unclear(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "its slow again on staging",
        "its jest config lives in tools/",
        "it's redis that eats the memory",
        "its all in cents, never floats",
        "its 3 retries, not 5",
        "it is json in the second column",
        "its owner is tomas, ask first",
    ],
)
def test_what_something_unnamed_is_like_needs_one(text: str) -> None:
    assert unclear(text)
