"""Helpers of the daemon tests: a daemon of the test's own, and sessions that talk to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bench.sessions import Speaker
from bench.tuned_daemon import write_config
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from tests.support.daemon_thread import serves_in_thread


def processes_of(home: Home) -> list[int]:
    """The daemon processes of a state folder."""
    assert not serves_in_thread(home), "this daemon is a thread: mark the test with @pytest.mark.process"
    marker = f"SUBCONSCIOUS_HOME={home.root}\0".encode()
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if _is_daemon(folder, marker)]


def _is_daemon(process: Path, marker: bytes) -> bool:
    try:
        # The command line first: few have the word, and reading both of all processes takes 10 ms at each test's end.
        return b"daemon" in (process / "cmdline").read_bytes() and marker in (process / "environ").read_bytes()
    except OSError:
        return False


def eventually(true: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether something becomes true in time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def configure(home: Home, **values: object) -> None:
    """Write the settings and values of a daemon; without an embedder and without link discovery by default."""
    write_config(home, {"embedder": '"none"', "link_limit": 0, **values})


def drained(home: Home) -> None:
    """Wait until everything handed over is worked off."""
    assert wire.call(home, "drain", {"timeout": 60}, 65) == {"drained": True, "embedded": True}


def new_session(home: Home, folder: Path) -> Speaker:
    """Another session. Where a daemon runs, it knows the session as one of the client's."""
    folder.mkdir(exist_ok=True)
    speaker = Speaker(home.root, folder)
    if home.socket.exists():
        speaker.introduce()
    return speaker


def stop(home: Home) -> None:
    """Stop the daemon of a state folder, if one runs."""
    with suppress(DaemonError):
        wire.call(home, "stop", timeout=2)
        wire.await_absence(home, 30)


def kill_processes(home: Home) -> None:
    """Kill the daemon processes of a state folder: also those that do not listen, or were stopped."""
    for pid in processes_of(home):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
