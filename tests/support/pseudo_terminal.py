"""Starts a command on a pseudo-terminal, outside of our process tree, and carries bytes both ways:

    python -I -S pseudo_terminal.py COMMAND

A script by itself, with few imports: tests start it many hundred times.
"""

import errno
import os
import select
import struct
import sys
from fcntl import ioctl
from termios import TIOCSWINSZ

RESIZE = b"\0"
"""In what is typed: the byte after it is the new number of columns."""

COLUMNS_WANTED = "TEST_TERMINAL_COLUMNS"


def _main() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _carry(*pty_of(sys.argv[1:]))
        os._exit(0)


def pty_of(command: list[str]) -> tuple[int, int]:
    """Start a command on a pseudo-terminal of 80 columns, or as many as the environment says (`COLUMNS_WANTED`).

    Returns its process and the terminal's other end.
    """
    process, master = os.forkpty()
    if process == 0:
        columns = int(os.environ.get(COLUMNS_WANTED, "80"))
        ioctl(0, TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        os.execvp(command[0], list(command))
    return process, master


def _carry(process: int, master: int) -> None:
    sources = [0, master]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if master in ready and not _pass_on(master):
            break
        if 0 in ready and not _type(master):
            os.close(master)  # the window is closed: whoever is in it is hung up
            break
    _, status = os.waitpid(process, 0)
    os.write(1, b"<<exit %d>>" % os.waitstatus_to_exitcode(status))


def _pass_on(master: int) -> bool:
    try:
        chunk = os.read(master, 65536)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return False
    os.write(1, chunk)
    return bool(chunk)


def _type(master: int) -> bool:
    chunk = os.read(0, 1024)
    if chunk.startswith(RESIZE):
        ioctl(master, TIOCSWINSZ, struct.pack("4H", 24, chunk[1], 0, 0))
    elif chunk:
        os.write(master, chunk)
    return bool(chunk)


if __name__ == "__main__":
    _main()
