"""Reach the daemon of this person's state folder."""

from __future__ import annotations

import os
from typing import Any

from subconscious.client import call, ensure_daemon
from subconscious.errors import DaemonError
from subconscious.home import Home, find_home

PATIENCE = 30.0
"""Seconds to wait for an answer that takes no long work."""


def home() -> Home:
    """The state folder; raises DaemonError where there can be none."""
    found = find_home()
    if found is None:
        raise DaemonError(
            "there is no folder to keep memories in",
            "set SUBCONSCIOUS_HOME to a folder of yours, by its full path; `subconscious doctor` says more",
        )
    return found


def ask(cmd: str, patience: float = PATIENCE, **args: Any) -> dict[str, Any]:
    """Put one request to the daemon, starting it if need be. Arguments that are None are left out."""
    place = home()
    ensure_daemon(place)
    return call(place, cmd, {name: value for name, value in args.items() if value is not None}, patience)


def here() -> str:
    """Where the person stands; the daemon finds the project from it."""
    try:
        return os.getcwd()  # noqa: PTH109 - Path.cwd() is the same call; a deleted folder is what matters
    except FileNotFoundError as error:
        raise DaemonError("this folder no longer exists", "cd to an existing one") from error
