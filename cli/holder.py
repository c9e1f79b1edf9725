"""The process that holds the daemon's lock: wait until it exits, or kill it when it no longer answers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from time import monotonic, sleep

from subconscious.settings.home import Home
from subconscious.system.programs import find_program
from subconscious.system.safe_files import read_regular
from subconscious.wire import is_unlocked

MAX_BYTES = 4096
"""The most bytes of run/daemon.json that are read."""

COMMAND = re.compile(r" -m (?:subconscious\.)?daemon run\s*\Z")
"""The end of the command line of a daemon, whether installed or run from a checkout."""


def await_end(home: Home, seconds: float) -> bool:
    """Wait up to ``seconds`` until the daemon's lock is free; return whether it is.

    A closed socket is not enough: a daemon closes its socket before its database.
    """
    deadline = monotonic() + seconds
    while not (free := is_unlocked(home)) and monotonic() < deadline:
        sleep(0.02)
    return free


def kill(home: Home) -> int | None:
    """Kill the daemon that holds the lock; return its process id, or None if no such daemon was found.

    Nothing is lost: the next daemon continues its work.
    """
    process = _holder(home)
    if process is None or not _is_daemon(process):
        return None
    # SIGKILL, because a process that was stopped (SIGSTOP) receives no other signal.
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    return process


def _holder(home: Home) -> int | None:
    """Return the process id in daemon.json; None if the lock is free: then an earlier daemon wrote the file."""
    if is_unlocked(home):
        return None
    try:
        return int(json.loads(read_regular(home.run / "daemon.json", MAX_BYTES))["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_daemon(process: int) -> bool:
    """Return whether `ps` shows that the process is a daemon; the id may have been reused for another program."""
    program = find_program("ps")
    if not program:
        return False
    shown = subprocess.run(  # noqa: S603 - fixed words and a number
        [program, "-o", "command=", "-p", str(process)],
        capture_output=True,
        text=True,
        check=False,
    )
    return bool(COMMAND.search(shown.stdout))
