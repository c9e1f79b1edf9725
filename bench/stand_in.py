"""Stands in for the client: hands an event over as the client's own hook does, so that the daemon knows its session.

    python stand_in.py HOME CLIENT < PAYLOAD    (where CLIENT is a link named ``claude`` to a Python)

It leaves the family of whoever runs it, which may be a Claude Code too, and closes its output when the daemon has
answered.
"""

import os
import socket
import sys
import time


def hand_over(home: str, payload: bytes) -> None:
    """Put the event to the daemon, without an entry in the spool."""
    now = time.time_ns()
    folder = os.environb[b"CLAUDE_PROJECT_DIR"]
    entry = b"subconscious 1\tStop\t%d\t%s\t\t0.1.0\t\n" % (now, folder) + payload
    os.chdir(f"{home}/run")
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(20)
        link.connect("daemon.sock")
        link.sendall(b"ask %020d-%d-00000000.entry %d\n" % (now, os.getpid(), len(entry)) + entry)
        while link.recv(4096):
            pass


def run_as_hook(home: str, payload: bytes) -> None:
    """Run ``hand_over`` in a child whose output and error streams end here."""
    pipes = [os.pipe(), os.pipe()]
    if os.fork() == 0:
        for stream, (ours, theirs) in enumerate(pipes, 1):
            os.close(ours)
            os.dup2(theirs, stream)
        try:
            hand_over(home, payload)
        finally:
            os._exit(0)
    os.wait()


def leave(client: str) -> None:
    """Become the client in a process that has left its family; wait for its end, which closes stdout."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(client, [client, "-I", "-S", __file__, *sys.argv[1:2]])
        os._exit(0)
    os.wait()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        leave(sys.argv[2])
    else:
        run_as_hook(sys.argv[1], sys.stdin.buffer.read())
