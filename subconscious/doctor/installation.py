"""What was installed: the environment, the settings, the plugin in the client."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from subconscious.doctor.findings import Finding, Patient, fault, fine, sh
from subconscious.errors import SettingsError
from subconscious.safe_files import is_missing, read_regular
from subconscious.settings import load_settings, require_written

LARGEST = 8 << 20
"""Bytes of a file of settings that are read."""


def settings(patient: Patient) -> Iterator[Finding]:
    """Whether config.toml can be read."""
    config = patient.home.root / "config.toml"
    try:
        require_written(patient.home.root)
        load_settings(patient.home.root)
    except SettingsError as error:
        yield fault("settings", error.message, error.remedy)
    else:
        yield fine("settings", str(config) if config.exists() else "all at their defaults")


def environment(patient: Patient) -> Iterator[Finding]:
    """Whether the daemon's environment could be made, and is whole."""
    current = patient.home.env / "current"
    complete = (current / ".complete").exists()
    if failure := _failure(patient.home.env / "failure"):
        yield fault("environment", f"could not be made: {failure['reason']}", failure["remedy"])
    elif current.is_symlink() and not complete:
        yield fault("environment", f"{current} is not whole", f"rm {sh(current)} # the next session makes it anew")
    else:
        yield fine("environment", os.path.realpath(current) if complete else "is made by the first session")


def _failure(file: Path) -> dict[str, str] | None:
    """Why the environment could not be made, as ``hooks/maker.py`` wrote it."""
    if is_missing(file):
        return None
    try:
        failure = json.loads(read_regular(file, LARGEST))
        return {key: str(failure[key]) for key in ("reason", "remedy")}
    except (OSError, RecursionError, ValueError, KeyError, TypeError):
        return {"reason": f"{file} can't be read", "remedy": f"rm {sh(file)} # the next session tries again"}


def plugin(patient: Patient) -> Iterator[Finding]:
    """Best effort, so a note and never a fault: the client has more places for its settings than this one."""
    chosen = patient.environ.get("CLAUDE_CONFIG_DIR", "")
    file = Path(chosen or Path(patient.environ.get("HOME", "/"), ".claude"), "settings.json")
    try:
        yield fine("plugin", _enabled(json.loads(read_regular(file, LARGEST))))
    except (OSError, RecursionError, ValueError, AttributeError):
        yield fine("plugin", f"unknown: Claude Code's settings are not at {file}")


def _enabled(settings: dict[str, Any]) -> str:
    if settings.get("disableAllHooks"):
        return "all hooks are switched off in Claude Code's settings (disableAllHooks)"
    names = [name.partition("@")[0] for name, on in settings.get("enabledPlugins", {}).items() if on]
    if "subconscious" in names:
        return "enabled in Claude Code"
    return "not enabled for all of Claude Code: claude plugin install subconscious@subconscious"
