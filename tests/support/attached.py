"""Gives a command a terminal of its own that was there before it, and leaves its streams as they are:

    python attached.py COMMAND

So a client can be spoken to through pipes in a session as a person's, which has a terminal.
"""

import fcntl
import os
import sys
import termios

if __name__ == "__main__":
    os.setsid()
    # The other end stays open in the command; nobody types there.
    other, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    os.set_inheritable(other, True)
    os.execvp(sys.argv[1], sys.argv[1:])
