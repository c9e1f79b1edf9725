"""Installs an extra into the current environment: ``start.py extras NAME``. Run by commands that a person waits for.

An extra (subconscious/extras) is a model's SDK, the web page's server or PostgreSQL's client, and is installed on first
use. A failure is recorded in ``env/failure-NAME``, which subconscious/extras reads.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

from hooks.drop import find_home
from hooks.environment import ROOT, environ_to_install, is_whole, open_log, python_of
from hooks.packages import PACKAGES, extra_lock, install
from hooks.programs import safe_path

STEP_SECONDS = 900
OFFLINE = ("no matching distribution", "connection", "resolve", "timed out", "network", "unreachable", "proxy")


class ExtraError(Exception):
    """An extra can't be installed."""


def main(name: str) -> None:
    """Install an extra; exit with 1 and print the reason on failure, with 2 without a state folder or a valid name."""
    home = find_home()
    if home is None or not name.isidentifier():
        sys.exit(2)
    os.umask(0o077)
    try:
        add(home, name)
    except (ExtraError, OSError, subprocess.SubprocessError) as error:
        _note(home, name, str(error))
        print(error, file=sys.stderr, flush=True)
        os._exit(1)


def add(home: str, name: str) -> None:
    """Install an extra into the current environment, unless it is installed. Raises ExtraError."""
    from hooks.maker import locked

    with locked(home, wait=True) as lock:
        environment = os.path.realpath(os.path.join(home, "env", "current"))
        if lock is None or not is_whole(environment):
            raise ExtraError("there is no environment to install into")
        pinned = extra_lock(ROOT, name)
        if not _is_installed(environment, pinned, name):
            install(environment, pinned, _Runner(home, lock), _uv(environment), name)
    _forget(home, name)


def _is_installed(environment: str, pinned: str, name: str) -> bool:
    try:
        with open(os.path.join(environment, f"{PACKAGES}-{name}"), "rb") as noted, open(pinned, "rb") as wanted:
            return noted.read() == wanted.read()
    except FileNotFoundError:
        return False


def _uv(environment: str) -> str | None:
    """Return the path of uv if the environment's Python can't install packages by itself and uv is found; else None."""
    probe = [python_of(environment), "-I", "-c", "import ensurepip"]
    if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return None
    return shutil.which("uv", path=safe_path())


class _Runner:
    """Runs the steps of an installation and logs their output. Steps inherit the lock, in case this process dies."""

    def __init__(self, home: str, lock: int) -> None:
        self._home = home
        self._lock = lock

    def __call__(self, *command: str) -> str:
        step = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            cwd=os.path.join(self._home, "env"),
            env=environ_to_install(),
            pass_fds=(self._lock,),
            timeout=STEP_SECONDS,
            check=False,
        )
        log = os.path.join(self._home, "log", "environment.log")
        with os.fdopen(open_log(log), "a", encoding="utf-8", errors="replace") as file:
            file.write(f"$ {' '.join(command)}\n{step.stdout}{step.stderr}")
        if step.returncode:
            raise ExtraError(_reason(step.stdout + step.stderr))
        return step.stdout


def _reason(output: str) -> str:
    """Return the reason of a failure in one line: the package index can't be reached, or the installer's last error."""
    if any(word in output.lower() for word in OFFLINE):
        return "the package index can't be reached"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["the installer failed without a message"])[-1]


def _note(home: str, name: str, reason: str) -> None:
    path = os.path.join(home, "env", f"failure-{name}")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump({"reason": reason, "time": time.time()}, file)
    os.replace(path + ".tmp", path)


def _forget(home: str, name: str) -> None:
    path = os.path.join(home, "env", f"failure-{name}")
    if os.path.exists(path):
        os.unlink(path)
