"""The plugin as shipped, with the environment of its daemon: built once, since that takes a minute."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


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

    Of the same lock and the same code, so that a change of either makes another one.

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
