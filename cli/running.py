"""``subconscious daemon``: run, start, stop, status, drain."""

from __future__ import annotations

import os
from argparse import Namespace

from subconscious.client import (
    AbsentError,
    WedgedError,
    call,
    daemon_command,
    ensure_daemon,
    hello,
)
from subconscious.errors import DaemonError
from subconscious.home import Home

from . import screen
from .ask import ask, home
from .holder import await_end, kill

_FORCE = "run `subconscious daemon stop --force`"

ANSWER_SECONDS = 5.0

STOP_SECONDS = 60.0
"""Time a daemon may take to finish the work it holds before it leaves."""


def run(_: Namespace) -> None:
    """Become the daemon, in this terminal, unless there is one."""
    place = home()
    try:
        print(f"The daemon runs already, version {hello(place)}.")
    except AbsentError:
        place.make()
        command, environment = daemon_command(place)
        os.execve(command[0], [*command, "run"], environment)  # noqa: S606 - our own interpreter


def start(_: Namespace) -> None:
    """Start the daemon in the background."""
    place = home()
    print(f"The daemon runs, version {ensure_daemon(place)}, for {place.root}.")


def stop(options: Namespace) -> None:
    """Let the daemon finish its work and leave; with ``--force``, end one that does not answer."""
    place = home()
    try:
        call(place, "stop", timeout=ANSWER_SECONDS)
        _await_end(place)
    except AbsentError:
        _stop_the_silent(options, "The daemon is not running.")
    except WedgedError:
        if not options.force:
            raise DaemonError("the daemon does not answer", _FORCE) from None
        _stop_the_silent(options, "No process holds the daemon's lock.")


def _await_end(place: Home) -> None:
    if not await_end(place, STOP_SECONDS):
        raise DaemonError(f"the daemon is still there after {STOP_SECONDS:g} s", _FORCE)
    print("The daemon has stopped.")


def _stop_the_silent(options: Namespace, otherwise: str) -> None:
    killed = kill(home()) if options.force else None
    print(f"The daemon did not answer and was killed (pid {killed})." if killed else otherwise)


def presence(options: Namespace) -> int:
    """Say whether the daemon runs; exit code 1 when it does not."""
    place = home()
    try:
        version, state = hello(place), "running"
    except AbsentError:
        version, state = "", "not running"
    except WedgedError:
        version, state = "", "not answering"
    if options.json:
        screen.as_json({"state": state, "version": version, "home": str(place.root)})
    else:
        print(_PRESENCES[state].format(version=version, root=place.root))
    return int(state != "running")


_PRESENCES = {
    "running": "running, version {version}, for {root}",
    "not running": "not running; it starts with the next session or command",
    "not answering": f"not answering\n  {_FORCE}",
}


def drain(options: Namespace) -> int:
    """Wait until the daemon has worked off all that was captured; exit code 1 when it did not in time."""
    answer = ask("drain", options.timeout + 5.0, timeout=options.timeout)
    if options.json:
        screen.as_json(answer)
    elif answer["drained"] and answer["embedded"]:
        print("All that was captured is worked off.")
    else:
        left = "embeddings" if answer["drained"] else "work"
        print(f"After {options.timeout} s there is {left} left; see: subconscious status")
    return int(not (answer["drained"] and answer["embedded"]))
