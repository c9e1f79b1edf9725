"""The same inputs in every run, so that CI fails for no other reason than a change; `bench/fuzz.py` finds new ones."""

from __future__ import annotations

import pytest

from bench.fuzzing import TARGETS, attempt

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(240)]

INPUTS = {"transcript": 200, "protocol": 8000, "payload": 8000, "redactor": 300, "frame": 1500, "large": 4}
"""As many of each as take about twenty seconds on one core, at most."""

FOUND: list[tuple[str, int]] = [("transcript", 10)]
"""What the bench has found: target and seed."""


PARTS = 4
"""Parts that the inputs of one target are divided into, so that several processes can try them."""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_that_others_write_breaks_us(target: str, part: int) -> None:
    findings = [finding for seed in range(part, INPUTS[target], PARTS) if (finding := attempt(target, seed))]
    assert findings == []


@pytest.mark.parametrize(("target", "seed"), FOUND)
def test_what_was_found_stays_mended(target: str, seed: int) -> None:
    assert attempt(target, seed) is None
