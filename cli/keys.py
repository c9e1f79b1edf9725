"""Reads single keys from a terminal, or whole lines where the terminal has no single-key mode."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

ESCAPE = b"\x1b"
END = "\x04"
"""Returned at the end of the input: the character of Ctrl-D."""


def read_key() -> str:
    """Wait for a key and return its character; "" for a key without one, such as an arrow."""
    with _without_lines() as raw:
        if not raw:
            return _first_of_line()
        source = sys.stdin.fileno()
        pressed = os.read(source, 1)
        if pressed == ESCAPE:
            _skip_sequence(source)
            return ""
        return pressed.decode("utf-8", "ignore") if pressed else END


def _skip_sequence(source: int) -> None:
    """Skip the rest of an escape sequence: an arrow key sends a bracket, digits and a letter at once."""
    brackets = b"[O"
    while select.select([source], [], [], 0.02)[0]:
        byte = os.read(source, 1)
        if byte not in brackets and b"@" <= byte <= b"~":
            return
        brackets = b""


def _first_of_line() -> str:
    try:
        return input().strip()[:1]
    except EOFError:
        return END


@contextmanager
def _without_lines() -> Iterator[bool]:
    """Switch the terminal to single keys without echo; yield False where that is impossible."""
    source = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(source)
    except termios.error:
        before = []
    if not before or os.environ.get("TERM") == "dumb":
        yield False
        return
    try:
        # TCSADRAIN keeps keys that were pressed before the question.
        tty.setcbreak(source, termios.TCSADRAIN)
        yield True
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


def read_line(prompt: str, given: str = "") -> str | None:
    """Read a line, prefilled with ``given`` where readline is available; return None on Ctrl-C or Ctrl-D."""
    try:
        with _prefilled(given):
            return input(prompt)
    except (EOFError, KeyboardInterrupt):
        print()
        return None


@contextmanager
def _prefilled(text: str) -> Iterator[None]:
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        readline.set_startup_hook(None)
