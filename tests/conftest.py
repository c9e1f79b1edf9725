"""Shared fixtures: a state folder, a store, a project."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from subconscious.redaction import policy
from subconscious.settings.home import Home
from subconscious.store.connect import Database, open_database
from subconscious.store.projects import Project, find_or_create
from subconscious.system.projects import Identity
from tests.support.databases import copy_migrated
from tests.support.installation import environments, plugin

__all__ = ["environments", "plugin"]

# A busy machine may stop for a second in the middle of an example; how long a test may take is said by its time-out.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
settings.register_profile("quick", settings.get_profile("unhurried"), max_examples=10)


def pytest_configure() -> None:
    """Prepare the environment of the many processes that tests start, which is most of what tests cost."""
    _keep_bytecode()
    _put_interpreter_on_path()
    _collect_garbage_rarely()
    _accept_interrupts()


def _accept_interrupts() -> None:
    """Handle SIGINT although whoever started us ignores it, as shells do for commands in the background.

    Programs inherit an ignored signal, so those that a test interrupts with Ctrl-C would go on.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _collect_garbage_rarely() -> None:
    """Raise the thresholds of the garbage collector.

    A full collection goes through the objects of thousands of collected tests, which takes 0.3 s; with Python's own
    thresholds the collector takes a fifth of a test process's time.
    """
    gc.set_threshold(20_000, 20, 50)


def _keep_bytecode() -> None:
    """Undo a setting of many containers: each process would compile all that it imports."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _put_interpreter_on_path() -> None:
    """Let hooks find the interpreter itself: the `python3` of pyenv is a script that costs 60 ms of processor time."""
    found = shutil.which("python3")
    interpreters = Path(sys.executable).resolve().parent
    if found and (interpreters / "python3").exists() and not Path(found).samefile(interpreters / "python3"):
        os.environ["PATH"] = os.pathsep.join([str(interpreters), os.environ["PATH"]])


@pytest.fixture(autouse=True)
def no_secret_is_known() -> Iterator[None]:
    """Forget the secrets that a test has found: the policy holds for the whole process."""
    yield
    policy.use(policy.Policy())


@pytest.fixture(autouse=True)
def _log_is_heard() -> Iterator[None]:
    """Fail whoever leaves the log switched off: tests that read it later would fail instead."""
    yield
    left = logging.root.manager.disable
    logging.disable(logging.NOTSET)
    assert left == logging.NOTSET


@pytest.fixture(autouse=True)
def _umask_is_restored() -> Iterator[None]:
    """Undo what programs set for their own process, if they run in that of the tests.

    Otherwise later tests would create files that other users can't read, such as PostgreSQL's.
    """
    mask = os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A state folder of the test's own."""
    made = Home(tmp_path / "home")
    made.make()
    return made


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    """An empty store, migrated."""
    copy_migrated(home.database)
    opened = await open_database(home.database)
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
async def project(database: Database, tmp_path: Path) -> Project:
    """A project to put things into."""
    return await find_or_create(database, Identity(root=str(tmp_path), name="demo"))
