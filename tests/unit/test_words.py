from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.text.codewords import code_parts
from subconscious.text.terms import TERMS, names, stem, terms
from subconscious.text.words import has_letters


def test_terms_drop_stop_words_and_repetitions() -> None:
    assert terms("What is the retry_policy, the RETRY_POLICY of api/v2?") == ["retry_policy", "api", "v2"]


def test_terms_hold_a_camel_case_name_and_its_parts() -> None:
    assert terms("where does getUserName live") == ["getusername", "live", "user", "name"]


@given(st.text())
def test_terms_can_stand_in_a_match_expression(text: str) -> None:
    found = terms(text)
    assert len(found) <= TERMS
    assert all(term and '"' not in term and not term.isspace() for term in found)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did Melanie paint?", {"melanie"}),
        ("Where is parse_config?", {"parse_config"}),
        ("fix src/auth/login.py please", {"src/auth/login.py"}),
        ("why E0502 again", {"e0502"}),
        ("The tests fail. They did before", set()),
        ("- Run it\n- Then stop", set()),
        ("HTTP errors", {"http"}),
        ("Melanie's kids and James", {"james"}),
        ("lint fail", set()),
    ],
)
def test_names_are_what_is_written_like_one(text: str, named: set[str]) -> None:
    assert names(text) == named


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    names(text)
    code_parts(text)


def test_code_parts_are_those_that_the_tokenizer_does_not_see() -> None:
    assert code_parts("getUserName in HTTPServer, snake_case, plain Word") == "get User Name HTTP Server"


@pytest.mark.parametrize(
    ("word", "base"), [("retries", "retri"), ("retried", "retri"), ("retry", "retri"), ("tests", "test"), ("is", "is")]
)
def test_stems_make_forms_of_a_word_alike(word: str, base: str) -> None:
    assert stem(word) == base


@pytest.mark.parametrize(
    ("text", "has"),
    [("1.5", False), ("\u2192", False), ("\U0001f389 42!", False), ("v2", True), ("\u672c\u756a", True)],
)
def test_numbers_and_symbols_are_no_letters(text: str, has: bool) -> None:
    assert has_letters(text) is has
