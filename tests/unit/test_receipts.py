"""The lines for the user about what a session was given."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from subconscious.surfacing.receipts import day_of


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "EST5EDT")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_new_york")
@pytest.mark.parametrize(
    ("now", "day"),
    [("2026-05-05T03:00", "today"), ("2026-05-06T02:00", "yesterday"), ("2026-05-09T02:00", "2026-05-04")],
)
def test_a_day_is_that_of_the_local_time_zone(now: str, day: str) -> None:
    at, later = (datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in ("2026-05-05T02:00", now))
    assert day_of(at, later) == day
