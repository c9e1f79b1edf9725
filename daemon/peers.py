"""Who is at the other end of the socket: a person at a terminal, or something that runs inside Claude Code (SPEC N13).

What a request says of its origin is a claim. On Linux the kernel names the process that connected, and /proc tells
where that comes from: the client marks what its model runs, and what it runs has no terminal. A process that tears
itself loose from all of that, with a terminal, a parent and an environment of its own making, looks like a person
here; so does one that writes to the database file. Other systems have no /proc: there the claim counts.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import ends

PROC = Path("/proc")
MARK = re.compile(rb"(?:^|\0)(?:CLAUDECODE|CLAUDE_CODE_SESSION_ID|CLAUDE_CODE_CHILD_SESSION)=[^\0]")
"""What the client sets for whatever its model or its hooks run."""

RUNTIMES = frozenset({b"node", b"bun", b"deno"})
PTY_SLAVE = 136
"""The major number of pseudo-terminals."""

LONGEST_LINE = 64
"""Generations that are looked at: more is a process that forks to be lost."""


@dataclass(frozen=True, slots=True)
class Process:
    """What /proc tells of a process. ``readable`` is False where it hides its environment."""

    pid: int
    parent: int
    session: int
    terminal: int
    uid: int
    script: bytes
    client: bool
    marked: bool
    readable: bool


def peer_of(link: socket.socket) -> int:
    """The process that connected; 0 where the system does not tell."""
    return _credentials(link)[0]


def is_ours(link: socket.socket) -> bool:
    """Whether the process that connected is of the daemon's own user. Where the system does not tell, modes must do."""
    return _credentials(link)[1] == os.getuid()


def _credentials(link: socket.socket) -> tuple[int, int]:
    """Process and user at the other end, as the kernel noted them when it connected."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        pid, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(pid), int(user)
    if sys.platform == "darwin":
        local, xucred = 0, link.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: version, user, groups
        return local, int.from_bytes(xucred[4:8], sys.byteorder)
    return 0, os.getuid()


def doubt_of_person(pid: int, *, at_terminal: bool = True) -> str:
    """Why a process is not taken for a person at a terminal; "" when it is.

    Without ``at_terminal`` it may also be something that a person set up outside of Claude Code, such as a script.
    """
    if sys.platform != "linux":
        return ""
    line = list(_line(pid))
    if not line or line[0].uid != os.getuid() or not line[0].readable:
        return "it can't be seen who asks"
    if any(map(_inside, line)):
        return "it was asked from inside Claude Code"
    if not at_terminal:
        return ""
    if not line[0].terminal:
        return "it was asked without a terminal"
    if any(map(_inside, _line(line[0].session))) or _held_by_client(line[0]):
        return "its terminal was made inside Claude Code"
    return ""


def doubt_of_hook(pid: int) -> str:
    """Why a process that hands a prompt over is not taken for a hook of a person's session; "" when it is."""
    if sys.platform != "linux":
        return ""
    # The client runs `sh hooks/run`, which runs the hook; its marks are on both, and on nothing above them.
    whole = list(_line(pid))
    line = [process for process in whole if not process.script.endswith(b"/hooks/run")]
    if not line:
        return "it can't be seen who asks"
    above = line[1:]
    if any(process.marked for process in above):
        return "the prompt was handed over by a command that ran inside Claude Code"
    if not above or not above[0].client or line[0].uid != os.getuid():
        return "the prompt was not handed over by Claude Code"
    # A client within a client is one that the model started; a launcher and its client share their session.
    if len({process.session for process in above if process.client}) > 1:
        return "the prompt was typed by Claude Code itself"
    # A command in the place of its shell stands where a hook stands, but is not listened to as one.
    if not ends.held_by(whole[whole.index(above[0]) - 1].pid, above[0].pid, PROC):
        return "the prompt was handed over by a command that ran inside Claude Code"
    return ""


def _inside(process: Process) -> bool:
    return process.client or process.marked


def _line(pid: int) -> Iterator[Process]:
    """A process and those above it, as far as they can be seen."""
    for _ in range(LONGEST_LINE):
        process = _read(pid)
        if process is None:
            return
        yield process
        if process.parent <= 1:
            return
        pid = process.parent


def _read(pid: int) -> Process | None:
    folder = PROC / str(pid)
    try:
        status = (folder / "stat").read_bytes()
        uid = folder.stat().st_uid
        words = (folder / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    # The name in parentheses may hold anything, so count from its end: state, parent, group, session, terminal.
    name, _, rest = status.partition(b"(")[2].rpartition(b")")
    fields = rest.split()
    environment = _environment(folder)
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        terminal=int(fields[4]),
        uid=uid,
        script=words[1] if len(words) > 1 else b"",
        client=_is_client(name, words),
        marked=environment is not None and MARK.search(environment) is not None,
        readable=environment is not None,
    )


def _environment(folder: Path) -> bytes | None:
    try:
        return (folder / "environ").read_bytes()
    except OSError:
        return None


def _is_client(name: bytes, words: list[bytes]) -> bool:
    program = words[0].rpartition(b"/")[2]
    if b"claude" in (name, program):
        return True
    return program in RUNTIMES and len(words) > 1 and (b"claude-code" in words[1] or words[1].endswith(b"/claude"))


def _held_by_client(process: Process) -> bool:
    """Whether all who hold the other end of a process's pseudo-terminal run inside the client."""
    major, minor = process.terminal >> 8 & 0xFFF, process.terminal & 0xFF | process.terminal >> 12 & 0xFFF00
    if major != PTY_SLAVE:
        return False
    holders = [pid for pid in _neighbours(process.pid) if _holds(pid, minor)]
    return bool(holders) and all(any(map(_inside, _line(pid))) for pid in holders)


def _neighbours(pid: int) -> Iterator[int]:
    """Processes that see the same files: pseudo-terminals of another container have the same numbers."""
    here = _target(PROC / str(pid) / "ns" / "mnt")
    for folder in PROC.glob("[0-9]*"):
        if _target(folder / "ns" / "mnt") == here:
            yield int(folder.name)


def _holds(pid: int, terminal: int) -> bool:
    mine = b"tty-index:\t%d\n" % terminal
    with suppress(OSError):
        for link in (PROC / str(pid) / "fd").iterdir():
            if _target(link).endswith("/ptmx") and mine in (PROC / str(pid) / "fdinfo" / link.name).read_bytes():
                return True
    return False


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""
