"""After installation nothing of the main path needs a network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.machine import CHECKOUT

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.timeout(180, func_only=True)]

ALONE = ("unshare", "--net", "--map-root-user", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
MAIN_PATH = "tests/client/test_memory.py::test_decision_reaches_the_next_session"


def test_main_path_without_a_network(claude: str, environments: Path, tmp_path: Path) -> None:
    """The fake API must be inside too, so a pytest of its own runs there; it finds the environment made."""
    if not _may_unshare():
        pytest.skip("this machine does not allow a network namespace")
    command = [*ALONE, sys.executable, "-m", "pytest", "-q", MAIN_PATH]
    command += [f"--basetemp={tmp_path / 'b'}"]
    inner = subprocess.run(
        command,
        cwd=CHECKOUT,
        env={**os.environ, "SUBCONSCIOUS_TEST_CLAUDE": claude},
        capture_output=True,
        text=True,
        check=False,
    )
    assert inner.returncode == 0, inner.stdout
    assert "1 passed" in inner.stdout


def _may_unshare() -> bool:
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0
