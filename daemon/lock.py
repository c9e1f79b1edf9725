"""One daemon a state folder.

The lock of ``run/daemon.lock`` decides who is the daemon, and nothing else: no pid file, no port. It goes with the
process, however that ends. The file itself is never deleted, for a lock on a deleted file excludes nobody.

Light to import: of twenty daemons that twenty sessions start at once, nineteen get no further than here.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from time import monotonic, sleep

from subconscious import __version__, client
from subconscious.errors import DaemonError
from subconscious.home import Home

HANDOVER_SECONDS = 30.0
"""Time an older daemon has to finish its jobs once it was asked to yield."""

SETTLING_SECONDS = 3.0
"""Time a holder of the lock that does not listen has: it is just starting, or just leaving."""


class Lock:
    """The exclusive lock that makes a process the daemon."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self) -> bool:
        """Take the lock if nobody has it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @property
    def held(self) -> bool:
        """Whether the lock still means anything: somebody may have deleted the file, or the whole folder."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except OSError:
            return False

    def release(self) -> None:
        """Let the next one in."""
        os.close(self._file)


def become_daemon(home: Home) -> Lock | None:
    """Take the lock, displacing a daemon that is strictly older; None when the one that runs shall go on."""
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
        client.hello(home, 1.0)
    except DaemonError:
        return False
    return True


def _yields(home: Home) -> bool:
    """Ask the running daemon to leave for us; it does so only for a strictly newer version."""
    try:
        return bool(client.call(home, "yield", {"version": __version__}, 1.0)["stopping"])
    except DaemonError:
        return False
