"""On a machine where the plugin can't work, or is told not to, the client doesn't notice it."""

import os
import shutil
from pathlib import Path

import pytest

from tests.client.fake_api import FakeApi
from tests.client.machine import Machine

pytestmark = [pytest.mark.client, pytest.mark.timeout(60, func_only=True)]

PROMPTS = ("We decided to keep receipts for ten years.", "/compact", "Go on.")


def test_off_writes_nothing(machine: Machine) -> None:
    before = sorted(machine.state.rglob("*"))
    machine.talk(*PROMPTS, environ={"SUBCONSCIOUS_OFF": "1"})
    assert sorted(machine.state.rglob("*")) == before
    assert machine.processes() == {}


def test_no_python_on_path(machine: Machine) -> None:
    (machine.state / "env").unlink()
    session = machine.talk(*PROMPTS, environ={"PATH": str(_tools_without_python(machine.root / "bin"))})
    assert {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"} <= set(machine.spool())
    assert session.stderr == ""


def test_no_python_and_no_state_folder(machine: Machine) -> None:
    before = sorted(machine.project.rglob("*"))
    tools = _tools_without_python(machine.root / "bin")
    machine.talk(*PROMPTS, environ={"PATH": str(tools), "SUBCONSCIOUS_HOME": "relative/folder"})
    assert sorted(machine.project.rglob("*")) == before


def test_old_python_on_path(machine: Machine, api: FakeApi) -> None:
    tools = _tools_without_python(machine.root / "bin")
    (tools / "python3").symlink_to(_python39())
    machine.talk(*PROMPTS, environ={"PATH": str(tools)})
    machine.drain()
    machine.talk("Where were we?", environ={"PATH": str(tools)})
    assert "receipts for ten years" in api.asked("Where were we?")[0].given


def test_state_folder_can_not_be_written(machine: Machine) -> None:
    closed = machine.root / "closed"
    closed.mkdir(mode=0o500)
    machine.talk(*PROMPTS, environ={"SUBCONSCIOUS_HOME": str(closed)}, wrapper=_unprivileged())
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize("place", ["/proc/none", "/dev/null", "relative/folder"])
def test_state_folder_can_not_exist(machine: Machine, place: str) -> None:
    machine.talk(*PROMPTS, environ={"SUBCONSCIOUS_HOME": place})


def test_daemon_can_not_start(machine: Machine) -> None:
    machine.break_environment()
    machine.talk(*PROMPTS)
    assert "Stop" in machine.spool()


def _unprivileged() -> list[str]:
    """What makes permissions count for root too."""
    return [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def _tools_without_python(folder: Path) -> Path:
    """Make a folder of links to every program of the system but Python."""
    folder.mkdir()
    for place in ("/usr/bin", "/bin"):
        for program in Path(place).iterdir():
            link = folder / program.name
            if not program.name.startswith(("python", "pypy", "uv")) and not link.is_symlink():
                link.symlink_to(program)
    return folder


def _python39() -> Path:
    of_pyenv = Path.home().glob(".pyenv/versions/3.9.*/bin/python3.9")
    found = next(of_pyenv, None) or shutil.which("python3.9")
    if not found:
        pytest.skip("no python3.9 on this machine")
    return Path(found)
