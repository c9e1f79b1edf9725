"""Hooks called as hooks.json calls them, in an environment of their own; and a daemon's end of the socket."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
SESSION_EVENTS = {"SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop", "SessionEnd"}
"""The events that the session of tests/client/test_events.py produces in the real client."""
OTHER_EVENTS = {
    "PostToolUseFailure",
}
"""The events of the plugin's hooks that it does not produce, such as those of a failure or a subagent."""

SHELL_TOOLS = ("cat", "date", "find", "mkdir", "mv", "od", "rm", "tr")

Reply = Callable[[bytes], bytes]


@dataclass
class Hooks:
    """One state folder, and the hooks that work with it."""

    home: Path
    programs: Path
    plugin: Path = CHECKOUT
    environ: dict[str, str] = field(default_factory=dict)

    def call(
        self, script: str, event: str = "", payload: bytes = b"{}", **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Call a hook, which must end well and say nothing on stderr."""
        done = subprocess.run(
            self.command(script, event),
            input=payload,
            env={**self.base, **environ},
            capture_output=True,
            timeout=30,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done

    def command(self, script: str, event: str = "") -> list[str]:
        return ["/bin/sh", f"{self.plugin}/hooks/run", script, event]

    @property
    def base(self) -> dict[str, str]:
        path = f"{self.programs}:/usr/bin:/bin"
        place = {"HOME": os.fspath(self.home.parent), "SUBCONSCIOUS_HOME": os.fspath(self.home)}
        return {"PATH": path, **place, **self.environ}

    @property
    def entries(self) -> list[Path]:
        return sorted((self.home / "spool").glob("*.entry"))

    @property
    def litter(self) -> list[Path]:
        return [path for path in (self.home / "spool").glob(".*") if path.is_file()]


def make_hooks(folder: Path, python: Path = Path(sys.executable)) -> Hooks:
    """Hooks whose ``python3`` is the given one."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(python)
    return Hooks(folder / "state", programs)


def shell_tools(folder: Path) -> Path:
    """A folder for PATH with what a shell script needs and no Python."""
    folder.mkdir()
    for tool in SHELL_TOOLS:
        (folder / tool).symlink_to(str(shutil.which(tool)))
    return folder


def copy_plugin(folder: Path, parts: Sequence[str] = ("hooks",)) -> Path:
    for part in parts:
        shutil.copytree(CHECKOUT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@contextmanager
def daemon(home: Path, reply: Reply) -> Iterator[list[bytes]]:
    """Serve ``home``'s socket; yields the questions. ``reply`` gives the raw bytes to send back."""
    questions: list[bytes] = []
    with listening(home) as server:
        thread = threading.Thread(target=_serve, args=(server, reply, questions))
        thread.start()
        try:
            yield questions
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


@contextmanager
def listening(home: Path, backlog: int = 8) -> Iterator[socket.socket]:
    """A daemon that is there and does nothing."""
    (home / "run").mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as server, _within(home / "run"):
        server.bind("daemon.sock")
        server.listen(backlog)
        yield server


@contextmanager
def _within(folder: Path) -> Iterator[None]:
    """A long path can only be bound by its last part."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _serve(server: socket.socket, reply: Reply, questions: list[bytes]) -> None:
    while True:
        try:
            link, _ = server.accept()
        except OSError:
            return
        with link:
            question = _read_question(link)
            questions.append(question)
            link.sendall(reply(question))


def _read_question(link: socket.socket) -> bytes:
    received = b""
    while chunk := link.recv(1 << 16):
        received += chunk
        line, newline, body = received.partition(b"\n")
        if newline and (not line.startswith(b"ask ") or len(body) >= int(line.split()[2])):
            break
    return received


def framed(answer: bytes) -> bytes:
    return b"%d\n" % len(answer) + answer
