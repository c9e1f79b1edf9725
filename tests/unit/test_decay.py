from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.decay import DAY, ranking_decay
from tests.conftest import NOON, make_memory


def fade(days: float, **changes: Any) -> float:
    return ranking_decay(make_memory(**changes), NOON + days * DAY, rate=0.01, stale_days=90, stale_factor=0.5)


def test_a_day_costs_a_hundredth() -> None:
    assert fade(10) == pytest.approx(math.exp(-0.1))


def test_what_was_not_recalled_for_long_is_stale() -> None:
    assert fade(91) == pytest.approx(math.exp(-0.91) * 0.5)


def test_a_use_makes_it_fresh_again() -> None:
    assert fade(100, last_used_at=NOON + 99 * DAY) == pytest.approx(math.exp(-0.01))


def test_pinned_memories_never_fade() -> None:
    assert fade(10_000, pinned=True) == 1.0


@given(st.floats(-1e4, 1e5), st.floats(0, 1e4))
def test_bounded_and_never_rising(days: float, more: float) -> None:
    assert 0 <= fade(days + more) <= fade(days) <= 1
