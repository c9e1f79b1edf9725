"""The real Claude Code, each test on a machine of its own with the plugin installed."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.client.fake_api import FakeApi
from tests.client.machine import CHECKOUT, Machine
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


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout as git would ship it, in a path with a space; it must end as it began."""
    folder = tmp_path_factory.mktemp("plugin copy")
    for name in _shipped_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, folder / name)
    _set_writable(folder, False)
    before = _fingerprint(folder)
    yield folder
    _set_writable(folder, True)
    assert _fingerprint(folder) == before, "the plugin folder was written to"


@pytest.fixture(scope="session")
def environments(plugin: Path, pytestconfig: pytest.Config) -> Path:
    """The folder of the daemon's environment, made by the plugin itself once and kept in pytest's cache.

    Its place must outlive the run, since an environment's scripts hold their own path.
    """
    state = pytestconfig.cache.mkdir("client")
    made = subprocess.run(
        [str(plugin / "bin" / "subconscious"), "--help"],
        env={**os.environ, "SUBCONSCIOUS_HOME": str(state)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert made.returncode == 0, f"no environment was made: {made.stdout}{made.stderr}"
    return state / "env"


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
        shutil.copytree(installed.config, machine.config, dirs_exist_ok=True)
        known = machine.config / "plugins" / "installed_plugins.json"
        known.write_text(known.read_text().replace(str(installed.config), str(machine.config)))
        (machine.state / "env").symlink_to(environments)
        return machine

    return make


@pytest.fixture
def machine(make_machine: Callable[[FakeApi], Machine], api: FakeApi) -> Iterator[Machine]:
    """A fresh machine with the plugin installed; no process of it may outlive the test."""
    with ended(make_machine(api)) as machine:
        yield machine


@pytest.fixture(scope="session")
def snapshots(make_machine: Callable[[FakeApi], Machine]) -> Snapshots:
    """Machines on which a session was held before the test."""
    return Snapshots(make_machine)


def _shipped_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (CHECKOUT / name).is_file()]


def _set_writable(folder: Path, writable: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode | 0o200 if writable else mode & ~0o222)


def _fingerprint(folder: Path) -> dict[str, str]:
    """What a writer would change; root may write where it shouldn't, so permissions alone prove nothing."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in folder.rglob("*")
    }
