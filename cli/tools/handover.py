"""Going on where the script that greeted has stopped (hooks/greet.py): the client must not notice.

What the client had said until then stands in a file: its greeting first, if it has greeted, which is answered already.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

STDIN, STDOUT = 0, 1
GREETING = 64 * 1024
"""Bytes in which a greeting ends."""


class Said(RawIOBase):
    """What was said before, then what is said now."""

    def __init__(self, handed: int, now: int) -> None:
        self._sources = [handed, now]

    def readable(self) -> bool:
        """It is read from."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read from the first source that has anything left."""
        while self._sources:
            if chunk := os.read(self._sources[0], len(buffer)):
                buffer[: len(chunk)] = chunk
                return len(chunk)
            del self._sources[0]
        return 0


class Answers(TextIOWrapper):
    """Stdout, less the answer to a greeting, which the client has."""

    silent = 0

    def write(self, text: str) -> int:
        """Write a line, unless it is one of the first that nobody waits for."""
        if self.silent:
            self.silent -= 1
            return len(text)
        return super().write(text)


@asynccontextmanager
async def handed_over(handed: int) -> AsyncGenerator[Any]:
    """The streams of a server that takes over."""
    said = TextIOWrapper(BufferedReader(Said(handed, STDIN)), encoding="utf-8", errors="replace")
    answers = Answers(os.fdopen(STDOUT, "wb", closefd=False), encoding="utf-8")
    answers.silent = int(_greeted(handed))
    async with stdio_server(anyio.wrap_file(said), anyio.wrap_file(answers)) as streams:
        yield streams


def _greeted(handed: int) -> bool:
    """Whether a greeting is the first that was said."""
    first = os.pread(handed, GREETING, 0).partition(b"\n")[0]
    return b'"initialize"' in first
