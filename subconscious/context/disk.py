"""Detects a full, read-only or broken disk, and a lack of file descriptors."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import Iterator

WRITING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""Errors that mean that nothing can be written."""

SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})
"""Further errors that the machine causes and that may be temporary."""

SQLITE_WRITING = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY})
SQLITE_SCARCE = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM})


def is_machine_fault(error: BaseException) -> bool:
    """Return whether the machine caused an error, so that the same work may succeed once the machine has recovered."""
    return _is_any(error, WRITING | SCARCE, SQLITE_WRITING | SQLITE_SCARCE)


def is_disk_fault(error: BaseException) -> bool:
    """Return whether an error means that nothing can be written."""
    return _is_any(error, WRITING, SQLITE_WRITING)


def _is_any(error: BaseException, numbers: frozenset[int], codes: frozenset[int]) -> bool:
    return any(_number(one) in numbers or _code(one) in codes for one in _causes(error))


def _number(error: BaseException) -> int | None:
    return error.errno if isinstance(error, OSError) else None


def _code(error: BaseException) -> int | None:
    """Return SQLite's primary result code, the low byte of the extended one."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF if isinstance(error, sqlite3.Error) else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes, and the members of exception groups."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _causes(member)
    if error.__cause__ is not None:
        yield from _causes(error.__cause__)


class Disk:
    """Records whether writes fail. ``trouble`` is the first error since writes last worked; else ""."""

    def __init__(self) -> None:
        self.trouble = ""
        self.failed = asyncio.Event()

    def note(self, error: BaseException) -> bool:
        """Record an error if it is a disk error; return whether the machine caused the error."""
        if is_disk_fault(error):
            self.note_reason(str(error))
        return is_machine_fault(error)

    def note_reason(self, reason: str) -> None:
        """Record that something could not be written, and why."""
        self.trouble = self.trouble or reason
        self.failed.set()

    def forget(self) -> None:
        """Record that writes work again."""
        self.trouble = ""
        self.failed.clear()
