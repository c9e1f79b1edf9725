"""Finds the Python that the daemon's environment is built on: one on the PATH, or one that uv finds or installs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from hooks.environment import NO_PYTHON

OLDEST = (3, 11)
NEWEST_TRIED = (3, 14)
NAMES = ("python3", "python3.14", "python3.13", "python3.12", "python3.11")

PROBE = """
import sys
try:
    import ensurepip, venv
except ImportError:
    ensurepip = None
print(*sys.version_info[:2], sys.implementation.name, int(ensurepip is not None))
"""


class MakingError(Exception):
    """The environment can't be created; ``remedy`` is the next step for a person."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class Interpreter(NamedTuple):
    """A Python found on this machine."""

    path: str
    version: tuple[int, int]
    name: str
    has_venv: bool


Step = Callable[..., "subprocess.CompletedProcess[str]"]
"""Runs a command and returns its result, even if the command fails."""

Run = Callable[..., str]
"""Runs a command, and returns its output. Raises MakingError if it fails."""


def choose_python(path: str, step: Step, run: Run) -> tuple[Interpreter, str | None]:
    """Return the Python for the environment, and the path of uv if this Python can't create environments."""
    probed = [_probe(candidate, step) for candidate in _candidates(path)]
    found = [python for python in probed if python and python.version >= OLDEST]
    # The pinned packages may not exist for a Python after NEWEST_TRIED; such a Python is better than none.
    found.sort(key=lambda python: python.version > NEWEST_TRIED)
    for python in found:
        if python.has_venv:
            return python, None
    uv = shutil.which("uv", path=path)
    if uv:
        return (found[0] if found else _python_of_uv(uv, step, run)), uv
    if found:
        package = "python{}.{}-venv".format(*found[0].version)
        raise MakingError(f"{found[0].path} can't make virtual environments", f"Run: sudo apt install {package}")
    raise _no_python()


def _python_of_uv(uv: str, step: Step, run: Run) -> Interpreter:
    """Return a Python that uv finds or installs."""
    find = [uv, "python", "find", "--no-project", ">=3.11"]
    try:
        if step(*find).returncode:
            run(uv, "python", "install", "3.12")
        python = _probe(run(*find).strip(), step)
    except MakingError:
        python = None
    if python is None:
        raise _no_python()
    return python


def _probe(path: str, step: Step) -> Interpreter | None:
    try:
        major, minor, name, has_venv = step(path, "-I", "-c", PROBE).stdout.split()
    except (OSError, subprocess.SubprocessError, ValueError):
        return None  # a shim without a version behind it, a broken link, or no Python
    return Interpreter(path, (int(major), int(minor)), name, has_venv == "1")


def _no_python() -> MakingError:
    return MakingError(NO_PYTHON["reason"], NO_PYTHON["remedy"])


def _candidates(path: str) -> list[str]:
    """Return the paths of Pythons on a PATH; the running Python first, if ``path`` is our PATH or has its folder."""
    running = [sys.executable, os.path.realpath(sys.executable)]
    if path != os.environ.get("PATH"):
        running = [python for python in running if os.path.dirname(python) in path.split(os.pathsep)]
    found = [shutil.which(name, path=path) for name in NAMES]
    return list(dict.fromkeys(python for python in [*running[:1], *found] if python))
