from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.recall.dates import Span, moment, spoken

NOW = datetime(2026, 5, 14, 15, 30, tzinfo=UTC)  # a Thursday


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("what did we decide yesterday", "2026-05-13", "2026-05-14"),
        ("today", "2026-05-14", "2026-05-15"),
        ("the day before yesterday", "2026-05-12", "2026-05-13"),
        ("bugs of last week", "2026-05-04", "2026-05-11"),
        ("this week", "2026-05-11", "2026-05-18"),
        ("last weekend", "2026-05-09", "2026-05-11"),
        ("on Monday", "2026-05-11", "2026-05-12"),
        ("last Thursday", "2026-05-07", "2026-05-08"),
        ("last month", "2026-04-01", "2026-05-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last quarter", "2026-01-01", "2026-04-01"),
        ("the schema in March", "2026-03-01", "2026-04-01"),
        ("in November", "2025-11-01", "2025-12-01"),
        ("in Feb. 2024", "2024-02-01", "2024-03-01"),
        ("on 29 February 2024", "2024-02-29", "2024-03-01"),
        ("on March 3rd, 2025", "2025-03-03", "2025-03-04"),
        ("on the 3rd of March", "2026-03-03", "2026-03-04"),
        ("on 2026-01-02", "2026-01-02", "2026-01-03"),
        ("in 2026-01", "2026-01-01", "2026-02-01"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("Q1", "2026-01-01", "2026-04-01"),
        ("Q4", "2025-10-01", "2026-01-01"),
        ("in the last 3 days", "2026-05-11", "2026-05-15"),
        ("the past two months", "2026-03-14", "2026-05-15"),
        ("two weeks ago", "2026-04-27", "2026-05-04"),
        ("3 days ago", "2026-05-11", "2026-05-12"),
        ("last summer", "2025-06-01", "2025-09-01"),
        ("between 2026-01-02 and 2026-01-05", "2026-01-02", "2026-01-06"),
        ("between March and January", "2026-01-01", "2026-04-01"),
        ("from Monday to yesterday", "2026-05-11", "2026-05-14"),
    ],
)
def test_a_time_is_understood(text: str, since: str, until: str) -> None:
    found = spoken(text, NOW)
    assert found is not None
    assert found.span == Span(day(since), day(until))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("since 2026-01-02", Span(since=day("2026-01-02"))),
        ("since last week", Span(since=day("2026-05-04"))),
        ("after March", Span(since=day("2026-04-01"))),
        ("before March", Span(until=day("2026-03-01"))),
        ("until yesterday", Span(until=day("2026-05-14"))),
    ],
)
def test_a_time_can_be_open(text: str, span: Span) -> None:
    found = spoken(text, NOW)
    assert found is not None
    assert found.span == span


@pytest.mark.parametrize(
    "text",
    [
        "may I rename it",
        "march through the list",
        "the last test fails",
        "port 2026",
        "file-2026-01-02.log",
        "on 2026-13-40",
        "v2026.1.2",
        "release/2025-01",
        "a day in the life",
        "the first second",
        "",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert spoken(text, NOW) is None


def test_where_it_stands_is_told() -> None:
    text = "the retry queue in March, please"
    found = spoken(text, NOW)
    assert found is not None
    assert text[: found.start] + text[found.end :] == "the retry queue , please"


def test_days_are_those_of_the_clocks_zone() -> None:
    now = datetime(2026, 5, 14, 1, 0, tzinfo=timezone(timedelta(hours=9)))
    found = spoken("yesterday", now)
    assert found is not None
    assert found.span.since == datetime(2026, 5, 13, tzinfo=now.tzinfo).timestamp()


@pytest.mark.parametrize(
    ("text", "end", "at"),
    [
        ("2026-01-02", False, "2026-01-02"),
        ("2026-01-02", True, "2026-01-03"),
        ("last week", False, "2026-05-04"),
        ("3d", False, "2026-05-11"),
        ("2026-01-02T10:00", True, "2026-01-02T10:00"),
        ("March", False, "2026-03-01"),
    ],
)
def test_a_moment_is_a_beginning_or_an_end(text: str, end: bool, at: str) -> None:
    assert moment(text, NOW, end=end) == day(at)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "last week and more", "2026-01-02T99:00", "9999y"])
def test_no_moment_is_none(text: str) -> None:
    assert moment(text, NOW) is None


PIECES = st.sampled_from(
    "last past the two 3 0 999 months weeks year ago since until between and from to in march may 31 29th february of"
    " 2026-02-30 0000-00 1999 2099 q4 winter weekend a couple few several sunday this yesterday tonight , . -".split()
)
CLOCKS = st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))


@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map(" ".join)), CLOCKS)
def test_any_text_can_be_read_and_a_span_is_in_order(text: str, now: datetime) -> None:
    found = spoken(text, now)
    moment(text, now)
    if found is None:
        return
    assert 0 <= found.start < found.end <= len(text)
    span = found.span
    assert span.since is not None or span.until is not None
    assert span.since is None or span.until is None or span.since < span.until


@pytest.mark.parametrize("piece", ["last ", "between march and ", "the past a couple of ", "from 1 ", " " * 9, "31 "])
def test_hostile_repetition_is_read_in_no_time(piece: str) -> None:
    """Were it to backtrack without bounds, this would not end within pytest's own limit."""
    spoken(piece * 100_000, NOW)
    assert moment(piece * 100_000, NOW) is None
