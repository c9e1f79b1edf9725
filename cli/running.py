"""``subconscious daemon run``, ``start``, ``stop``, ``status`` and ``drain``."""

from __future__ import annotations

import os
from argparse import Namespace

from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from subconscious.wire import AbsentError, WedgedError, call, daemon_command, ensure_daemon, hello

from . import screen
from .ask import ask, home
from .holder import await_end, kill

_FORCE_REMEDY = "run `subconscious daemon stop --force`"

ANSWER_SECONDS = 5.0

STOP_SECONDS = 60.0
"""Seconds that a daemon may take to finish its current work before it exits."""


def run(_: Namespace) -> None:
    """Run the daemon in this terminal, if no daemon is running."""
    state_folder = home()
    try:
        print(f"The daemon is already running, version {hello(state_folder)}.")
    except AbsentError:
        state_folder.make()
        command, environment = daemon_command(state_folder)
        os.execve(command[0], [*command, "run"], environment)  # noqa: S606 - our own interpreter


def start(_: Namespace) -> None:
    """Start the daemon in the background."""
    state_folder = home()
    print(f"The daemon is running, version {ensure_daemon(state_folder)}, for {state_folder.root}.")


def stop(options: Namespace) -> None:
    """Stop the daemon after its current work; with ``--force``, kill one that does not answer."""
    state_folder = home()
    try:
        call(state_folder, "stop", timeout=ANSWER_SECONDS)
        _await_end(state_folder)
    except AbsentError:
        _kill_if_forced(options, "The daemon is not running.")
    except WedgedError:
        if not options.force:
            raise DaemonError("the daemon does not answer", _FORCE_REMEDY) from None
        _kill_if_forced(options, "There is no daemon to kill.")


def _await_end(state_folder: Home) -> None:
    if not await_end(state_folder, STOP_SECONDS):
        raise DaemonError(f"the daemon is still running {STOP_SECONDS:g} s after it was asked to stop", _FORCE_REMEDY)
    print("The daemon has stopped.")


def _kill_if_forced(options: Namespace, message: str) -> None:
    killed = kill(home()) if options.force else None
    print(f"The daemon did not answer and was killed (pid {killed})." if killed else message)


def presence(options: Namespace) -> int:
    """Print whether the daemon runs; return exit code 1 if it does not run or does not answer."""
    state_folder = home()
    try:
        version, state = hello(state_folder), "running"
    except AbsentError:
        version, state = "", "not running"
    except WedgedError:
        version, state = "", "not answering"
    if options.json:
        screen.as_json({"state": state, "version": version, "home": str(state_folder.root)})
    else:
        print(_STATES[state].format(version=version, root=state_folder.root))
    return int(state != "running")


_STATES = {
    "running": "running, version {version}, for {root}",
    "not running": "not running; it starts with the next session or command",
    "not answering": f"not answering\n  {_FORCE_REMEDY}",
}


def drain(options: Namespace) -> int:
    """Wait until all queued work and embeddings are done; return exit code 1 on timeout."""
    answer = ask("drain", options.timeout + 5.0, timeout=options.timeout)
    if options.json:
        screen.as_json(answer)
    elif answer["drained"] and answer["embedded"]:
        print("All queued work is done.")
    else:
        left = "some embeddings are" if answer["drained"] else "some work is"
        print(f"After {options.timeout} s, {left} not done yet. To see the state: subconscious status")
    return int(not (answer["drained"] and answer["embedded"]))
