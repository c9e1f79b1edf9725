"""What a check is given, and what it answers."""

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
    """One check's answer; a fault names the command that mends it."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is examined."""

    home: Home
    environ: Mapping[str, str]
    mounts: str
    now: float


Check = Callable[[Patient], Iterator[Finding]]


def fine(name: str, detail: str) -> Finding:
    """What is as it should be."""
    return Finding(name, ok=True, detail=detail)


def fault(name: str, detail: str, remedy: str) -> Finding:
    """What is not, and the command that mends it."""
    return Finding(name, ok=False, detail=detail, remedy=remedy)


def sh(path: Path | str) -> str:
    """A path as a shell takes it."""
    return shlex.quote(str(path))


def settings_of(home: Home) -> Settings:
    """The settings; where they can't be read, which is told already, those that they begin with."""
    try:
        return load_settings(home.root)
    except SettingsError:
        return Settings.model_construct()
