"""Single keys from a terminal; whole lines where it can't give single keys."""

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
"""What is returned when there is nobody any more: what Ctrl-D sends."""


def read_key() -> str:
    """Wait for one key; "" for a key without a character, such as an arrow."""
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
    """Leave out what follows an escape: an arrow sends a bracket, numbers and a letter, and all at once."""
    brackets = b"[O"
    while select.select([source], [], [], 0.02)[0]:
        sign = os.read(source, 1)
        if sign not in brackets and b"@" <= sign <= b"~":
            return
        brackets = b""


def _first_of_line() -> str:
    try:
        return input().strip()[:1]
    except EOFError:
        return END


@contextmanager
def _without_lines() -> Iterator[bool]:
    """The terminal gives keys as they are pressed, unseen; False where it can't."""
    source = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(source)
    except termios.error:
        before = []
    if not before or os.environ.get("TERM") == "dumb":
        yield False
        return
    try:
        # Drained, not flushed: keys that were pressed ahead count.
        tty.setcbreak(source, termios.TCSADRAIN)
        yield True
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


def read_line(prompt: str, given: str = "") -> str | None:
    """Ask for a line that begins as ``given``, where lines can be edited; None when the person thinks better of it."""
    try:
        with _given(given):
            return input(prompt)
    except (EOFError, KeyboardInterrupt):
        print()
        return None


@contextmanager
def _given(text: str) -> Iterator[None]:
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
