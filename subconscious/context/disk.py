"""A disk that is full, read-only or out of order, and a machine without free file descriptors."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import Iterator

WRITING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""What says that nothing can be written."""

SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})
"""What else is the machine's fault and may pass."""

SQLITE_WRITING = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY})
SQLITE_SCARCE = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM})


def is_machine_fault(error: BaseException) -> bool:
    """Whether the machine is to blame rather than the work: the same work succeeds once there is room again."""
    return _is_any(error, WRITING | SCARCE, SQLITE_WRITING | SQLITE_SCARCE)


def is_disk_fault(error: BaseException) -> bool:
    """Whether it says that nothing can be written."""
    return _is_any(error, WRITING, SQLITE_WRITING)


def _is_any(error: BaseException, numbers: frozenset[int], codes: frozenset[int]) -> bool:
    return any(_number(one) in numbers or _code(one) in codes for one in _causes(error))


def _number(error: BaseException) -> int | None:
    return error.errno if isinstance(error, OSError) else None


def _code(error: BaseException) -> int | None:
    """SQLite's primary result code: the low byte; the rest says more precisely what happened."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF if isinstance(error, sqlite3.Error) else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error with what it was raised from, and the members of a group."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _causes(member)
    if error.__cause__ is not None:
        yield from _causes(error.__cause__)


class Disk:
    """Whether something could not be written lately. ``trouble`` is the first reason, "" when everything works."""

    def __init__(self) -> None:
        self.trouble = ""
        self.failed = asyncio.Event()

    def note(self, error: BaseException) -> bool:
        """Remember a fault of the disk until it works again; return whether the machine is to blame at all."""
        if is_disk_fault(error):
            self.note_reason(str(error))
        return is_machine_fault(error)

    def note_reason(self, reason: str) -> None:
        """Remember that something could not be written."""
        self.trouble = self.trouble or reason
        self.failed.set()

    def forget(self) -> None:
        """It can be written again."""
        self.trouble = ""
        self.failed.clear()
