"""What reaches the screen: cleaned, wrapped, aligned, coloured only where that is wanted."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import datetime
from time import time
from typing import Any, TextIO

from subconscious.quoting import hides

WIDEST = 100
"""Columns beyond which lines are tiring to read."""

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}

UNITS = (("year", 365 * 86400), ("month", 30 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60))


def clean(text: object) -> str:
    """Make stored text harmless: what would steer the terminal, reorder its text or hide is shown as its escape."""
    return "".join(f"\\x{ord(sign):02x}" if hides(sign) and sign not in "\n\t" else sign for sign in str(text))


def line(text: object) -> str:
    """``clean``, on one line."""
    return " ".join(clean(text).split())


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Colour, if the stream is a terminal and its owner has nothing against it (no-color.org)."""
    stream = stream or sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\x1b[{STYLES[style]}m{text}\x1b[0m"


def width() -> int:
    """Columns to fill; 80 where nothing is known."""
    return max(40, min(shutil.get_terminal_size().columns, WIDEST))


def wrapped(text: object, indent: int = 0, first: str = "", *, within_words: bool = False) -> str:
    """``text`` folded to the screen, ``first`` hanging before its first line; above it where it is too long.

    Words are only split on request: commands and paths are there to be copied.
    """
    pad = " " * indent
    paragraphs = clean(text).splitlines() or [""]
    folded = [
        textwrap.fill(
            paragraph,
            width(),
            initial_indent=pad,
            subsequent_indent=pad,
            break_long_words=within_words,
            break_on_hyphens=False,
        )
        or pad
        for paragraph in paragraphs
    ]
    text = "\n".join(folded)
    return f"{first}\n{text}" if len(first) >= indent > 0 else first.ljust(indent) + text[indent:]


def fields(rows: Iterable[tuple[str, object]]) -> None:
    """Print names and values in two columns; rows without a value are left out."""
    kept = [(name, value) for name, value in rows if value not in (None, "", [], ())]
    indent = max((len(name) for name, _ in kept), default=0) + 4
    for name, value in kept:
        print(wrapped(value, indent, f"  {name}"))


def heading(text: str) -> None:
    """Print a title with a free line above it."""
    print(f"\n{paint(text, 'bold')}")


def as_json(value: Any) -> None:
    """Print for programs. ASCII, so that stored text can't steer a terminal and any terminal can show it.

    Without angle brackets and DEL too, all of which stand in strings alone: a model may read this.
    """
    print(re.sub("[<>\x7f]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, indent=2)))


def when(moment: float | None, now: float | None = None) -> str:
    """``3 days ago (2026-11-19)``."""
    if not moment:
        return "never"
    return f"{ago(moment, now)} ({datetime.fromtimestamp(moment).astimezone():%Y-%m-%d})"


def ago(moment: float, now: float | None = None) -> str:
    """``3 days ago``, in the largest unit that fits."""
    passed = (time() if now is None else now) - moment
    for unit, seconds in UNITS:
        if passed >= seconds:
            return f"{counted(int(passed // seconds), unit)} ago"
    return "just now" if passed >= 0 else "in the future"


def stamp(moment: float) -> str:
    """``2026-11-19 14:03:12``, in the time of this place."""
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M:%S}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 memory``, ``2 memories``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Sequence[object]) -> str:
    """``a, b, c``."""
    return ", ".join(line(word) for word in words)
