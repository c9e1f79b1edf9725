"""The input and the results of a check."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from subconscious.domain.errors import SettingsError
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings, load_settings

MAX_WAIT_SECONDS = 24 * 3600.0
"""Seconds after which a waiting embedding or spool entry is a fault."""
DRAIN = "subconscious daemon drain"
FIX = "subconscious doctor --fix"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; a fault names the command that repairs it."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The input of a check: the state folder, the environment variables, the mounted file systems, and the time."""

    home: Home
    environ: Mapping[str, str]
    mounts: str
    now: float


Check = Callable[[CheckContext], Iterator[Finding]]


def passed(name: str, detail: str) -> Finding:
    """Return a finding without a fault."""
    return Finding(name, ok=True, detail=detail)


def fault(name: str, detail: str, remedy: str) -> Finding:
    """Return a fault with the command that repairs it."""
    return Finding(name, ok=False, detail=detail, remedy=remedy)


def quoted(path: Path | str) -> str:
    """Return a path quoted for a shell."""
    return shlex.quote(str(path))


def settings_of(home: Home) -> Settings:
    """Return the settings, or the defaults if config.toml can't be read (another check reports that)."""
    try:
        return load_settings(home.root)
    except SettingsError:
        return Settings.model_construct()
