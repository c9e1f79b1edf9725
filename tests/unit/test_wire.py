"""What failures mean, and text that every wire takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.errors import (
    BadRequestError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.providers.wire import clean, failure, need_url, retry_after

SAID = "words that nobody else may read"


@given(st.text(alphabet=st.characters()))
def test_clean_text_is_utf8_and_good_text_stays(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned
    assert cleaned == text or any("\ud800" <= letter <= "\udfff" for letter in text)


def test_surrogates_that_belong_together_become_what_they_stand_for() -> None:
    assert clean("\ud83d\ude42 \ud83d!") == "🙂 \ufffd!"


@given(st.text())
def test_any_header_is_seconds_or_nothing(said: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = retry_after({name: said})
        assert seconds is None or 0 <= seconds < float("inf")


def test_a_date_is_so_many_seconds_away() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 60 < (retry_after({"retry-after": later}) or 0) <= 90


@given(st.integers(300, 599), st.text() | st.dictionaries(st.text(), st.text()) | st.none())
def test_every_status_has_an_error_that_repeats_no_sentence(status: int, body: object) -> None:
    error = failure(status, {}, body, "the server")
    assert isinstance(error, ProviderError)
    assert str(status) in error.message
    assert error.remedy


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (402, {}, KeyRefusedError),
        (429, {"error": {"code": "insufficient_quota", "message": SAID}}, KeyRefusedError),
        (429, {"error": {"code": "rate_limit_exceeded", "message": SAID}}, RateLimitedError),
        (408, "", UnavailableError),
        (504, "", UnavailableError),
        (400, {"error": {"type": "invalid_request_error", "message": f"prompt is too long {SAID}"}}, BadRequestError),
        (418, SAID, BadRequestError),
    ],
)
def test_statuses_and_words_have_their_errors(status: int, body: object, expected: type[ProviderError]) -> None:
    error = failure(status, {}, body, "the server")
    assert type(error) is expected
    assert SAID not in f"{error.message}{error.remedy}"


def test_a_code_is_told_and_a_sentence_is_not() -> None:
    assert "(model_not_found)" in failure(404, {}, {"error": {"code": "model_not_found", "message": SAID}}, "x").message
    assert SAID not in failure(404, {}, {"error": {"code": SAID}}, "x").message


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host/", "http://", "file:///etc/passwd"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadRequestError):
        need_url(url)
