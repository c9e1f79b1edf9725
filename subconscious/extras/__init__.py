"""Packages that are installed on first use: two model SDKs, the server of `subconscious ui`, a PostgreSQL client.

``NAME.lock`` pins the packages of an extra. In the plugin's own environment, a separate process installs the extra
(hooks/extras.py), so that nothing has to wait; in any other environment, the user installs it.
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

from subconscious.system.safe_files import read_regular


@dataclass(frozen=True, slots=True)
class Extra:
    """A set of packages: a label for users, the modules that it provides, and its size on disk in megabytes."""

    label: str
    modules: tuple[str, ...]
    megabytes: int
    command: str = "subconscious setup"
    """The command that tries the installation again."""

    @property
    def packages(self) -> str:
        """The arguments for pip to install the packages into another environment than the plugin's own."""
        return " ".join(self.modules)


EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {
        "anthropic": Extra("Anthropic's SDK", ("anthropic",), 35),
        "openai": Extra("OpenAI's SDK", ("openai",), 35),
        "page": Extra("the server of the web page", ("jinja2", "starlette", "uvicorn"), 4, "subconscious ui"),
        "team": Extra("PostgreSQL's client", ("psycopg", "psycopg_pool"), 20, "subconscious team"),
    }
)
"""The extras by name. ``NAME.lock`` and the extra of that name in pyproject.toml list their packages."""

RETRY_SECONDS = 300.0
"""Seconds after a failed installation before it is tried again."""
POLL_SECONDS = 30.0
INSTALL_SECONDS = 900.0
LARGEST = 1 << 16

_installing: dict[str, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Absence:
    """Why an extra can't be imported, and a remedy.

    ``seconds`` is how long to wait before another attempt; None if waiting does not help.
    """

    message: str
    remedy: str
    seconds: float | None


def is_installed(name: str) -> bool:
    """Whether an extra can be imported; false while it is being installed, although its folder exists already."""
    environment = _environment()
    if environment is None:
        modules = EXTRAS[name].modules if name in EXTRAS else (name,)
        return all(importlib.util.find_spec(module) is not None for module in modules)
    return (environment / f".packages-{name}").exists()


def ensure(name: str) -> Absence | None:
    """Return None if an extra can be imported; else start its installation, if possible, and return why not."""
    if name not in EXTRAS or is_installed(name):
        importlib.invalidate_caches()  # it may have been installed since this process last looked
        return None
    environment = _environment()
    if environment is None:
        return Absence(f"{EXTRAS[name].label} is not installed", f"pip install {EXTRAS[name].packages}", None)
    process = _installing.get(name)
    if process is None or process.poll() is not None:
        if failed := _failure(environment, name):
            return failed
        _installing[name] = _start(environment, name)
    what = f"{EXTRAS[name].label} is being installed ({EXTRAS[name].megabytes} MB, once)"
    return Absence(what, "wait a moment; it is used as soon as it is installed", POLL_SECONDS)


def install(name: str) -> Absence | None:
    """Install an extra and wait for it, with this process's proxy and package index settings; None if successful."""
    environment = _environment()
    if name not in EXTRAS or is_installed(name) or environment is None:
        return ensure(name)
    try:
        _start(environment, name, dict(os.environ)).wait(INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return Absence(f"{EXTRAS[name].label} can't be installed: {error}", _remedy(environment, name), None)
    if is_installed(name):
        return None
    return _failure(environment, name) or Absence(
        f"{EXTRAS[name].label} was not installed", _remedy(environment, name), None
    )


def _environment() -> Path | None:
    """Return this process's Python environment if the plugin created it; else None, because it must not be changed."""
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
    """Return the folder of the hooks: in the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    return next(folder / "hooks" for folder in (package, package.parent) if (folder / "hooks").is_dir())


def _failure(environment: Path, name: str) -> Absence | None:
    """Return the last failure of an installation if it is recent, else None."""
    try:
        noted = json.loads(read_regular(environment.parent / f"failure-{name}", LARGEST))
        left = float(noted["time"]) + RETRY_SECONDS - time()
        reason = str(noted["reason"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    # If the clock was set back, don't wait for the time of the failure to pass again.
    if not 0 < left <= RETRY_SECONDS:
        return None
    return Absence(f"{EXTRAS[name].label} can't be installed: {reason}", _remedy(environment, name), left)


def _remedy(environment: Path, name: str) -> str:
    log = environment.parents[1] / "log" / "environment.log"
    return f"connect to the network, then run `{EXTRAS[name].command}` (log: {log})"
