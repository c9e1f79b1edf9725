"""Records which files of the product are executed by four requests, in a daemon within this process."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from bench.structure import PRODUCT, ROOT
from subconscious import wire
from subconscious.settings.home import Home
from tests.support.daemon_thread import DaemonThreads
from tests.support.daemons import configure, drained, new_session
from tests.support.databases import copy_migrated
from tests.support.reviewing import DECISION, listed, person
from tests.support.surfacing import ASKED, given, remember

UPLOADS = "The UploadWorker retries a failed chunk upload twice, because the proxy drops long connections."
SOFT = "Let's use pytest for the billing tests. What do you think?"
FOLDERS = tuple(f"{ROOT / folder}{os.sep}" for folder in PRODUCT)


class Profiler:
    """Notes the file of each function that any thread calls while it records."""

    def __init__(self) -> None:
        self._passed: set[str] | None = None

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and self._passed is not None and frame.f_code.co_name != "<module>":
            self._passed.add(frame.f_code.co_filename)

    @contextmanager
    def recording(self) -> Iterator[set[str]]:
        """Yield a set that holds the product's files, relative to the checkout, when the block has ended."""
        result: set[str] = set()
        self._passed = set()
        try:
            yield result
        finally:
            passed, self._passed = self._passed, None
            result.update(str(Path(name).relative_to(ROOT)) for name in passed if name.startswith(FOLDERS))


def walks() -> dict[str, set[str]]:
    """Return the files that each of the four walks passes, without hooks and commands, which are other processes."""
    profiler = Profiler()
    # Imported before the profiler is set, which makes imports so slow that a daemon seems not to answer.
    importlib.import_module("daemon.lifecycle")
    threading.setprofile(profiler)
    sys.setprofile(profiler)
    threads = DaemonThreads()
    with tempfile.TemporaryDirectory() as folder, threads.in_charge():
        try:
            return _walks(profiler, Home(Path(folder, "home")), Path(folder, "project"))
        finally:
            threads.stop()
            threading.setprofile(None)
            sys.setprofile(None)


def _walks(profiler: Profiler, home: Home, project: Path) -> dict[str, set[str]]:
    home.make()
    configure(home)
    copy_migrated(home.database)
    wire.ensure_daemon(home)
    speaker = new_session(home, project)
    drained(home)
    speaker.say(DECISION)
    with profiler.recording() as stored:
        speaker.hook("drop", "Stop")
        drained(home)
    remember(home, speaker, UPLOADS)
    asker = new_session(home, project)
    asker.ask("SessionStart", source="startup")
    drained(home)
    with profiler.recording() as prompted:
        given(asker, ASKED)
    speaker.say(SOFT)
    speaker.hook("drop", "Stop")
    drained(home)
    with profiler.recording() as approved:
        person(home, "approve", ids=[int(listed(home, speaker, "review")[-1]["id"])])
    return {
        "Stop entry to memory": stored,
        "prompt to context": prompted,
        "approve to row": approved,
        "MCP search": _searched(profiler, home, project),
    }


def _searched(profiler: Profiler, home: Home, project: Path) -> set[str]:
    """Return the files that a search of the model passes: the server's in this thread, and the daemon's."""
    from cli.tools import server

    os.environ |= {"SUBCONSCIOUS_HOME": str(home.root), "CLAUDE_PROJECT_DIR": str(project)}
    with profiler.recording() as passed:
        answer = server.result(server.BY_NAME["memory_search"], {"query": "integer cents"}, server.Daemon())
    assert DECISION in str(answer), answer
    return passed
