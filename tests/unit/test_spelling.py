"""Misspelled words of a query: corrected by the words of the memories, and never into another word nearby."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.recall.spelling import is_correctable, nearest, words_used
from subconscious.text.edit_distance import distance

USED = words_used(["Kafka keeps the events; the deployment reads Kafka.", "Postgres holds invoices, the cache none."])


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kafak", "kafka"),
        ("kafkaa", "kafka"),
        ("deploymnet", "deployment"),
        ("postgers", "postgres"),
        ("invocies", "invoices"),
        ("graphql", ""),
        ("terraform", ""),
    ],
)
def test_the_nearest_word_is_meant(typed: str, meant: str) -> None:
    assert nearest(typed, USED) == meant


def test_numbers_identifiers_and_short_words_are_left_alone() -> None:
    assert [word for word in ("5433", "max_retries", "cach", "kafak") if is_correctable(word)] == ["kafak"]


def test_the_more_frequent_of_two_is_meant() -> None:
    assert nearest("tabel", {"tabes": 1, "table": 3}) == "table"


@given(word=st.text("abcd", max_size=7), at=st.integers(0, 7), letter=st.sampled_from("abcd"))
def test_one_mistake_is_one(word: str, at: int, letter: str) -> None:
    at = min(at, len(word))
    assert distance(word, word, 1) == 0
    assert distance(word, word[:at] + letter + word[at:], 1) == 1
    swapped = word[: max(0, at - 2)] + word[max(0, at - 2) : at][::-1] + word[at:]
    assert distance(word, swapped, 1) == (swapped != word)


@given(one=st.text("abcd", max_size=7), other=st.text("abcd", max_size=7))
def test_it_does_not_matter_which_is_which(one: str, other: str) -> None:
    assert distance(one, other, 9) == distance(other, one, 9)
