"""Formats output: escapes control characters, wraps, aligns and colours text."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from time import time
from typing import Any, TextIO

from subconscious.text.invisible import is_invisible

MAX_WIDTH = 100
"""The most columns of a line, because longer lines are hard to read."""

LONGEST_STATEMENT = 400
"""The most characters of a memory that a list shows; the context at a session's start has the same limit."""

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}

UNITS = (("year", 365 * 86400), ("month", 30 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60))


def clean(text: object) -> str:
    """Escape characters that would control the terminal, reorder text or be invisible; tabs and newlines stay."""
    return "".join(f"\\x{ord(char):02x}" if is_invisible(char) and char not in "\n\t" else char for char in str(text))


def line(text: object) -> str:
    """Return the cleaned text on one line."""
    return " ".join(clean(text).split())


def statement(memory: Mapping[str, Any]) -> str:
    """Return the text of a memory or capture in the form that sessions get; for an agent's own note, its summary."""
    is_note = memory.get("extractor") == "claude-note"
    text = line(memory["summary"] if is_note else memory.get("content") or memory["summary"])
    return text if len(text) <= LONGEST_STATEMENT else f"{text[: LONGEST_STATEMENT - 1]}…"


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return the text in a style of ``STYLES``, unless NO_COLOR or TERM=dumb is set or the stream is not a terminal."""
    stream = stream or sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\x1b[{STYLES[style]}m{text}\x1b[0m"


def width() -> int:
    """Return the width for output: that of the terminal, from 40 to 100 columns; 80 if unknown."""
    return max(40, min(shutil.get_terminal_size().columns, MAX_WIDTH))


def wrapped(text: object, indent: int = 0, first: str = "", *, within_words: bool = False) -> str:
    """Return ``text`` wrapped and indented; ``first`` fills the first indentation, or is on a line above if too long.

    Words are split only with ``within_words``, because commands and paths are meant to be copied.
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
    return f"{first}\n{text}" if len(first.rstrip()) >= indent > 0 else first.ljust(indent) + text[indent:]


def fields(rows: Iterable[tuple[str, object]]) -> None:
    """Print names and values in two columns, without the rows with an empty value."""
    kept = [(name, value) for name, value in rows if value not in (None, "", [], ())]
    indent = max((len(name) for name, _ in kept), default=0) + 4
    for name, value in kept:
        print(wrapped(value, indent, f"  {name}"))


def heading(text: str) -> None:
    """Print a title with an empty line above it."""
    print(f"\n{paint(wrapped(text), 'bold')}")


def as_json(value: Any) -> None:
    """Print JSON in ASCII, so that stored text can't control a terminal.

    Angle brackets and DEL are escaped as well, since a model may read the output; in JSON, they occur in strings only.
    """
    print(re.sub("[<>\x7f]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, indent=2)))


def when(moment: float | None, now: float | None = None) -> str:
    """Return a time as ``3 days ago (2026-11-19)``; "never" for None."""
    if not moment:
        return "never"
    return f"{ago(moment, now)} ({datetime.fromtimestamp(moment).astimezone():%Y-%m-%d})"


def ago(moment: float, now: float | None = None) -> str:
    """Return a time as ``3 days ago``, in the largest unit that fits."""
    passed = (time() if now is None else now) - moment
    for unit, seconds in UNITS:
        if passed >= seconds:
            return f"{counted(int(passed // seconds), unit)} ago"
    return "just now" if passed >= 0 else "in the future"


def stamp(moment: float) -> str:
    """Return a time as ``2026-11-19 14:03:12``, in the local time zone."""
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M:%S}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 memory``, ``2 memories``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Sequence[object]) -> str:
    """Return the words as ``a, b, c``."""
    return ", ".join(line(word) for word in words)
