"""Reads the turns of a transcript from the position where the last call stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from subconscious.domain.errors import TranscriptError
from subconscious.domain.model import Turn
from subconscious.system.safe_files import NotRegularError, open_regular
from subconscious.transcripts.lines import read_head
from subconscious.transcripts.records_of import records_of
from subconscious.transcripts.state import State
from subconscious.transcripts.turn_builder import KNOWN_TYPES, TurnBuilder

BATCH_BYTES = 16 << 20
"""Bytes that one call reads by default, so that a long transcript never fills the memory."""

MOST_BYTES = 4 << 30
"""The largest transcript, in bytes. A sparse file of a terabyte would be one line that takes hours to skip."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of ``read_turns``.

    ``offset`` is the end of the last line that was read, ``more`` whether another call would find lines now.
    ``restarted``: the file was replaced by another one, or is shorter than before. ``foreign``: the file is not a
    transcript, and nothing was read. ``reason`` says why a file is foreign, or that it does not exist yet. ``lines``
    is the number of lines that were read; ``skipped`` counts lines and records without a turn, by reason. ``sessions``
    are the ids of the sessions that the lines name.
    """

    turns: tuple[Turn, ...] = ()
    offset: int = 0
    state: State = field(default_factory=State)
    more: bool = False
    restarted: bool = False
    foreign: bool = False
    reason: str = ""
    lines: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    sessions: tuple[str, ...] = ()
    cwd: str = ""
    branch: str = ""


def _unchanged(text: str) -> str:
    return text


def read_turns(
    path: Path,
    offset: int = 0,
    state: State | None = None,
    *,
    final: bool = False,
    max_bytes: int = BATCH_BYTES,
    clean: Callable[[str], str] = _unchanged,
    tool_excerpts: bool = False,
) -> Reading:
    """Read the turns of a transcript from ``offset`` on.

    ``clean`` is applied to every text first; the caller passes a function that removes private spans, our own injected
    text and secrets. A turn that is empty afterwards is dropped. ``tool_excerpts``: add excerpts of tool calls to the
    turns. ``final``: also read a last line without line feed, if it is complete JSON. After a restart, a fork or a
    resume, lines may be read twice: callers recognise turns by their ids. If the file does not exist, the result has no
    turns. Raises TranscriptError if the file can't be read.
    """
    state = state or State()
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                reason = f"{path} is larger than {MOST_BYTES >> 30} GB"
                return Reading(offset=offset, state=state, foreign=True, reason=reason)
            return _Batch(path, file, clean, final, max_bytes, tool_excerpts).read(offset, state)
    except NotRegularError as error:
        return Reading(offset=offset, state=state, foreign=True, reason=f"{path} is {error.strerror}")
    except FileNotFoundError:
        return Reading(offset=offset, state=state, reason=f"{path} does not exist yet")
    except OSError as error:
        raise TranscriptError(f"{path} can't be read: {error}", f"check the permissions of {path}") from error


@dataclass(frozen=True, slots=True)
class _Batch:
    """Reads one batch of lines of an open file."""

    path: Path
    file: BinaryIO
    clean: Callable[[str], str]
    final: bool
    max_bytes: int
    tool_excerpts: bool = False

    def read(self, offset: int, state: State) -> Reading:
        status = os.fstat(self.file.fileno())
        restarted = offset > 0 and self._is_other_file(offset, state, status)
        begin = 0 if restarted else offset
        known = State() if restarted else state
        builder = TurnBuilder(str(self.path), known, status.st_mtime, self.clean, tool_excerpts=self.tool_excerpts)
        end = self._write(builder, begin)
        if begin == 0 and (reason := self._why_foreign(builder)):
            return Reading(offset=offset, state=state, foreign=True, reason=f"{self.path} {reason}")
        return Reading(
            turns=tuple(builder.turns),
            offset=end,
            state=replace(builder.state(), head=read_head(self.file, status.st_ino)),
            more=end - begin >= self.max_bytes and end < status.st_size,
            restarted=restarted,
            lines=builder.lines_seen,
            skipped=dict(builder.skipped),
            sessions=tuple(builder.sessions),
            cwd=builder.cwd,
            branch=builder.branch,
        )

    def _is_other_file(self, offset: int, state: State, status: os.stat_result) -> bool:
        if offset > status.st_size:
            return True
        return state.head is not None and read_head(self.file, status.st_ino, state.head.length) != state.head

    def _write(self, builder: TurnBuilder, begin: int) -> int:
        """Pass the batch's lines to the builder; return the offset after the last line passed."""
        end = begin
        for line, records in records_of(self.file, begin, final=self.final):
            if records is None and line.open:
                break
            builder.write(line, records)
            end = line.end
            if end - begin >= self.max_bytes:
                break
        return end

    def _why_foreign(self, builder: TurnBuilder) -> str:
        """Return why a file is not a transcript, judged by its first batch, or ""."""
        if builder.recognised or not os.fstat(self.file.fileno()).st_size:
            return ""
        self.file.seek(0)
        first = self.file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
        if first.startswith(b"<"):
            return "is markup, not a transcript"
        if b"\0" in first:
            return "is a binary file, not a transcript"
        if not builder.lines_seen and first.startswith((b"{", b"[")) and not self.final:
            return ""
        if first.startswith((b"{\n", b"{\r", b"{ ", b"[")):
            return "is a single JSON document; a transcript has one record on each line"
        return f"contains no record of Claude Code ({', '.join(sorted(KNOWN_TYPES)[:3])}, ...)"
