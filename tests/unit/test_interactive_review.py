"""Interactive review: a resized window is redrawn whenever the signal comes."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from cli import interactive_review
from cli.interactive_review import _InteractiveReview

LINES = 4
"""Lines that run before a key is awaited."""


def signal_at(review: _InteractiveReview, line: int) -> None:
    """Have the window resized before that line of what waits for a key."""
    code, passed = _InteractiveReview._key.__code__, 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal passed
        if event == "line" and frame.f_code is code:
            passed += 1
            if passed == line:
                review._resize()
        return trace if frame.f_code is code else None

    sys.settrace(trace)


@pytest.mark.parametrize("line", range(1, LINES + 1))
def test_a_window_that_is_resized_at_any_moment_is_redrawn_before_a_key_is_awaited(
    line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    review, before = _InteractiveReview([], 0), sys.gettrace()
    shown: list[str] = []
    monkeypatch.setattr(review, "_show", lambda: shown.append("the statement"))

    def read_key() -> str:
        sys.settrace(before)
        shown.append("the key")
        return "q"

    monkeypatch.setattr(interactive_review, "read_key", read_key)
    signal_at(review, line)
    try:
        assert review._key() == "q"
    finally:
        sys.settrace(before)
    assert shown == ["the statement", "the key"]
