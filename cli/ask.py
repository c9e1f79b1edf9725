"""Send requests to the daemon of the user's state folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home, find_home
from subconscious.wire import call, ensure_daemon

from . import screen

if TYPE_CHECKING:
    from subconscious.wire.requests import Ask


TIMEOUT_SECONDS = 30.0
"""Seconds to wait for the answer to a request for which the caller sets no other timeout."""


def home() -> Home:
    """Return the state folder. Raises DaemonError if none can be found."""
    found = find_home()
    if found is None:
        raise DaemonError(
            "there is no folder to keep memories in",
            "set SUBCONSCIOUS_HOME to the full path of a folder that you own; `subconscious doctor` shows details",
        )
    return found


def send(cmd: str, timeout_seconds: float = TIMEOUT_SECONDS, /, **args: Any) -> Any:
    """Return the daemon's answer to a request; start the daemon if none runs. Arguments that are None are left out."""
    state_folder = home()
    ensure_daemon(state_folder)
    return call(state_folder, cmd, {name: value for name, value in args.items() if value is not None}, timeout_seconds)


ask: Ask = send
"""``send`` for type checkers: the name of a request determines the type of its result."""


def here() -> str:
    """Return the working directory, from which the daemon derives the project."""
    try:
        return os.getcwd()  # noqa: PTH109 - Path.cwd() makes the same call
    except FileNotFoundError as error:
        raise DaemonError("this folder no longer exists", "cd to an existing one") from error


def print_substitution() -> None:
    """Print a warning if the user's own state folder can't be used: then results come from a temporary one."""
    from subconscious.settings.substitute_home import substitution  # most commands don't need it

    if (replaced := substitution(home().root)) is not None:
        print(screen.paint(screen.wrapped(f"warning: {replaced.note}"), "yellow"))
