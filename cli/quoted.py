"""Makes the output of commands that the model runs in Claude Code harmless, and marks quoted data in it.

Text is made harmless by removing invisible characters and by changing client tags and speakers' names in it, so that
they have no effect. The text of memories and sessions is framed: marks before and after it show the model that it is
data and contains no instructions.
"""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from . import origin
from .command_line import Text


@contextmanager
def quoted(options: Namespace) -> Iterator[None]:
    """Make the output of a command that the model runs harmless, and frame the text of memories and sessions.

    Output for a person, JSON, and output that has a frame already are not changed.
    """
    if options.json or options.prints is Text.FRAMED or not origin.inside_client():
        yield
        return
    from subconscious.text.quoting import CLOSING, OPENING, harmless  # its patterns take time to compile

    opening, closing = (OPENING, f"{CLOSING}\n") if options.prints is Text.STORED else ("", "")
    neutralized = _NeutralizingStream(sys.stdout, harmless, opening)
    try:
        with redirect_stdout(neutralized):
            yield
    finally:
        neutralized.close_with(closing)


class _NeutralizingStream(io.TextIOBase):
    """A stream that makes each line harmless before writing it, and writes ``opening`` before the first one.

    An unfinished line is kept until it is completed or the stream is flushed.
    """

    def __init__(self, out: TextIO, harmless: Callable[[str], str], opening: str) -> None:
        self._harmless = harmless
        self._out = out
        self._opening = opening
        self._line = ""
        self._is_begun = False

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._write(f"{self._harmless(line)}\n")
        return len(text)

    def flush(self) -> None:
        if self._line:
            self._write(self._harmless(self._line))
        self._line = ""
        self._out.flush()

    def close_with(self, closing: str) -> None:
        """Flush the stream; then write ``closing`` if anything was written."""
        self.flush()
        if self._is_begun:
            self._out.write(closing)

    def _write(self, text: str) -> None:
        self._out.write(text if self._is_begun else self._opening + text)
        self._is_begun = True
