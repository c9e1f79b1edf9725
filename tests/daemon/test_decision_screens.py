"""The page of screens that offer a decision: its script runs, and the page has the same screens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import decision_screens

PAGE = Path(__file__).resolve().parents[2] / "docs" / "screens" / "decisions.md"


@pytest.mark.process
def test_every_screen_that_offers_a_decision_says_what_looks_poisoned() -> None:
    """The script itself fails for a screen that lacks the reason."""
    shown = [title for title, _ in decision_screens.captured()]
    listed = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [*shown, "Decisions without a suspicious statement"]
