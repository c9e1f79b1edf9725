"""A real daemon of the test's own, from this checkout, and sessions that speak to it through the real hooks.

The daemon runs in a thread of the test process (``tests.support.daemon_thread``); tests with the marker ``process``
get a process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import cli.ask
from bench.sessions import Speaker
from bench.tuned_daemon import tuned_command
from subconscious import wire
from subconscious.app import App
from subconscious.embeddings.background import Embedding
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store.connect import Database
from tests.support.daemon_thread import DaemonThreads
from tests.support.daemons import configure, drained, eventually, kill_processes, new_session, processes_of, stop
from tests.support.databases import copy_migrated
from tests.support.shapes import check_answer

__all__ = ["configure", "drained", "eventually", "new_session", "processes_of"]


@pytest.fixture
async def app(home: Home, database: Database) -> AsyncIterator[App]:
    """What the daemon's parts share, over a store of its own; without a model and without a daemon."""
    made = App(home, Settings(embedder="none"), database, Embedding("none", database))
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
def every_answer_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare each answer of a real daemon with the type that is declared for it."""
    call = wire.call

    def checked(home: Home, cmd: str, *args: Any, **named: Any) -> dict[str, Any]:
        answer = call(home, cmd, *args, **named)
        check_answer(cmd, answer)
        return answer

    for module in (wire, cli.ask):
        monkeypatch.setattr(module, "call", checked)


@pytest.fixture(autouse=True)
def daemon_threads(request: pytest.FixtureRequest) -> Iterator[DaemonThreads | None]:
    """Starts this test's daemons in threads, unless it is marked ``process``."""
    if request.node.get_closest_marker("process"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wire, "daemon_command", tuned_command)
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
    wire.ensure_daemon(stopped)
    return stopped


@pytest.fixture
def speaker(running: Home, tmp_path: Path) -> Speaker:
    """A session in a project folder."""
    return new_session(running, tmp_path / "project")
