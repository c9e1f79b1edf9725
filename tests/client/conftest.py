"""The real Claude Code, each test on a machine of its own with the plugin installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.client.fake_api import FakeApi
from tests.client.machine import Machine
from tests.client.snapshots import Snapshots, ended


@pytest.fixture(scope="session")
def claude() -> str:
    """Where the real client is."""
    return find_claude()


def find_claude() -> str:
    """Find the real client. Without one a person's run skips the tests that need it; CI must have it."""
    found = os.environ.get("SUBCONSCIOUS_TEST_CLAUDE") or shutil.which("claude")
    if found:
        return found
    reason = "no Claude Code: put `claude` on PATH or name it in SUBCONSCIOUS_TEST_CLAUDE"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """A fake API that this test scripts and reads."""
    with FakeApi() as api:
        yield api


@pytest.fixture(scope="session")
def installed(claude: str, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine that only shows how the client's folder looks after an installation: each one takes 1.5 s."""
    with FakeApi() as api:
        machine = Machine(tmp_path_factory.mktemp("installed"), claude, plugin, api)
        machine.furnish()
        machine.install()
    return machine


@pytest.fixture(scope="session")
def make_machine(
    installed: Machine, environments: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[FakeApi], Machine]:
    """Make a fresh machine with the plugin installed."""

    def make(api: FakeApi) -> Machine:
        machine = replace(installed, root=tmp_path_factory.mktemp("m"), api=api)
        machine.furnish()
        shutil.copytree(installed.config, machine.config, copy_function=_link_plugin, dirs_exist_ok=True)
        known = machine.config / "plugins" / "installed_plugins.json"
        known.write_text(known.read_text().replace(str(installed.config), str(machine.config)))
        (machine.state / "env").symlink_to(environments)
        return machine

    return make


def _link_plugin(source: str, target: str) -> None:
    """Copy a file of the client's folder; one of the plugin, which nobody may write to, is linked instead."""
    if "/plugins/cache/" in source or "/plugins/marketplaces/" in source:
        os.link(source, target)
    else:
        shutil.copy2(source, target)


@pytest.fixture
def machine(make_machine: Callable[[FakeApi], Machine], api: FakeApi) -> Iterator[Machine]:
    """A fresh machine with the plugin installed; no process of it may outlive the test."""
    with ended(make_machine(api)) as machine:
        yield machine


@pytest.fixture(scope="session")
def snapshots(make_machine: Callable[[FakeApi], Machine]) -> Snapshots:
    """Machines on which a session was held before the test."""
    return Snapshots(make_machine)
