"""A real daemon of the test's own, from this checkout, and sessions that speak to it through the real hooks.

The daemon runs in a thread of the test process (``tests.support.daemon_thread``); tests with the marker ``process``
get a process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bench.sessions import Speaker
from bench.tuned_daemon import tuned_command
from daemon.core import Core
from daemon.embedding import Embedding
from subconscious import client
from subconscious.home import Home
from subconscious.settings import Settings
from subconscious.store.connect import Database
from tests.support.daemon_thread import DaemonThreads
from tests.support.daemons import configure, drained, eventually, kill_processes, new_session, processes_of, stop
from tests.support.databases import copy_migrated

__all__ = ["configure", "drained", "eventually", "new_session", "processes_of"]


@pytest.fixture
async def core(home: Home, database: Database) -> AsyncIterator[Core]:
    """What the daemon's parts share, over a store of its own; without a model and without a daemon."""
    made = Core(home, Settings(embedder="none"), database, Embedding("none", database))
    try:
        yield made
    finally:
        await made.embedding.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that start a daemon."""
    for item in items:
        if "stopped" in getattr(item, "fixturenames", ()):
            item.add_marker("daemon")


@pytest.fixture(autouse=True)
def daemon_threads(request: pytest.FixtureRequest) -> Iterator[DaemonThreads | None]:
    """Starts this test's daemons in threads, unless it is marked ``process``."""
    if request.node.get_closest_marker("process"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client, "daemon_command", tuned_command)
            yield None
        return
    threads = DaemonThreads()
    with threads.in_charge():
        yield threads
        threads.stop()


@pytest.fixture
def stopped(home: Home, daemon_threads: DaemonThreads | None) -> Iterator[Home]:
    """A configured state folder without a daemon; whatever runs for it afterwards is stopped."""
    configure(home)
    if daemon_threads:
        copy_migrated(home.database)
    yield home
    stop(home)
    if daemon_threads:
        daemon_threads.stop()
    kill_processes(home)


@pytest.fixture
def running(stopped: Home) -> Home:
    """A state folder with a daemon."""
    client.ensure_daemon(stopped)
    return stopped


@pytest.fixture
def speaker(running: Home, tmp_path: Path) -> Speaker:
    """A session in a project folder."""
    return new_session(running, tmp_path / "project")
