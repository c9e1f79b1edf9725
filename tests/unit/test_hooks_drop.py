"""drop: the payload becomes one whole entry of the spool, or nothing at all happens."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from subconscious.context.entry import parse_entry, read_entry
from tests.support.hook_calls import Hooks, copy_plugin, make_hooks, shell_tools

SAID = {"session_id": "s", "transcript_path": "/t", "cwd": "/c", "hook_event_name": "Stop"}
PAYLOAD = json.dumps(SAID).encode()
OLD_PYTHONS = [Path.home() / f".pyenv/versions/{version}/bin/python" for version in ("3.6.15", "3.7.16", "3.8.18")]
OLDEST_PYTHON = Path.home() / ".pyenv/versions/3.9.18/bin/python"


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return make_hooks(tmp_path)


def test_the_payload_is_kept_byte_by_byte(hooks: Hooks) -> None:
    payload = b'{"a": "\xff\x00\r\n"}' * 50_000
    done = hooks.call("drop", "Stop", payload, CLAUDE_PROJECT_DIR="/a\tb", CLAUDE_PLUGIN_OPTION_SURFACE="false")
    (entry,) = hooks.entries
    header, _, body = entry.read_bytes().partition(b"\n")
    assert (done.stdout, body) == (b"", payload)
    assert header.startswith(b"subconscious 1\tStop\t")
    assert header.endswith(b"\t/a\\tb\t\t0.2.0\tsurface=false")


def test_a_path_that_is_no_text_is_kept(hooks: Hooks) -> None:
    hooks.call("drop", "Stop", PAYLOAD, CLAUDE_PROJECT_DIR=os.fsdecode(b"/caf\xe9"))
    assert b"\t/caf\xe9\t" in hooks.entries[0].read_bytes()


def test_only_the_owner_can_read(hooks: Hooks) -> None:
    hooks.call("drop", "Stop", PAYLOAD)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (hooks.home, hooks.home / "spool", hooks.entries[0])]
    assert modes == [0o700, 0o700, 0o600]


def test_many_at_once_lose_nothing(hooks: Hooks) -> None:
    calls = [subprocess.Popen(hooks.command("drop", "Stop"), stdin=subprocess.PIPE, env=hooks.base) for _ in range(20)]
    for number, call in enumerate(calls):
        call.communicate(b"%d" % number, timeout=30)
    said = sorted(int(entry.read_bytes().partition(b"\n")[2]) for entry in hooks.entries)
    assert said == list(range(20))


@pytest.mark.parametrize("value", ["1", "true", "yes", "x"])
def test_off_means_off(hooks: Hooks, value: str) -> None:
    hooks.call("drop", "Stop", PAYLOAD, SUBCONSCIOUS_OFF=value)
    assert not hooks.home.exists()


@pytest.mark.parametrize("value", ["", "0", "false", "False"])
def test_not_off_means_on(hooks: Hooks, value: str) -> None:
    hooks.call("drop", "Stop", PAYLOAD, SUBCONSCIOUS_OFF=value)
    assert len(hooks.entries) == 1


def test_nothing_said_leaves_no_entry(hooks: Hooks) -> None:
    hooks.call("drop", "Stop", b"")
    closed = subprocess.run(["/bin/sh", "-c", 'exec "$@" <&-', "sh", *hooks.command("drop", "Stop")], env=hooks.base)
    assert (closed.returncode, hooks.entries) == (0, [])


@pytest.mark.parametrize("place", ["relative/place", "/dev/null/below", "/proc/nowhere"])
def test_no_place_for_state_means_silence(hooks: Hooks, place: str) -> None:
    assert hooks.call("drop", "Stop", PAYLOAD, SUBCONSCIOUS_HOME=place).stdout == b""


def test_a_full_disk_leaves_no_half_entry(hooks: Hooks) -> None:
    done = subprocess.run(
        hooks.command("drop", "Stop"),
        input=b"x" * 100_000,
        env=hooks.base,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (hooks.entries, hooks.litter) == ([], [])


def test_paths_with_spaces(tmp_path: Path) -> None:
    hooks = make_hooks(tmp_path)
    hooks.home, hooks.plugin = tmp_path / "my state", copy_plugin(tmp_path / "my plugin")
    hooks.call("drop", "Stop", PAYLOAD)
    assert len(hooks.entries) == 1
    assert not list(hooks.plugin.rglob("__pycache__"))


def test_a_machine_without_python_keeps_everything(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path / "state", tmp_path)
    project = "/a\\b\tc\nd;e"
    tools = os.fspath(shell_tools(tmp_path / "tools"))
    done = hooks.call("ask", "Stop", PAYLOAD, PATH=tools, CLAUDE_PROJECT_DIR=project)
    (path,) = hooks.entries
    entry = read_entry(path)
    assert (done.stdout, entry.event, entry.project_dir, entry.payload.session_id) == (b"", "Stop", project, "s")
    assert path.name.split("-")[0].isdigit()
    assert len(path.name.split("-")[0]) == 20
    assert (stat.S_IMODE(path.stat().st_mode), hooks.litter) == (0o600, [])


@pytest.mark.parametrize("place", ["relative/place", "/dev/null/below"])
def test_a_machine_without_python_or_place_is_silent(tmp_path: Path, place: str) -> None:
    hooks = Hooks(tmp_path / "state", tmp_path)
    tools = os.fspath(shell_tools(tmp_path / "tools"))
    for script in ("drop", "wake"):
        done = hooks.call(script, "Stop", PAYLOAD, PATH=tools, SUBCONSCIOUS_HOME=place)
        assert done.stdout == b""
    assert not Path("relative").exists()


def test_a_machine_without_python_says_so_once(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path / "state", tmp_path)
    tools = os.fspath(shell_tools(tmp_path / "tools"))
    first, second = (hooks.call("wake", "SessionStart", PATH=tools).stdout for _ in range(2))
    assert "python3-venv" in json.loads(first)["systemMessage"]
    assert second == b""


@pytest.mark.parametrize("python", OLD_PYTHONS, ids=lambda path: path.parts[-3])
def test_a_python_too_old_loses_nothing(tmp_path: Path, python: Path) -> None:
    if not python.exists():
        pytest.skip(f"no {python}")
    hooks = make_hooks(tmp_path, python)
    tools = os.fspath(shell_tools(tmp_path / "tools"))
    hooks.call("drop", "Stop", PAYLOAD, PATH=f"{hooks.programs}:{tools}")
    (path,) = hooks.entries
    assert parse_entry(path.name, path.read_bytes()).payload.session_id == "s"


def test_the_oldest_python_that_we_support(tmp_path: Path) -> None:
    if not OLDEST_PYTHON.exists():
        pytest.skip(f"no {OLDEST_PYTHON}")
    hooks = make_hooks(tmp_path, OLDEST_PYTHON)
    hooks.call("drop", "Stop", PAYLOAD, PATH=f"{hooks.programs}:/nonexistent")
    assert len(hooks.entries) == 1


def test_a_broken_shim_is_skipped(tmp_path: Path) -> None:
    hooks = make_hooks(tmp_path)
    (hooks.programs / "python3").rename(hooks.programs / "python3.11")
    (hooks.programs / "python3").write_text("#!/bin/sh\necho 'python3: command not found' >&2\nexit 127\n")
    (hooks.programs / "python3").chmod(0o755)
    hooks.call("drop", "Stop", PAYLOAD, PATH=os.fspath(hooks.programs))
    assert len(hooks.entries) == 1


def test_our_own_environment_comes_first(hooks: Hooks) -> None:
    own = hooks.home / "env/current/bin/python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    hooks.call("drop", "Stop", PAYLOAD, PATH="/nonexistent")
    assert len(hooks.entries) == 1


def test_a_broken_environment_is_skipped(hooks: Hooks) -> None:
    own = hooks.home / "env/current/bin/python"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\nexit 1\n")
    own.chmod(0o755)
    hooks.call("drop", "Stop", PAYLOAD)
    assert len(hooks.entries) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a folder that is another user's")
def test_nothing_of_another_user_is_run(hooks: Hooks) -> None:
    theirs = hooks.home / "env/current/bin/python"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(f"#!/bin/sh\n: >'{hooks.home}/run-by-us'\n")
    theirs.chmod(0o755)
    os.chown(hooks.home, 12345, 12345)
    hooks.call("drop", "Stop", PAYLOAD)
    assert not (hooks.home / "run-by-us").exists()
    assert hooks.entries == []


def test_bytecode_is_kept_in_our_environment_only(tmp_path: Path) -> None:
    hooks = make_hooks(tmp_path)
    hooks.plugin = copy_plugin(tmp_path / "plugin")
    own = hooks.home / "env/current/bin/python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    hooks.call("drop", "Stop", PAYLOAD)
    assert list((hooks.home / "env/current/bytecode").rglob("drop.*.pyc"))
    own.unlink()
    hooks.call("drop", "Stop", PAYLOAD)
    assert not list(hooks.plugin.rglob("__pycache__"))
    assert len(hooks.entries) == 2


@pytest.mark.parametrize("script", ["drop", "ask", "wake", "nonsense"])
def test_no_event_is_no_error(hooks: Hooks, script: str) -> None:
    subprocess.run(hooks.command(script)[:3], env=hooks.base | {"SUBCONSCIOUS_HOME": "/dev/null"}, check=True)
