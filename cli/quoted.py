"""Output of commands that the model runs in Claude Code: neutralized, and framed as quoted data where needed.

To neutralize text means to remove invisible characters, and to disarm imitations of a client's tags and of speakers.
"""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from . import origin

QUOTES_STORED_TEXT = frozenset(
    {
        "archiving:archive",
        "archiving:unarchive",
        "fading:decay",
        "graphs:graph",
        "links:conflicts",
        "links:link",
        "links:links",
        "memories:list_memories",
        "memories:search",
        "memories:show",
        "sessions:sessions",
        "sessions:why_surfaced",
    }
)
"""Commands that print text of memories and sessions, which is put into a frame."""

FRAMED_BY_DAEMON = frozenset({"graphs:why", "mcp:serve", "memories:recall"})
"""Commands with output that the daemon or the MCP server has already put into a frame."""


@contextmanager
def quoted(options: Namespace) -> Iterator[None]:
    """Neutralize the output of a command that the model runs, and frame the text of memories and sessions.

    Output for a person, JSON, and output that has a frame already are not changed.
    """
    if options.json or options.function in FRAMED_BY_DAEMON or not origin.inside_client():
        yield
        return
    from subconscious.text.quoting import CLOSING, OPENING, harmless  # its patterns take time to compile

    opening, closing = (OPENING, f"{CLOSING}\n") if options.function in QUOTES_STORED_TEXT else ("", "")
    out = sys.stdout
    neutralized = _NeutralizingStream(out, harmless)
    out.write(opening)
    try:
        with redirect_stdout(neutralized):
            yield
    finally:
        neutralized.flush()
        out.write(closing)


class _NeutralizingStream(io.TextIOBase):
    """A stream that neutralizes each line before writing it; an unfinished line is kept until the flush."""

    def __init__(self, out: TextIO, harmless: Callable[[str], str]) -> None:
        self._harmless = harmless
        self._out = out
        self._line = ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._out.write(f"{self._harmless(line)}\n")
        return len(text)

    def flush(self) -> None:
        self._out.write(self._harmless(self._line))
        self._line = ""
        self._out.flush()
