"""The ``wake`` hook: starts the daemon. It is silent and fast if a daemon of this version or a newer one runs.

Otherwise it starts the daemon or, if the environment does not exist yet, a process that creates it; it waits for
neither.
"""

import time

from hooks.ask import connect, request
from hooks.drop import VERSION, find_home

DEADLINE = 0.5


def daemon_version(home: str) -> str:
    """Return the daemon's version, "" if none runs. Raises OSError if it doesn't answer."""
    until = time.monotonic() + DEADLINE
    try:
        link = connect(home, until)
    except (FileNotFoundError, ConnectionRefusedError):
        return ""
    return request(link, f"hello {VERSION}\n".encode(), until).decode()


def version_key(version: str) -> "tuple[int, ...]":
    """Return a version as a comparable tuple."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def main(option: str) -> None:
    """Start a daemon of this version, unless a daemon of this or a newer version runs.

    The option ``--make`` creates the environment and waits for it; ``--quiet`` prints nothing.
    """
    home = find_home()
    if home is None:
        return
    if option == "--make":
        from hooks.maker import make_behind

        make_behind(home)
        return
    running = daemon_version(home)
    # daemon_version raises if a daemon runs but doesn't answer: that daemon holds the lock, so no other could start.
    if not running or version_key(running) < version_key(VERSION):
        from hooks.environment import bring_up

        message = bring_up(home, quiet=option == "--quiet")
        if message:
            print(message, flush=True)
