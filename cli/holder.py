"""The process that holds the daemon's lock: waiting for its end, and ending it when it no longer answers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from time import monotonic, sleep

from subconscious.client import is_unlocked
from subconscious.home import Home
from subconscious.programs import find_program
from subconscious.safe_files import read_regular

LARGEST_NOTE = 4096

COMMAND = re.compile(r" -m (?:subconscious\.)?daemon run\s*\Z")
"""How a daemon's command line ends, installed or in a checkout."""


def await_end(home: Home, seconds: float) -> bool:
    """Wait until nobody holds the lock: a daemon closes its socket before its database."""
    deadline = monotonic() + seconds
    while not (free := is_unlocked(home)) and monotonic() < deadline:
        sleep(0.02)
    return free


def kill(home: Home) -> int | None:
    """End the holder of the lock for good; return its process id, or None when nobody holds it.

    Nothing is lost: what it worked on is taken up again by the next daemon.
    """
    process = _holder(home)
    if process is None or not _is_daemon(process):
        return None
    # SIGKILL, for a process that was stopped (SIGSTOP) hears nothing else.
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    return process


def _holder(home: Home) -> int | None:
    """What daemon.json names, provided that the lock is held: the file alone may be of a daemon long gone."""
    if is_unlocked(home):
        return None
    try:
        return int(json.loads(read_regular(home.run / "daemon.json", LARGEST_NOTE))["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_daemon(process: int) -> bool:
    """A process id may have been given to another program since."""
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
