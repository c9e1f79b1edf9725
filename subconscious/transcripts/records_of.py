"""Reads the records of a transcript line by line, in Claude Code's format, for every client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from subconscious.clients import CLIENTS, Client
from subconscious.transcripts.lines import Line, whole_lines
from subconscious.transcripts.records import Record, parse

_HEAD_BYTES = 512


def records_of(
    file: BinaryIO, begin: int, *, final: bool, hints: Sequence[bytes] = ()
) -> Iterator[tuple[Line, Sequence[Record] | None]]:
    """Yield the lines from ``begin`` on, each with its records in Claude Code's format; None if it has no JSON object.

    A line of Claude Code is one record; a line of another client becomes any number of records. With ``hints``, lines
    of Claude Code that contain none of them are left out.
    """
    client = client_of(file)
    for line in whole_lines(file, begin, final=final):
        if client is None and hints and not (line.raw and any(hint in line.raw for hint in hints)):
            continue
        record = parse(line.raw) if line.raw is not None else None
        if client is None or record is None:
            yield line, None if record is None else (record,)
        else:
            yield line, client.records(record)


def client_of(file: BinaryIO) -> Client | None:
    """Return the client that wrote a transcript, by its first line; None for Claude Code."""
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    return next((client for client in CLIENTS.values() if client.transcript.match(head)), None)
