"""The limits of surfacing hold under whatever sessions do; `bench.surfacing_limits` tries 10,000 sequences."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.surfacing_limits import attempt


@pytest.mark.slow
def test_no_sequence_of_events_exceeds_a_limit(tmp_path: Path) -> None:
    given = attempt(40, 20, tmp_path)
    assert set(given) >= {"start", "prompt"}, "nothing was given that could exceed a limit"
