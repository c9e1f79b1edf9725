"""Whether the amounts of two statements contradict each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.supersession.pair_wording import amounts_contradict


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the gateway is only up between 7 and 21", "gateway is offline from 21h till 7h"),
        ("limit uploads to 25 mb", "max 25MB"),
        ("poll every 60 minutes", "poll once in 1h"),
        ("max two replicas", "2 replicas at most"),
        ("standup at 9:30", "9.30 standup"),
        ("deploys end at 18:00", "no deploys after 18"),
        ("at most 10k rows", "10,000 rows and no more"),
        ("oldest safari is 15", "anything from 15.0 on"),
        ("the watchdog bites after 8 seconds", "kick it every 8000 ms"),
        ("retention is a month, 30 days", "logs are kept 30 days"),
        ("no numbers here", "none there"),
    ],
)
def test_amounts_that_may_be_the_same(one: str, other: str) -> None:
    assert not amounts_contradict(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the pool has 5 connections", "the pool has 10 connections"),
        ("timeout 30 s", "timeout 30 min"),
        ("uploads up to 10 mb", "uploads up to 10 gb"),
        ("python 3.1", "python 3.10"),
        ("v1 returns euros", "v2 returns euros"),
        ("retry", "retry 3 times"),
        ("port 8080 and 8081", "port 8080 and 8082"),
    ],
)
def test_amounts_that_contradict(one: str, other: str) -> None:
    assert amounts_contradict(one, other)
    assert amounts_contradict(other, one)


@given(st.text())
def test_a_text_does_not_contradict_itself(text: str) -> None:
    assert not amounts_contradict(text, text)
