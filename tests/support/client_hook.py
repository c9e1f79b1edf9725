"""Hands a prompt to the hook that asks, through streams whose other ends it holds, and prints what the hook printed:

    claude -I -S client_hook.py HOOKS_RUN PAYLOAD    (where ``claude`` is a link to a Python)

A script by itself, with few imports: tests start it many times.
"""

import os
import sys

try:
    import _socket as socket
except ImportError:
    import socket  # type: ignore[no-redef]


def main(hooks: str, payload: str) -> None:
    """Run the hook as the client does."""
    pairs = [socket.socketpair() for _ in range(3)]
    hook = os.fork()
    if hook == 0:
        for stream, (_, theirs) in enumerate(pairs):
            os.dup2(theirs.fileno(), stream)
        os.execve("/bin/sh", ["/bin/sh", hooks, "ask", "UserPromptSubmit"], {**os.environ, "CLAUDECODE": "1"})
    for _, theirs in pairs:
        theirs.close()
    with open(payload, "rb") as file:  # noqa: PTH123 - pathlib takes 10 ms to import
        pairs[0][0].sendall(file.read())
    pairs[0][0].shutdown(socket.SHUT_WR)
    while chunk := pairs[1][0].recv(65536):
        sys.stdout.buffer.write(chunk)
    os.waitpid(hook, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
