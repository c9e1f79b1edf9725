"""What the log may say: never a secret, and of an error that may quote a text, its sort and place alone."""

from __future__ import annotations

import logging
import sqlite3
import traceback
from types import TracebackType

from subconscious.errors import SubconsciousError

from .entry import BrokenEntryError

SPEAKING = (SubconsciousError, OSError, sqlite3.Error, BrokenEntryError, ImportError, TimeoutError)
"""Errors whose words are of files, tables and remedies; others may quote what they failed on."""

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class DiscreetFormatter(logging.Formatter):
    """Formats a record, and redacts what comes of it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, or the lines of a traceback, without secrets."""
        # Imported only now: a daemon that has nothing to say must not wait for the patterns.
        from subconscious.redaction import cut_private, redact

        return redact(cut_private(super().format(record))).text

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - the name is logging's
        """Where an error happened, and what it was."""
        _, error, place = ei
        if error is None:
            return ""
        return "".join(traceback.format_tb(place)) + said(error)


def said(error: BaseException) -> str:
    """An error in words that are fit to be kept."""
    return f"{type(error).__name__}: {error}" if isinstance(error, SPEAKING) else type(error).__name__
