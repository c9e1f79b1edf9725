from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.recall.dates import Span
from subconscious.recall.understanding import MOST, understand
from subconscious.store.filters import Filter
from subconscious.text.terms import terms
from tests.support.values import make_memory

NOW = datetime(2026, 5, 14, 15, 30, tzinfo=UTC)


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_a_query_is_taken_apart() -> None:
    wanted = understand('decisions about "exact words" -draft of last week', Filter("p"), NOW)
    assert wanted.which == Filter("p", phrases=("exact words",), without=("draft",))
    assert wanted.text == "decisions about exact words of"
    assert wanted.span == Span(day("2026-05-04"), day("2026-05-11"))
    assert wanted.kinds == ("decision",)


@pytest.mark.parametrize(
    ("query", "phrases", "without"),
    [
        ("-“not this” but that", (), ("not this",)),
        ('say "one" and "two three"', ("one", "two three"), ()),
        ("rm -rf build", (), ()),
        ("git log --oneline", (), ()),
        ("well-known names", (), ()),
        ('an open " quote', (), ()),
        ('""', (), ()),
        ('"!?"', (), ()),
        ("-store.py caching", (), ("store.py",)),
        ("--kind", (), ()),
    ],
)
def test_quotes_and_dashes_are_commands_where_they_are_meant(
    query: str, phrases: tuple[str, ...], without: tuple[str, ...]
) -> None:
    wanted = understand(query, Filter(), NOW)
    assert (wanted.which.phrases, wanted.which.without) == (phrases, without)


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("which decisions about the cache", ("decision",)),
        ("what did we decide", ("decision",)),
        ("dead ends with the parser", ("dead_end",)),
        ("progress bar", ()),
        ("design pattern of the parser", ()),
    ],
)
def test_sorts_of_memories_are_noticed(query: str, kinds: tuple[str, ...]) -> None:
    assert understand(query, Filter(), NOW).kinds == kinds


def test_without_words_a_time_is_all_there_is() -> None:
    wanted = understand("what did we do yesterday?", Filter("p"), NOW)
    assert wanted.wordless
    assert wanted.outright == Filter("p", since=day("2026-05-13"), until=day("2026-05-14"))
    assert not understand("the parser yesterday", Filter("p"), NOW).wordless


def test_what_was_said_outright_outranks_what_is_understood() -> None:
    wanted = understand("yesterday", Filter(since=1.0, kinds=("lesson",)), NOW)
    assert wanted.outright == Filter(since=1.0, until=day("2026-05-14"), kinds=("lesson",))


def test_a_memory_fits_a_time_and_a_kind() -> None:
    wanted = understand("decisions of yesterday", Filter(), NOW)
    fits = make_memory(said_at=day("2026-05-13"))
    other = make_memory(said_at=day("2026-05-14"), kind="lesson")
    assert (wanted.fits_time(fits), wanted.fits_kind(fits)) == (True, True)
    assert (wanted.fits_time(other), wanted.fits_kind(other)) == (False, False)


@given(st.one_of(st.text(), st.text(alphabet='-" \u201cab')))
def test_any_query_can_be_read(query: str) -> None:
    wanted = understand(query, Filter(), NOW)
    assert len(wanted.which.phrases) <= MOST
    assert len(wanted.which.without) <= MOST
    terms(wanted.text)


@pytest.mark.parametrize("piece", ['"', '-"a', "-aaa ", '"a" ', "“”", "-"])
def test_hostile_repetition_is_read_in_no_time(piece: str) -> None:
    understand(piece * 5000, Filter(), NOW)
