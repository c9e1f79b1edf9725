"""wake: says hello to the daemon that is there; what it does without one is tests/daemon/test_environment.py."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from hooks.drop import VERSION
from hooks.wake import version_key
from tests.support.hook_calls import CHECKOUT, Hooks, copy_plugin, daemon, framed, listening, make_hooks


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    """Hooks that leave a note when they would start something."""
    hooks = make_hooks(tmp_path)
    hooks.plugin = copy_plugin(tmp_path / "plugin")
    (hooks.plugin / "hooks" / "environment.py").write_text(
        "def bring_up(home, quiet):\n    open(home + '/brought-up', 'w').close()\n    return ''\n"
    )
    return hooks


@pytest.mark.parametrize("version", [VERSION, "0.2.1", "0.10.0", "1.0"])
def test_a_daemon_as_new_is_left_alone(hooks: Hooks, version: str) -> None:
    with daemon(hooks.home, lambda _: framed(version.encode())) as questions:
        done = hooks.call("wake", "SessionStart")
    assert (done.stdout, questions) == (b"", [f"hello {VERSION}\n".encode()])
    assert not (hooks.home / "brought-up").exists()


@pytest.mark.parametrize("version", ["0.0.9", "0.0.100"])
def test_an_older_daemon_is_displaced(hooks: Hooks, version: str) -> None:
    with daemon(hooks.home, lambda _: framed(version.encode())):
        hooks.call("wake", "SessionStart")
    assert (hooks.home / "brought-up").exists()


def test_no_daemon_is_brought_up(hooks: Hooks) -> None:
    hooks.home.mkdir()
    hooks.call("wake", "SessionStart")
    assert (hooks.home / "brought-up").exists()


@pytest.mark.serial
def test_a_wedged_daemon_is_not_doubled(hooks: Hooks) -> None:
    started = time.monotonic()
    with listening(hooks.home):
        hooks.call("wake", "SessionStart")
    assert not (hooks.home / "brought-up").exists()
    assert time.monotonic() - started < 1.5


def test_versions_are_compared_by_number() -> None:
    assert version_key("0.9.0") < version_key("0.10.0") < version_key("1.0")


@pytest.mark.parametrize("path", sorted((CHECKOUT / "hooks").glob("*.py")), ids=lambda path: path.name)
def test_hooks_stay_readable_for_the_oldest_python(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 9))
