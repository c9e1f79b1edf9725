"""Restore: list the copies of the database, and put one in its place, under the daemon's lock and without it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from subconscious.errors import DaemonError, NotFoundError, SubconsciousError
from subconscious.home import Home
from subconscious.store import restoring
from subconscious.store.backups import Copy
from subconscious.store.check import Health, check

LATEST = "latest"
"""What the newest sound copy is called, whatever its name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A copy that can be put back, and what it holds; ``fault`` says why it can't be."""

    copy: Copy
    size: int
    memories: int
    fault: str = ""


def choices(home: Home) -> list[Choice]:
    """Every copy that is kept, looked through, the latest first."""
    return [_looked_through(copy) for copy in restoring.candidates(home.database)]


def _looked_through(copy: Copy) -> Choice:
    size = copy.path.stat().st_size
    try:
        return Choice(copy, size, check(copy.path).memories)
    except SubconsciousError as error:
        return Choice(copy, size, 0, error.message)


def find(home: Home, name: str) -> Path:
    """The copy that is meant by its name, or any file by its path. Raises NotFoundError."""
    if name == LATEST:
        return _latest(home)
    known = {copy.path.name: copy.path for copy in restoring.candidates(home.database)}
    path = known.get(name, Path(name).expanduser())
    if not path.is_file():
        raise NotFoundError(f"there is no copy {name!r}", "`subconscious restore` lists them")
    return path


def _latest(home: Home) -> Path:
    for choice in choices(home):
        if not choice.fault and choice.copy.schema:
            return choice.copy.path
    raise NotFoundError("there is no sound copy", "transcripts can be read again: subconscious capture")


def put_back(home: Home, copy: Path) -> tuple[Health, Path | None]:
    """Let a copy be the database; return what it holds, and where what it replaced lies.

    Raises DaemonError while a daemon has it, StoreError where the copy is not fit for it.
    """
    home.make()
    with _locked(home):
        return restoring.put_back(home.database, copy)


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    """Be the one who may write the database: the lock that makes a process the daemon."""
    lock = os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise DaemonError("the daemon holds the database", "subconscious daemon stop; then try again") from None
    finally:
        os.close(lock)
