"""A person's terminal, for tests: a pseudo-terminal of its own, with nothing of the test's process tree above it.

Run as a script it tears itself loose, starts a command on a pseudo-terminal and carries bytes both ways. It is the one
kind of process that the daemon can't tell from a person (daemon/peers.py), which is why it can stand for one.
"""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # what it runs may have another environment, without us
    from subconscious.home import Home

ROOT = Path(__file__).resolve().parents[2]
RESIZE = b"\0"
"""In what is typed: the byte after it is the new number of columns."""

COLUMNS_WANTED = "TEST_TERMINAL_COLUMNS"

END = re.compile(rb"<<exit (\d+)>>$")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """A command that runs on a terminal; what it shows is read and what is pressed is sent."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], cwd: Path) -> None:
        self._shown = b""
        self._read = 0
        self._script = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, *command],
            env=dict(environment),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self._script.stdin, self._script.stdout):
            assert stream
            stream.close()
        self._script.wait()

    @property
    def shown(self) -> str:
        """All that was shown so far, without colours."""
        return ESCAPES.sub("", END.sub(b"", self._shown).decode("utf-8", "replace"))

    @property
    def coloured(self) -> str:
        """All that was shown so far, with its colours."""
        return END.sub(b"", self._shown).decode("utf-8", "replace").replace("\r", "")

    def press(self, keys: str) -> None:
        """Press keys."""
        self._send(keys.encode())

    def resize(self, columns: int) -> None:
        """Make the window another size."""
        self._send(RESIZE + bytes([columns]))

    def await_text(self, text: str, seconds: float = 20.0) -> None:
        """Wait until ``text`` is shown, after what was awaited before."""
        deadline = time.monotonic() + seconds
        while (place := self.shown.find(text, self._read)) < 0:
            assert time.monotonic() < deadline, f"{text!r} was not shown: {self.shown}"
            assert self._receive(0.1) or not END.search(self._shown), f"{text!r} was not shown: {self.shown}"
        self._read = place + len(text)

    def end(self, seconds: float = 20.0) -> int:
        """Wait until the command is over; return its exit code."""
        deadline = time.monotonic() + seconds
        while not (code := END.search(self._shown)):
            assert time.monotonic() < deadline, f"it goes on: {self.shown}"
            self._receive(0.1)
        return int(code[1])

    def _send(self, sent: bytes) -> None:
        assert self._script.stdin
        self._script.stdin.write(sent)
        self._script.stdin.flush()

    def _receive(self, seconds: float) -> bool:
        assert self._script.stdout
        ready, _, _ = select.select([self._script.stdout], [], [], seconds)
        chunk = os.read(self._script.stdout.fileno(), 65536) if ready else b""
        self._shown += chunk
        return bool(chunk)


def environment(home: Home) -> dict[str, str]:
    """What a person's shell would have."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"SUBCONSCIOUS_HOME": str(home.root), "PYTHONPATH": str(ROOT), "TERM": "xterm"}


def run(command: Sequence[str], home: Home, cwd: Path) -> tuple[int, str]:
    """Run a command as a person would; its exit code and what it showed."""
    with Terminal(command, environment(home), cwd) as terminal:
        return terminal.end(), terminal.shown


def ask(home: Home, cmd: str, **args: object) -> Any:
    """Put one request to the daemon from a person's terminal; the answer with its result or error."""
    code = (
        "import json, sys; from subconscious import client; from subconscious.home import Home; "
        "from pathlib import Path; home, cmd, args = json.loads(sys.argv[1]); "
        "print('<<' + json.dumps(json.loads(client.exchange(Home(Path(home)), "
        "client.encode_request(cmd, args), 20))) + '>>')"
    )
    asked = json.dumps([str(home.root), cmd, {"origin": "user", **args}])
    done, shown = run([sys.executable, "-S", "-c", code, asked], home, ROOT)
    assert done == 0, shown
    return json.loads(shown[shown.index("<<") + 2 : shown.rindex(">>")])


def call(home: Home, cmd: str, **args: object) -> Any:
    """The result of one request from a person's terminal. Raises DaemonError for what is refused."""
    from subconscious.errors import DaemonError

    answer = ask(home, cmd, **args)
    if not answer["ok"]:
        raise DaemonError(answer["error"]["message"], answer["error"]["remedy"])
    return answer["result"]


def _main() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _carry(*pty_of(sys.argv[1:]))
        os._exit(0)


def pty_of(command: Sequence[str]) -> tuple[int, int]:
    """Start a command on a pseudo-terminal of 80 columns, or as many as the environment says (`COLUMNS_WANTED`).

    Returns its process and the terminal's other end.
    """
    process, master = pty.fork()
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
