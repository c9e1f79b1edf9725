"""Reads a transcript on from where the last reading stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from subconscious.errors import TranscriptError
from subconscious.model import Turn
from subconscious.safe_files import NotRegularError, open_regular
from subconscious.transcripts.lines import Line, read_head, whole_lines
from subconscious.transcripts.records import Record, parse
from subconscious.transcripts.scribe import KNOWN_TYPES, Scribe
from subconscious.transcripts.state import State

BATCH_BYTES = 16 << 20
"""Bytes one call reads, by default, so that a long transcript never fills the memory."""

MOST_BYTES = 4 << 30
"""Bytes of a whole transcript. A sparse file of a terabyte would be one endless line to skip."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one call of ``read_turns`` found.

    ``offset`` is the end of the last whole line consumed, ``more`` whether another call would find lines now.
    ``restarted`` says that the file was another one than before. ``foreign`` says that it is no transcript of
    the client's, and ``reason`` why; nothing is consumed then. ``skipped`` counts lines that gave no turn, out of
    all the ``lines`` that were consumed.
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
    glimpses: bool = False,
) -> Reading:
    """Read the turns of a transcript from ``offset`` on.

    ``clean`` is applied to every text before anything else sees it; the flow passes the cutting of private
    spans, of our own injected text and of secrets, which this room does not know. A turn that is empty
    afterwards is dropped. ``glimpses`` of what tools did are added to the turns where they are asked for. ``final``
    also takes a last line without line feed, if it is whole JSON. Lines may come again after a restart, a fork or a
    resume: turns are keyed by their id. A file that is not there yet gives an empty reading. Raises TranscriptError
    when the file can't be read.
    """
    state = state or State()
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                reason = f"{path} is larger than {MOST_BYTES >> 30} GB"
                return Reading(offset=offset, state=state, foreign=True, reason=reason)
            return _Batch(path, file, clean, final, max_bytes, glimpses).read(offset, state)
    except NotRegularError as error:
        return Reading(offset=offset, state=state, foreign=True, reason=f"{path} is {error.strerror}")
    except FileNotFoundError:
        return Reading(offset=offset, state=state, reason=f"{path} does not exist yet")
    except OSError as error:
        raise TranscriptError(f"{path} can't be read: {error}", f"check the permissions of {path}") from error


@dataclass(frozen=True, slots=True)
class _Batch:
    """One call's reading of one open file."""

    path: Path
    file: BinaryIO
    clean: Callable[[str], str]
    final: bool
    max_bytes: int
    glimpses: bool = False

    def read(self, offset: int, state: State) -> Reading:
        status = os.fstat(self.file.fileno())
        restarted = offset > 0 and self._is_other_file(offset, state, status)
        begin = 0 if restarted else offset
        known = State() if restarted else state
        scribe = Scribe(str(self.path), known, status.st_mtime, self.clean, glimpses=self.glimpses)
        end = self._write(scribe, begin)
        if begin == 0 and (reason := self._why_foreign(scribe)):
            return Reading(offset=offset, state=state, foreign=True, reason=f"{self.path} {reason}")
        return Reading(
            turns=tuple(scribe.turns),
            offset=end,
            state=replace(scribe.state(), head=read_head(self.file, status.st_ino)),
            more=end - begin >= self.max_bytes and end < status.st_size,
            restarted=restarted,
            lines=scribe.lines_seen,
            skipped=dict(scribe.skipped),
            sessions=tuple(scribe.sessions),
            cwd=scribe.cwd,
            branch=scribe.branch,
        )

    def _is_other_file(self, offset: int, state: State, status: os.stat_result) -> bool:
        if offset > status.st_size:
            return True
        return state.head is not None and read_head(self.file, status.st_ino, state.head.length) != state.head

    def _write(self, scribe: Scribe, begin: int) -> int:
        """Give the batch's lines to the scribe; the end of the last one taken."""
        end = begin
        for line, record in self._records(begin):
            if record is None and line.open:
                break
            scribe.write(line, record)
            end = line.end
            if end - begin >= self.max_bytes:
                break
        return end

    def _records(self, begin: int) -> Iterator[tuple[Line, Record | None]]:
        for line in whole_lines(self.file, begin, final=self.final):
            yield line, parse(line.raw) if line.raw is not None else None

    def _why_foreign(self, scribe: Scribe) -> str:
        """Say why a file is no transcript, judged by its first batch, or ""."""
        if scribe.recognised or not os.fstat(self.file.fileno()).st_size:
            return ""
        self.file.seek(0)
        first = self.file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
        if first.startswith(b"<"):
            return "is markup, not a transcript"
        if b"\0" in first:
            return "is a binary file, not a transcript"
        if not scribe.lines_seen and first.startswith((b"{", b"[")) and not self.final:
            return ""
        if first.startswith((b"{\n", b"{\r", b"{ ", b"[")):
            return "is a single JSON document, not a transcript of one record a line"
        return f"holds no record of Claude Code's ({', '.join(sorted(KNOWN_TYPES)[:3])}, ...)"
