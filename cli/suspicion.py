"""What the poisoning check said of a capture, as a person is shown it: class, reason, place in the text."""

from __future__ import annotations

from typing import Any

from . import screen

OPENS, CLOSES = "»", "«"
"""What stands around a suspicious passage, so that it shows without colour too."""

LONGEST = 80
FEWEST_SHOWN = 3
MOST_SHOWN = 4

Capture = dict[str, Any]


def lines(capture: Capture) -> list[str]:
    """The level, then a line for each of the worst findings: what it is, and the words that it was found in."""
    if capture.get("level", "none") == "none":
        return []
    found = capture["verdict"][:MOST_SHOWN]
    return [f"suspicion: {screen.line(capture['level'])}", *(_told(capture, finding) for finding in found)]


def _told(capture: Capture, finding: dict[str, Any]) -> str:
    said = _passage(capture, finding)
    words = f": {OPENS}{said}{CLOSES}" if said else ""
    return f"- {screen.line(finding['threat'])}, {screen.line(finding['why'])}{words}"


def _passage(capture: Capture, finding: dict[str, Any]) -> str:
    text = capture.get(finding["part"])
    if not isinstance(text, str):
        return ""
    said = screen.line(text[finding["start"] : finding["end"]])
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def note(told: dict[str, Any], indent: int = 6) -> None:
    """Print why something looks poisoned, where its answer says so."""
    if why := told.get("suspicion"):  # an older daemon says nothing
        print(screen.paint(screen.wrapped(screen.line(why), indent, ""), "yellow"))


def marked(capture: Capture) -> str:
    """The content, with marks around what was found in it."""
    text = capture["content"]
    spans = sorted(
        (finding["start"], finding["end"])
        for finding in capture.get("verdict", ())
        if finding["part"] == "content" and FEWEST_SHOWN <= finding["end"] - finding["start"] < len(text)
    )
    told, at = "", 0
    for start, end in spans:
        if start >= at:
            told += f"{text[at:start]}{OPENS}{text[start:end]}{CLOSES}"
            at = end
    return screen.line(told + text[at:])
