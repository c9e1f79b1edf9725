"""One daemon per state folder.

Only the lock on ``run/daemon.lock`` decides which process is the daemon, not a pid file or a port. The system releases
the lock when the process ends. The file is never deleted, because a lock on a deleted file excludes nobody.

This module is light to import: if twenty sessions start twenty daemons at once, nineteen get no further than here.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from time import monotonic, sleep

from subconscious import __version__, wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home

HANDOVER_SECONDS = 30.0
"""Seconds that an older daemon may take to finish its jobs after it was asked to stop for a newer one."""

SETTLING_SECONDS = 15.0
"""Seconds to wait for a process that has the lock but does not listen: it is starting or stopping."""


class Lock:
    """The exclusive lock that makes a process the daemon."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self) -> bool:
        """Take the lock; return False if another process has it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @property
    def held(self) -> bool:
        """Whether the lock is still effective: the file, or the whole folder, may have been deleted."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except OSError:
            return False

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)


def become_daemon(home: Home) -> Lock | None:
    """Take the lock, after asking an older daemon to stop; return None if a daemon at least as new is running."""
    lock = Lock(home.lock)
    deadline = monotonic() + SETTLING_SECONDS
    asked = False
    while not lock.take():
        if not asked and _yields(home):
            asked, deadline = True, monotonic() + HANDOVER_SECONDS
        elif not asked and _answers(home):
            lock.release()
            return None
        if monotonic() > deadline:
            lock.release()
            raise DaemonError(
                "another daemon holds the lock and does not answer", "run `subconscious daemon stop --force`"
            )
        sleep(0.02)
    return lock


def _answers(home: Home) -> bool:
    try:
        wire.hello(home, 1.0)
    except DaemonError:
        return False
    return True


def _yields(home: Home) -> bool:
    """Ask the running daemon to stop for this one; it stops only if this version is strictly newer."""
    try:
        return bool(wire.call(home, "yield", {"version": __version__}, 1.0)["stopping"])
    except DaemonError:
        return False
