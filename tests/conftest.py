"""What many tests share: a state folder, a store and a project of their own."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from subconscious.home import Home
from subconscious.projects import Identity
from subconscious.redaction import policy
from subconscious.store.connect import Database, open_database
from subconscious.store.projects import Project, settle
from tests.support.databases import copy_migrated
from tests.support.installation import environments, plugin

__all__ = ["environments", "plugin"]

# A busy machine may stop for a second in the middle of an example; how long a test may take is said by its time-out.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
settings.register_profile("quick", settings.get_profile("unhurried"), max_examples=10)


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
    return await settle(database, Identity(root=str(tmp_path), name="demo"))
