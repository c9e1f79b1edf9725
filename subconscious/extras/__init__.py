"""Packages that are installed when they are first needed: the SDKs of Anthropic and OpenAI, 35 MB each.

``NAME.lock`` pins what an extra needs. In the environment that the plugin has made, a separate process installs it
(hooks/extras.py), so that nobody waits; in any other environment a person does.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import time
from types import MappingProxyType

from subconscious.safe_files import read_regular

EXTRAS: Mapping[str, str] = MappingProxyType({"anthropic": "Anthropic's SDK", "openai": "OpenAI's SDK"})
"""The extras, named after the module that they bring; what a person calls them."""
RETRY_SECONDS = 300.0
"""Pause after a failed installation."""
POLL_SECONDS = 30.0
INSTALL_SECONDS = 900.0
LARGEST = 1 << 16

_installing: dict[str, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Absence:
    """Why an extra can't be imported, and what to do. ``seconds``: when to look again, if it may change by itself."""

    message: str
    remedy: str
    seconds: float | None


def is_installed(name: str) -> bool:
    """Whether an extra can be imported. One that is just being installed can not: its folder is there too early."""
    environment = _environment()
    if environment is None:
        return importlib.util.find_spec(name) is not None
    return (environment / f".packages-{name}").exists()


def ensure(name: str) -> Absence | None:
    """None where an extra can be imported. Otherwise begin to install it, if that is for us to do, and say so."""
    if name not in EXTRAS or is_installed(name):
        importlib.invalidate_caches()  # it may have come since this process last looked
        return None
    environment = _environment()
    if environment is None:
        return Absence(f"{EXTRAS[name]} is not installed", f"pip install {name}", None)
    process = _installing.get(name)
    if process is None or process.poll() is not None:
        if failed := _failure(environment, name):
            return failed
        _installing[name] = _start(environment, name)
    what = f"{EXTRAS[name]} is being installed (35 MB, this once)"
    return Absence(what, "wait a moment; it is used as soon as it is there", POLL_SECONDS)


def install(name: str) -> Absence | None:
    """Install an extra and wait for it, with the proxies and indexes of this process; None where it is there then."""
    environment = _environment()
    if name not in EXTRAS or is_installed(name) or environment is None:
        return ensure(name)
    try:
        _start(environment, name, dict(os.environ)).wait(INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return Absence(f"{EXTRAS[name]} can't be installed: {error}", _remedy(environment), None)
    if is_installed(name):
        return None
    return _failure(environment, name) or Absence(f"{EXTRAS[name]} was not installed", _remedy(environment), None)


def _environment() -> Path | None:
    """The environment of this process, if the plugin has made it: no other one is ours to change."""
    folder = Path(sys.prefix)
    return folder if folder.parent.name == "env" and (folder / ".complete").exists() else None


def _start(environment: Path, name: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    state = {"SUBCONSCIOUS_HOME": str(environment.parents[1])}
    return subprocess.Popen(  # noqa: S603 - this very Python, a file of ours, a name of the table
        [sys.executable, "-I", "-S", "-B", str(_hooks() / "start.py"), "extras", name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**(os.environ if environ is None else environ), **state},
        start_new_session=environ is None,
    )


def _hooks() -> Path:
    """The folder of the hooks: within the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    return next(folder / "hooks" for folder in (package, package.parent) if (folder / "hooks").is_dir())


def _failure(environment: Path, name: str) -> Absence | None:
    """Why the last try failed, if that was a short time ago."""
    try:
        noted = json.loads(read_regular(environment.parent / f"failure-{name}", LARGEST))
        left = float(noted["time"]) + RETRY_SECONDS - time()
        reason = str(noted["reason"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    # A clock that was set back must not make us wait for the day it was set back from.
    if not 0 < left <= RETRY_SECONDS:
        return None
    return Absence(f"{EXTRAS[name]} can't be installed: {reason}", _remedy(environment), left)


def _remedy(environment: Path) -> str:
    log = environment.parents[1] / "log" / "environment.log"
    return f"connect to the network, then run `subconscious setup` (log: {log})"
