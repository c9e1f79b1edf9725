"""Who is at the other end of the socket: a person at a terminal, or something that runs inside Claude Code.

What a request says of its origin is a claim. On Linux the kernel names the process that connected, and /proc tells
where that comes from. Ancestors and environments can be shed by a detached process; the time at which a process
started can't be changed. So a terminal counts as a person's only if it was open before every Claude Code that runs:
no command of a session can have opened it. Other systems have no /proc: there the claim counts.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import ends

PROC = Path("/proc")
MARK = re.compile(rb"(?:^|\0)(?:CLAUDECODE|CLAUDE_CODE_SESSION_ID|CLAUDE_CODE_CHILD_SESSION)=[^\0]")
"""What the client sets for whatever its model or its hooks run."""

HOME = re.compile(rb"(?:^|\0)HOME=([^\0]+)")
STATE_FOLDER = re.compile(rb"(?:^|\0)SUBCONSCIOUS_HOME=([^\0]+)")

RUNTIMES = frozenset({b"node", b"bun", b"deno"})
REAPERS = frozenset(
    {
        *(b"systemd", b"init", b"SessionLeader", b"tini", b"dumb-init", b"docker-init", b"catatonit", b"s6-svscan"),
        *(b"conmon", b"containerd-shim"),
    }
)
"""Besides process 1, programs that adopt processes whose parents have ended (names of at most 15 characters).

The kernel does not show which programs adopt (PR_SET_CHILD_SUBREAPER), so these are known by name.
"""

ENDED = (b"Z", b"X")
"""States of a process that runs no more, and that its parent has not taken note of yet."""

STARTED = 19
"""Where a process's start time stands in its status, counted from behind its name."""

LONGEST_LINE = 64
"""Generations that are looked at: more is a process that forks to be lost."""


@dataclass(frozen=True, slots=True)
class Process:
    """What /proc tells of a process; ``started`` in clock ticks since boot.

    ``readable`` is False where it hides its environment.
    """

    pid: int
    parent: int
    session: int
    terminal: int
    started: int
    uid: int
    name: bytes
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


def doubt_of_person(pid: int, *, at_terminal: bool = True, root: Path | None = None) -> str:
    """Why a process is not taken for a person at a terminal; "" when it is.

    Without ``at_terminal`` it may also be something that a person set up outside of Claude Code, such as a script.
    ``root`` is the state folder that is asked about: sessions that use another one are not looked at.
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
    return "it was asked without a terminal" if not line[0].terminal else _doubt_of_terminal(line, root)


def doubt_of_hook(pid: int, root: Path | None = None) -> str:
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
    # Without a terminal, what started the client has to be older than the other sessions.
    if not above[0].terminal and _began_during_a_session(_oldest(above), above, root):
        return "another session of Claude Code may have started this one"
    return ""


def doubt_of_decision(pid: int, root: Path | None = None) -> str:
    """Why a decision that a hook hands over needs a code; "" when the session's terminal shows that a person typed it.

    The hook itself must have been looked at (``doubt_of_hook``).
    """
    if sys.platform != "linux":
        return ""
    line = list(_line(pid))
    client = next((at for at, process in enumerate(line) if process.client), None)
    if client is None:
        return "it can't be seen who asks"
    if not line[client].terminal:
        return "this session has no terminal"
    return _doubt_of_terminal(line[client:], root)


def client_of(pid: int) -> str:
    """The name of the client that a process runs for, which is no other's while the machine runs; "" where none is."""
    return next((_name(process) for process in _line(pid) if process.client), "")


def running_clients(root: Path | None = None) -> dict[str, float]:
    """The clients that run now and may share a state folder: their names, and when they started."""
    if sys.platform != "linux":
        return {}
    return {_name(client): _time_of(client) for client in _clients(root)}


def _time_of(process: Process) -> float:
    """When a process started, by the clock on the wall."""
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted + process.started / os.sysconf("SC_CLK_TCK")


def _name(client: Process) -> str:
    return f"{client.pid}-{client.started}"


def _doubt_of_terminal(line: list[Process], root: Path | None) -> str:
    """Why the terminal of a process, whose ancestors come with it, may have been opened by a command of a session.

    The leader of a terminal's session opened it. A process that is on a terminal without having its leader above it
    was detached there.
    """
    leader = next((process for process in line if process.pid == line[0].session), None)
    if leader is None:
        return "it was detached from its terminal"
    if _began_during_a_session(leader, line, root):
        return "its terminal was opened while Claude Code was running, so a command of Claude's may have opened it"
    return ""


def _began_during_a_session(process: Process, line: list[Process], root: Path | None) -> bool:
    """Whether a process is younger than a client that runs now, other than those of its own ``line``."""
    own = {one.pid for one in line}
    return any(client.started < process.started for client in _clients(root) if client.pid not in own)


def _oldest(line: list[Process]) -> Process:
    """The last known ancestor. What adopts orphans is none, for it started nothing."""
    return next(process for process in reversed(line) if process.name not in REAPERS)


def _clients(root: Path | None) -> Iterator[Process]:
    """The clients of this user that run now and may share the state folder."""
    for folder in PROC.glob("[0-9]*"):
        process = _read(int(folder.name))
        if process is not None and process.client and process.uid == os.getuid() and _may_use(folder, root):
            yield process


def _may_use(folder: Path, root: Path | None) -> bool:
    """Whether a process may use a state folder; False only if its environment names another one."""
    environment = _environment(folder)
    if root is None or environment is None:
        return True
    if chosen := STATE_FOLDER.search(environment):
        return _is_same(Path(os.fsdecode(chosen[1])), root)
    home = HOME.search(environment)
    return home is None or _is_same(Path(os.fsdecode(home[1]), ".subconscious"), root)


def _is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


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
        started=int(fields[STARTED]),
        uid=uid,
        name=name,
        script=words[1] if len(words) > 1 else b"",
        # A process that ends has lost its words and its environment a moment before its state says so.
        client=fields[0] not in ENDED and words != [b""] and _is_client(name, words),
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
