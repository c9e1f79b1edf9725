"""Redacts the log: removes secrets, and the messages of errors that may quote a user's text."""

from __future__ import annotations

import logging
import sqlite3
import traceback
from types import TracebackType

from subconscious.context.entry import BrokenEntryError
from subconscious.domain.errors import SubconsciousError

SAFE_ERRORS = (SubconsciousError, OSError, sqlite3.Error, BrokenEntryError, ImportError, TimeoutError)
"""Errors with messages about files, tables and remedies; messages of other errors may quote their input."""

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class RedactingFormatter(logging.Formatter):
    """Formats a record and redacts the result."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or the lines of a traceback, without secrets."""
        # Imported here, so that a daemon without log messages does not wait for the patterns.
        from subconscious.redaction import cut_private, redact

        return redact(cut_private(super().format(record))).text

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - the name is logging's
        """Return the traceback of an error, without the error's message if that may quote a user's text."""
        _, error, frames = ei
        if error is None:
            return ""
        return "".join(traceback.format_tb(frames)) + describe_error(error)


def describe_error(error: BaseException) -> str:
    """Return a description of an error that is safe to store."""
    return f"{type(error).__name__}: {error}" if isinstance(error, SAFE_ERRORS) else type(error).__name__
