"""Shows the findings of the poisoning check: class, reason and passage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import screen

if TYPE_CHECKING:
    from subconscious.wire.captures import Capture, Finding, ReviewedCapture


MARK_START, MARK_END = "»", "«"
"""Marks around a suspicious passage; they are visible even without colour."""

MAX_PASSAGE_LENGTH = 80
MIN_MARKED_LENGTH = 3
MAX_FINDINGS = 4


def lines(capture: Capture | ReviewedCapture) -> list[str]:
    """Return a line with the level of suspicion, and one per finding (at most MAX_FINDINGS); none for level "none"."""
    if capture.get("level", "none") == "none":
        return []
    found = capture["verdict"][:MAX_FINDINGS]
    return [f"suspicion: {screen.line(capture['level'])}", *(_finding_line(capture, finding) for finding in found)]


def _finding_line(capture: Capture, finding: Finding) -> str:
    passage = _passage(capture, finding)
    words = f": {MARK_START}{passage}{MARK_END}" if passage else ""
    return f"- {screen.line(finding['threat'])}, {screen.line(finding['why'])}{words}"


def _passage(capture: Capture, finding: Finding) -> str:
    text = capture.get(finding["part"])
    if not isinstance(text, str):
        return ""
    passage = screen.line(text[finding["start"] : finding["end"]])
    return passage if len(passage) <= MAX_PASSAGE_LENGTH else f"{passage[: MAX_PASSAGE_LENGTH - 1]}…"


def note(row: Mapping[str, Any], indent: int = 6) -> None:
    """Print why a row of the daemon's answer looks poisoned, if it does."""
    if why := row.get("suspicion"):  # an older daemon does not send it
        print(screen.paint(screen.wrapped(screen.line(why), indent, ""), "yellow"))


def marked(capture: Capture) -> str:
    """Return the content on one line, with marks around the suspicious passages."""
    text = capture["content"]
    spans = sorted(
        (finding["start"], finding["end"])
        for finding in capture.get("verdict", ())
        if finding["part"] == "content" and MIN_MARKED_LENGTH <= finding["end"] - finding["start"] < len(text)
    )
    marked_text, at = "", 0
    for start, end in spans:
        if start >= at:
            marked_text += f"{text[at:start]}{MARK_START}{text[start:end]}{MARK_END}"
            at = end
    return screen.line(marked_text + text[at:])
