"""The hook that brings the daemon up: silent and quick when one runs that is no older than this plugin.

Usage: ``python3 -I -S -B wake.py [--quiet | --make]``. Otherwise it starts the daemon or, if the environment
is not there yet, a process (``--make``) that makes it; it waits for neither. ``--quiet`` prints nothing.
"""

import os
import sys
import time

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

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
    """Bring up a daemon of this version, unless one as new is there."""
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


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "")
    except Exception:  # noqa: BLE001 - a hook that fails shows an error to a person who can't do anything about it
        pass
    os._exit(0)
