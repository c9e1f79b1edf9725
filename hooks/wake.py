"""The hook that brings the daemon up: silent and quick when one runs that is no older than this plugin.

Otherwise it starts the daemon or, if the environment is not there yet, a process that makes it; it waits for neither.
"""

import time

from hooks.ask import connect, request
from hooks.drop import VERSION, find_home

DEADLINE = 0.5


def daemon_version(home: str) -> str:
    """Ask the daemon for its version; empty when there is none. Raises OSError if it doesn't answer."""
    until = time.monotonic() + DEADLINE
    try:
        link = connect(home, until)
    except (FileNotFoundError, ConnectionRefusedError):
        return ""
    return request(link, f"hello {VERSION}\n".encode(), until).decode()


def order(version: str) -> "tuple[int, ...]":
    """Give what versions are compared by."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def main(option: str) -> None:
    """Bring up a daemon of this version, unless one as new is there.

    ``--make`` instead of an event makes the environment, and waits for it; ``--quiet`` has nothing to print to.
    """
    home = find_home()
    if home is None:
        return
    if option == "--make":
        from hooks.maker import make_behind

        make_behind(home)
        return
    running = daemon_version(home)
    # One that runs but doesn't answer holds the daemon's lock: a second could not start. (It raised, above.)
    if not running or order(running) < order(VERSION):
        from hooks.environment import bring_up

        message = bring_up(home, quiet=option == "--quiet")
        if message:
            print(message, flush=True)
