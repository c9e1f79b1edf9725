"""The input and the results of a check."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from subconscious.errors import SettingsError
from subconscious.home import Home
from subconscious.settings import Settings, load_settings

WAITING = 24 * 3600.0
"""Seconds after which something that still waits is a fault: an embedding, a spool entry."""
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
class Patient:
    """The state folder to examine."""

    home: Home
    environ: Mapping[str, str]
    mounts: str
    now: float


Check = Callable[[Patient], Iterator[Finding]]


def fine(name: str, detail: str) -> Finding:
    """A result without a fault."""
    return Finding(name, ok=True, detail=detail)


def fault(name: str, detail: str, remedy: str) -> Finding:
    """A fault, and the command that repairs it."""
    return Finding(name, ok=False, detail=detail, remedy=remedy)


def sh(path: Path | str) -> str:
    """A path as a shell takes it."""
    return shlex.quote(str(path))


def settings_of(home: Home) -> Settings:
    """The settings; the defaults if they are unreadable, which another check reports."""
    try:
        return load_settings(home.root)
    except SettingsError:
        return Settings.model_construct()
