"""The daemon on an event loop in a thread of the test process: the same code on the same socket, without the start of a
Python and its imports, which take a second.

What belongs to a whole process is missing: signals, the limit of open files, death. Tests of those carry the marker
``process``.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from bench.tuned_daemon import apply_tuning
from daemon.__main__ import log_handler, serve
from subconscious import wire
from subconscious.app import active_settings
from subconscious.authorship import attestation
from subconscious.domain.errors import DaemonError, SubconsciousError
from subconscious.knowledge import rendering
from subconscious.redaction import ledger
from subconscious.settings.home import Home
from subconscious.surfacing import published_files

STOPPING_SECONDS = 30.0


class DaemonThread:
    """Stands for the process that ``client.start`` returns."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.returncode: int | None = None
        self._thread = threading.Thread(target=self._run, name=_name(home), daemon=True)
        self._thread.start()

    def poll(self) -> int | None:
        """The exit code; None while the daemon runs."""
        return None if self._thread.is_alive() else self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the daemon; return its exit code."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise subprocess.TimeoutExpired("daemon", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def __getattr__(self, name: str) -> Any:
        """Refuse what needs a process: its id, signals to it."""
        raise AttributeError(f"a daemon in a thread has no {name}: mark the test with @pytest.mark.process")

    def _run(self) -> None:
        self.returncode = 1
        _forget()
        apply_tuning(self.home)
        try:
            self.home.make()
            self.home.mend()
        except (SubconsciousError, OSError) as error:
            logging.getLogger("subconscious.daemon").error("the state folder can't be used: %s", error)  # noqa: TRY400
            return
        with _logging_to(self.home):
            self.returncode = serve(self.home, handle_signals=False)


def _forget() -> None:
    """Drop what a new process would not know: settings of before, and what was redacted for other tests."""
    ledger.take()
    for value in vars(active_settings).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


@contextmanager
def _logging_to(home: Home) -> Iterator[None]:
    handler = log_handler(home)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


class DaemonThreads:
    """Starts the daemons of one test in threads, and ends them with it."""

    def __init__(self) -> None:
        self._started: list[DaemonThread] = []

    def start(self, home: Home) -> DaemonThread:
        """Start a daemon, in the place of ``client.start``; the lock decides if there are two."""
        started = DaemonThread(home)
        self._started.append(started)
        return started

    @contextmanager
    def in_charge(self) -> Iterator[None]:
        """Have daemons started here; what a process of their own would set for itself is set meanwhile."""
        mask = os.umask(0o077)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wire, "start", self.start)
            patch.setattr(logging.getLogger(), "level", logging.INFO)
            patch.setattr(logging.getLogger("watchfiles"), "level", logging.WARNING)
            patch.setattr(os, "kill", _kill)
            # Of these a test would only see that they take seconds.
            patch.setattr(rendering, "PAUSE", 0.2)
            patch.setattr(published_files, "PAUSE", 0.2)
            patch.setattr(attestation, "WRITTEN_SECONDS", 2.0)
            try:
                yield
            finally:
                os.umask(mask)
                apply_tuning(None)

    def stop(self) -> None:
        """Stop all that still run; fail the test where one does not end."""
        for started in self._started:
            if started.poll() is None:
                with suppress(DaemonError):
                    wire.call(started.home, "stop", timeout=5)
            try:
                started.wait(STOPPING_SECONDS)
            except subprocess.TimeoutExpired:
                faulthandler.dump_traceback(all_threads=True)
                pytest.fail(f"the daemon of {started.home.root} does not end; see the stacks above")


def _kill(process: int, number: int, send: Callable[[int, int], None] = os.kill) -> None:
    """Send a signal, but not one that would end or stop the test process in the place of a daemon."""
    assert process != os.getpid() or number not in (signal.SIGKILL, signal.SIGSTOP), "mark the test with `process`"
    send(process, number)


def serves_in_thread(home: Home) -> bool:
    """Whether a daemon in a thread of this process serves a state folder."""
    return any(thread.name == _name(home) for thread in threading.enumerate())


def _name(home: Home) -> str:
    return f"daemon of {home.root}"
