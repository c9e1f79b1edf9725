"""A real daemon of the test's own, from this checkout, and sessions that speak to it through the real hooks."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bench.sessions import Speaker
from daemon.core import Core
from daemon.embedding import Embedding
from subconscious import client
from subconscious.errors import DaemonError
from subconscious.home import Home
from subconscious.settings import Settings
from subconscious.store.connect import Database


def processes_of(home: Home) -> list[int]:
    """The processes that run for a state folder."""
    marker = f"SUBCONSCIOUS_HOME={home.root}\0".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if marker in (folder / "environ").read_bytes() and b"daemon" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def eventually(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something becomes true in time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
async def core(home: Home, database: Database) -> AsyncIterator[Core]:
    """What the daemon's parts share, over a store of its own; without a model and without a daemon."""
    made = Core(home, Settings(embedder="none"), database, Embedding("none", database))
    try:
        yield made
    finally:
        await made.embedding.close()


def configure(home: Home, **values: object) -> None:
    """Write config.toml; without a model, and without links found by themselves, unless the test asks for them."""
    lines = {"embedder": '"none"', "link_limit": 0, **{name: str(value).lower() for name, value in values.items()}}
    (home.root / "config.toml").write_text("".join(f"{name} = {value}\n" for name, value in lines.items()))


def drained(home: Home) -> None:
    """Wait until everything handed over is worked off."""
    assert client.call(home, "drain", {"timeout": 20}, 25) == {"drained": True, "embedded": True}


@pytest.fixture
def stopped(home: Home) -> Iterator[Home]:
    """A configured state folder without a daemon; whatever runs for it afterwards is killed."""
    configure(home)
    yield home
    with suppress(DaemonError):
        client.call(home, "stop", timeout=2)
        client.await_absence(home, 10)
    for pid in processes_of(home):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def running(stopped: Home) -> Home:
    """A state folder with a daemon."""
    client.ensure_daemon(stopped)
    return stopped


@pytest.fixture
def speaker(running: Home, tmp_path: Path) -> Speaker:
    """A session in a project folder."""
    return new_session(running, tmp_path / "project")


def new_session(home: Home, folder: Path) -> Speaker:
    """Another session."""
    folder.mkdir(exist_ok=True)
    return Speaker(home.root, folder)
