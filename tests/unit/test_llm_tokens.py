"""A subscription is asked for so many tokens a day, whatever a dollar is worth."""

from __future__ import annotations

import time as clock
from datetime import datetime, timedelta
from time import time
from typing import Any

import pytest

from subconscious.domain.errors import CapReachedError
from subconscious.llm import spending as spending_module
from subconscious.llm.spending import Spending
from subconscious.settings.settings import Settings
from subconscious.store import spend
from subconscious.store.connect import Database
from subconscious.store.spend import Call, Outcome


def call(tokens: int, provider: str = "claude_code", **own: Any) -> Call:
    return Call(own.pop("at", time()), provider, "m", "capture", "", "", 0.0, input_tokens=tokens, **own)


@pytest.fixture
def spending(database: Database) -> Spending:
    return Spending(database, Settings(claude_code_tokens_per_day=1000))


async def test_beyond_the_days_tokens_work_waits_for_tomorrow(spending: Spending) -> None:
    await spending.reserve(call(600))
    with pytest.raises(CapReachedError) as caught:
        await spending.reserve(call(500))
    assert caught.value.retry_at > time()
    assert "1000 tokens a day" in caught.value.message
    await spending.reserve(call(400))


async def test_used_tokens_count_instead_of_reserved_ones(database: Database, spending: Spending) -> None:
    number = await spending.reserve(call(900))
    await spending.complete(number, Outcome("answered", "m", 100, 50, 0, None, 0.0))
    await spending.reserve(call(850))


async def test_other_providers_and_other_days_do_not_count(database: Database, spending: Spending) -> None:
    async with database.write() as tx:
        await spend.begin(tx, call(5000, at=time() - 2 * 86_400))
        await spend.begin(tx, call(5000, "anthropic"))
    await spending.reserve(call(1000))
    await spending.reserve(call(10**6, "anthropic"))


async def test_nothing_is_asked_where_nothing_is_allowed(database: Database) -> None:
    with pytest.raises(CapReachedError):
        await Spending(database, Settings(claude_code_tokens_per_day=0)).reserve(call(1))


@pytest.mark.skipif(not hasattr(clock, "tzset"), reason="the time zone can't be set")
@pytest.mark.parametrize("now", ["2026-10-25 01:00", "2026-10-25 12:00", "2026-03-29 01:00", "2026-03-29 12:00"])
def test_a_day_ends_at_midnight_when_the_clock_changes(monkeypatch: pytest.MonkeyPatch, now: str) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    clock.tzset()
    try:
        there = datetime.fromisoformat(now)
        monkeypatch.setattr(spending_module, "time", there.timestamp)
        assert datetime.fromtimestamp(spending_module._today().timestamp()) == there.replace(hour=0, minute=0)
        next_day = there.replace(hour=0, minute=0) + timedelta(days=1)
        assert datetime.fromtimestamp(spending_module.tomorrow()) == next_day
    finally:
        monkeypatch.undo()
        clock.tzset()
