"""Checks of the machine and the installation: Python, disk, settings, the daemon's environment, the plugin."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from subconscious.clients import CLIENTS
from subconscious.clients.installing import is_installed, problem_of
from subconscious.doctor.findings import CheckContext, Finding, fault, passed, quoted
from subconscious.domain.errors import RequestError, SettingsError
from subconscious.settings.config_file import require_written
from subconscious.settings.settings import load_settings
from subconscious.system.safe_files import is_missing, read_regular

OLDEST_PYTHON = (3, 11)
MIN_FREE_BYTES = 200 * 2**20
"""The free space, in bytes, below which the disk counts as full."""

MAX_BYTES = 8 << 20
"""The most bytes of a file that are read."""


def python() -> Iterator[Finding]:
    """Check that this Python is new enough."""
    detail = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= OLDEST_PYTHON:
        yield passed("python", detail)
    else:
        yield fault("python", f"{detail} is too old", "install Python 3.11 or newer")


def pause(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Report a fault if the variable SUBCONSCIOUS_OFF switches everything off."""
    if environ.get("SUBCONSCIOUS_OFF", "").lower() not in ("", "0", "false"):
        detail = "SUBCONSCIOUS_OFF is set: sessions that start in this terminal are not recorded and get no memories"
        yield fault("pause", detail, "unset SUBCONSCIOUS_OFF")


def disk(context: CheckContext) -> Iterator[Finding]:
    """Check that the disk has free space."""
    folder = next(folder for folder in (context.home.root, *context.home.root.parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        yield fault(
            "disk", f"only {free // 2**20} MB free on {folder}", f"df -h {quoted(folder)} # then free some space"
        )
    else:
        yield passed("disk", f"{free / 2**30:.1f} GB free")


def vectors(_: CheckContext) -> Iterator[Finding]:
    """Report which index is used to search vectors."""
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    detail = "sqlite-vec" if loads else "an exact numpy scan (this Python's SQLite loads no extensions)"
    yield Finding("vector index", ok=True, detail=detail)


def settings(context: CheckContext) -> Iterator[Finding]:
    """Check that config.toml can be read."""
    config = context.home.root / "config.toml"
    try:
        require_written(context.home.root)
        load_settings(context.home.root)
    except SettingsError as error:
        yield fault("settings", error.message, error.remedy)
    else:
        yield passed("settings", str(config) if config.exists() else "all at their defaults")


def environment(context: CheckContext) -> Iterator[Finding]:
    """Check that the daemon's Python environment is complete."""
    current = context.home.env / "current"
    complete = (current / ".complete").exists()
    if failure := _failure(context.home.env / "failure"):
        yield fault(
            "environment", f"the Python environment could not be created: {failure['reason']}", failure["remedy"]
        )
    elif current.is_symlink() and not complete:
        yield fault("environment", f"{current} is incomplete", f"rm {quoted(current)} # the next session rebuilds it")
    else:
        yield passed(
            "environment", os.path.realpath(current) if complete else "does not exist yet; the first session creates it"
        )


def _failure(file: Path) -> dict[str, str] | None:
    """Return why the environment could not be built, as written by ``hooks/maker.py``; None if there was no failure."""
    if is_missing(file):
        return None
    try:
        failure = json.loads(read_regular(file, MAX_BYTES))
        return {key: str(failure[key]) for key in ("reason", "remedy")}
    except (OSError, RecursionError, ValueError, KeyError, TypeError):
        return {"reason": f"{file} can't be read", "remedy": f"rm {quoted(file)} # the next session tries again"}


def plugin(context: CheckContext) -> Iterator[Finding]:
    """Report whether the plugin is enabled; never a fault, because other files may also enable it."""
    chosen = context.environ.get("CLAUDE_CONFIG_DIR", "")
    file = Path(chosen or Path(context.environ.get("HOME", "/"), ".claude"), "settings.json")
    try:
        yield passed("plugin", _enabled(json.loads(read_regular(file, MAX_BYTES))))
    except (OSError, RecursionError, ValueError, AttributeError):
        yield passed("plugin", f"unknown: Claude Code's settings are not at {file}")


def _enabled(settings: dict[str, Any]) -> str:
    if settings.get("disableAllHooks"):
        return "all hooks are switched off in Claude Code's settings (disableAllHooks)"
    names = [name.partition("@")[0] for name, on in settings.get("enabledPlugins", {}).items() if on]
    if "subconscious" in names:
        return "enabled in Claude Code"
    return "not enabled for all projects; to enable it: claude plugin install subconscious@subconscious"


def other_agents(context: CheckContext) -> Iterator[Finding]:
    """Check that the connected other coding agents run Subconscious's hooks."""
    for client in CLIENTS.values():
        if not is_installed(client.name):
            continue
        try:
            problem, remedy = problem_of(client.name, context.home.root)
        except RequestError as error:
            problem, remedy = error.message, error.remedy
        yield fault(client.name, problem, remedy) if problem else passed(client.name, f"{client.label} is connected")
