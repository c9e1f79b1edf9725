"""Reads complete lines of a growing file from an offset, with one line in memory at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

LONGEST_LINE = 32 << 20
"""The longest line that is read, in bytes: requests to the model are smaller, and so are the lines of turns."""

_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """One line's bytes and its position.

    ``raw`` is None for a line longer than LONGEST_LINE. ``open`` means that the line has no line feed at its end yet.
    """

    start: int
    end: int
    raw: bytes | None
    open: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """A fingerprint that distinguishes files with the same name: the inode and a hash of the first bytes."""

    inode: int
    length: int
    digest: str


def read_head(file: BinaryIO, inode: int, length: int = _HEAD_BYTES) -> Head:
    """Return the fingerprint of the first ``length`` bytes, or fewer.

    To recognise a file that has grown since, pass the length of its earlier fingerprint.
    """
    file.seek(0)
    first = file.read(min(length, _HEAD_BYTES))
    return Head(inode, len(first), hashlib.sha256(first).hexdigest())


def whole_lines(file: BinaryIO, offset: int, *, final: bool) -> Iterator[Line]:
    """Yield the lines from ``offset`` on; a last line without line feed only if ``final``."""
    file.seek(offset)
    while raw := file.readline(LONGEST_LINE):
        start, offset = offset, offset + len(raw)
        if raw.endswith(b"\n"):
            yield Line(start, offset, raw)
        elif len(raw) < LONGEST_LINE:
            if final:
                yield Line(start, offset, raw, open=True)
            return
        else:
            found, offset = _skip_rest(file, offset)
            if not (found or final):
                return
            yield Line(start, offset, None)


def skip_line(file: BinaryIO, offset: int) -> int:
    """Return the offset after the line at the file's position, without loading the line into memory."""
    return _skip_rest(file, offset)[1]


def _skip_rest(file: BinaryIO, offset: int) -> tuple[bool, int]:
    """Read to the end of the line; return whether a line feed was found, and the offset after it."""
    while chunk := file.readline(1 << 20):
        offset += len(chunk)
        if chunk.endswith(b"\n"):
            return True, offset
    return False, offset
