"""A person's terminal: a pseudo-terminal of its own, outside the test's process tree.

It is the one kind of process that the daemon can't tell from a person (subconscious/authorship/peers.py), so tests use
it as one.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from tests.support.pseudo_terminal import COLUMNS_WANTED, RESIZE

__all__ = ["COLUMNS_WANTED", "Terminal", "ask", "call", "environment", "run"]

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "support" / "pseudo_terminal.py"
ASK = """
import os, sys
try:
    import _socket as socket
except ImportError:
    import socket
os.chdir(sys.argv[1])
link = socket.socket(socket.AF_UNIX)
link.settimeout(20)
link.connect("daemon.sock")
link.sendall(os.fsencode(sys.argv[2]) + b"\\n")
answer = b""
while chunk := link.recv(65536):
    answer += chunk
sys.stdout.buffer.write(b"<<" + answer.partition(b"\\n")[2] + b">>")
"""
"""Puts a request to the daemon. Without our library, whose import takes three times as long as Python's start."""

END = re.compile(rb"<<exit (-?\d+)>>$")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """A command that runs on a terminal; what it shows is read and what is pressed is sent."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], cwd: Path) -> None:
        self._shown = b""
        self._read = 0
        self._over = False
        self._script = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SCRIPT), *command],
            env=dict(environment),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the window, and wait until the command is over: a client that still ends would count as running."""
        assert self._script.stdin
        assert self._script.stdout
        with suppress(BrokenPipeError):  # what was pressed after the command's end
            self._script.stdin.close()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not self._over:
            self._receive(0.1)
        self._script.stdout.close()
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

    def await_text(self, text: str, seconds: float = 40.0) -> None:
        """Wait until ``text`` is shown, after what was awaited before."""
        deadline = time.monotonic() + seconds
        while (place := self.shown.find(text, self._read)) < 0:
            assert time.monotonic() < deadline, f"{text!r} was not shown: {self.shown}"
            assert self._receive(0.1) or not END.search(self._shown), f"{text!r} was not shown: {self.shown}"
        self._read = place + len(text)

    def settle(self, quiet: float = 0.5, seconds: float = 5.0) -> None:
        """Wait until nothing new was shown for ``quiet`` seconds, at most ``seconds``."""
        deadline = time.monotonic() + seconds
        while self._receive(quiet) and time.monotonic() < deadline:
            pass

    def end(self, seconds: float = 40.0) -> int:
        """Wait until the command is over; return its exit code."""
        deadline = time.monotonic() + seconds
        while not (code := END.search(self._shown)):
            assert time.monotonic() < deadline, f"it goes on: {self.shown}"
            self._receive(0.1)
        return int(code[1])

    def _send(self, sent: bytes) -> None:
        assert self._script.stdin
        try:
            self._script.stdin.write(sent)
            self._script.stdin.flush()
        except BrokenPipeError:
            while self._receive(0.1):
                pass
            raise AssertionError(f"it has ended: {self.shown}") from None

    def _receive(self, seconds: float) -> bool:
        assert self._script.stdout
        ready, _, _ = select.select([self._script.stdout], [], [], seconds)
        chunk = os.read(self._script.stdout.fileno(), 65536) if ready else b""
        self._shown += chunk
        self._over = bool(ready) and not chunk
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
    request = os.fsdecode(wire.encode_request(cmd, {"origin": "user", **args})).rstrip("\n")
    done, shown = run([sys.executable, "-I", "-S", "-c", ASK, str(home.run), request], home, ROOT)
    assert done == 0, shown
    return json.loads(shown[shown.index("<<") + 2 : shown.rindex(">>")])


def call(home: Home, cmd: str, **args: object) -> Any:
    """The result of one request from a person's terminal. Raises DaemonError for what is refused."""
    answer = ask(home, cmd, **args)
    if not answer["ok"]:
        raise DaemonError(answer["error"]["message"], answer["error"]["remedy"])
    return answer["result"]
