"""A stand-in for the client: sends an event through the client's own hook, so that the daemon knows its session.

    claude -I -S stand_in.py HOME < PAYLOAD    (where ``claude`` is a link to a Python)

It closes its output when the daemon has answered.
"""

import os
import sys
import time

try:
    import _socket as socket  # the module `socket` takes 12 ms to import, its C half less than 1 ms
except ImportError:
    import socket  # type: ignore[no-redef]


def hand_over(home: str, payload: bytes) -> None:
    """Put the event to the daemon, without an entry in the spool."""
    now = time.time_ns()
    folder = os.environb[b"CLAUDE_PROJECT_DIR"]
    entry = b"subconscious 1\tStop\t%d\t%s\t\t0.1.0\t\n" % (now, folder) + payload
    os.chdir(f"{home}/run")
    link = socket.socket(socket.AF_UNIX)
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


if __name__ == "__main__":
    run_as_hook(sys.argv[1], sys.stdin.buffer.read())
