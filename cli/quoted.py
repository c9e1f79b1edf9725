"""What the model reads of our output inside Claude Code: quoted data, framed as at a session's start."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from subconscious.quoting import CLOSING, OPENING, harmless

from . import origin

TELLS = frozenset(
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
"""Verbs that print what memories and sessions say: it goes into a frame."""

FRAMED = frozenset({"graphs:why", "mcp:serve", "memories:recall"})
"""Verbs whose text is framed already."""


@contextmanager
def quoted(options: Namespace) -> Iterator[None]:
    """Make harmless whatever the model is to read, and frame it where it is stored text; a person sees it as it is."""
    if options.json or options.verb in FRAMED or not origin.inside_client():
        yield
        return
    opening, closing = (OPENING, f"{CLOSING}\n") if options.verb in TELLS else ("", "")
    out = sys.stdout
    harmlessly = _Harmless(out)
    out.write(opening)
    try:
        with redirect_stdout(harmlessly):
            yield
    finally:
        harmlessly.flush()
        out.write(closing)


class _Harmless(io.TextIOBase):
    """A stream that makes each line harmless on its way; a line that is not ended waits for the flush."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._line = ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._out.write(f"{harmless(line)}\n")
        return len(text)

    def flush(self) -> None:
        self._out.write(harmless(self._line))
        self._line = ""
        self._out.flush()
