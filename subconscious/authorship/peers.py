"""Identifies the process that connected to the daemon: a person's terminal, or something inside a coding agent.

The origin in a request is only a claim. On Linux the kernel names the connected process, and /proc shows where it comes
from. A detached process can shed its ancestors and environment, but not change the time at which it started. So a
terminal counts as a person's only if it was opened before every running Claude Code was started: then no command of a
session can have opened it. Other systems have no /proc: there the claim is trusted.
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

from subconscious.authorship import stream_ends
from subconscious.clients import CLIENTS

PROC = Path("/proc")
MARKS = (
    *("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION"),
    *(mark for client in CLIENTS.values() for mark in client.marks),
)
MARK = re.compile(rf"(?:^|\0)(?:{'|'.join(MARKS)})=[^\0]".encode())
"""Matches a variable that clients set for every process that their models start."""
PROGRAMS = frozenset({b"claude"}).union(*(client.programs for client in CLIENTS.values()))
SERVERS = frozenset(word for client in CLIENTS.values() for word in client.servers)
SCRIPTS = (b"/claude", *(end for client in CLIENTS.values() for end in client.scripts))

HOME = re.compile(rb"(?:^|\0)HOME=([^\0]+)")
STATE_FOLDER = re.compile(rb"(?:^|\0)SUBCONSCIOUS_HOME=([^\0]+)")

RUNTIMES = frozenset({b"node", b"bun", b"deno"})
REAPERS = frozenset(
    {
        *(b"systemd", b"init", b"SessionLeader", b"tini", b"dumb-init", b"docker-init", b"catatonit", b"s6-svscan"),
        *(b"conmon", b"containerd-shim"),
    }
)
"""Programs besides process 1 that adopt processes after their parents have ended (names of at most 15 characters).

The kernel does not show which programs adopt (PR_SET_CHILD_SUBREAPER), so these are known by name.
"""

ENDED = (b"Z", b"X")
"""States of a process that has ended, but has not been reaped by its parent yet."""

STARTED = 19
"""The index of the start time in the fields of /proc/PID/stat, counted after the process's name."""

LONGEST_LINE = 64
"""The maximum length of a chain of ancestors; a longer chain means a process that forks to hide."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process as /proc shows it; ``started`` is in clock ticks since boot.

    ``client`` is true for a coding agent. ``server`` is true for a client that serves several windows, one of which a
    command may have opened. ``marked`` is true if a client started the process for its model. ``readable`` is false if
    its environment can't be read.
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
    server: bool
    marked: bool
    readable: bool


def peer_of(link: socket.socket) -> int:
    """Return the id of the connected process; 0 if the system does not provide it."""
    return _credentials(link)[0]


def is_ours(link: socket.socket) -> bool:
    """Whether the connected process is of the daemon's user; True if unknown: file modes keep other users out."""
    return _credentials(link)[1] == os.getuid()


def _credentials(link: socket.socket) -> tuple[int, int]:
    """Return the ids of the process and the user that connected, as the kernel recorded them at that time."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        pid, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(pid), int(user)
    if sys.platform == "darwin":
        local, xucred = 0, link.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: version, user, groups
        return local, int.from_bytes(xucred[4:8], sys.byteorder)
    return 0, os.getuid()


def doubt_of_person(pid: int, *, at_terminal: bool = True, root: Path | None = None) -> str:
    """Return why a process is not accepted as run by a person at a terminal; "" if it is accepted.

    If ``at_terminal`` is false, a person's program, such as a script, is also accepted if no coding agent runs it.
    ``root`` is the state folder: sessions that use another one are ignored.
    """
    if sys.platform != "linux":
        return ""
    line = list(_line(pid))
    if not line or line[0].uid != os.getuid() or not line[0].readable:
        return "it is unknown who runs this"
    if any(map(_inside, line)):
        return "this was run inside a coding agent"
    if not at_terminal:
        return ""
    return "this was run without a terminal" if not line[0].terminal else _doubt_of_terminal(line, root)


def doubt_of_hook(pid: int, root: Path | None = None) -> str:
    """Return why a process that reports a prompt is not accepted as a hook of a person's session; "" if it is."""
    if sys.platform != "linux":
        return ""
    # The client runs `sh hooks/run`, which runs the hook. These two have the variables of ``MARK``; no ancestor has.
    whole = list(_line(pid))
    line = [process for process in whole if not process.script.endswith(b"/hooks/run")]
    if not line:
        return "it is unknown who runs this"
    above = line[1:]
    if any(process.marked for process in above):
        return "the prompt was handed over by a command that ran inside a coding agent"
    if not above or not above[0].client or line[0].uid != os.getuid():
        return "the prompt was not handed over by Claude Code"
    if above[0].server:
        return "a background server handed the prompt over, so it can't be seen who typed it"
    if _is_nested(above):
        return "the prompt was typed by Claude Code itself"
    # A command that replaced its shell has the same parent as a hook, but the client does not read its output.
    if not stream_ends.held_by(whole[whole.index(above[0]) - 1].pid, above[0].pid, PROC):
        return "the prompt was handed over by a command that ran inside a coding agent"
    # Without a terminal, the process that started the client must be older than the other sessions.
    if not above[0].terminal and _began_during_a_session(_oldest(above), above, root):
        return "another session of Claude Code may have started this one"
    return ""


def _is_nested(above: list[Process]) -> bool:
    """Whether a client, the first of these processes, was started by another client.

    A client that is the parent of the first one, in the same terminal session, is its launcher and does not count.
    """
    launchers = next((at for at, process in enumerate(above) if not process.client), len(above))
    return any(process.client for process in above[launchers:]) or len({one.session for one in above[:launchers]}) > 1


def doubt_of_decision(pid: int, root: Path | None = None) -> str:
    """Return why a decision from a hook must be confirmed by a code; "" if no command can have opened the terminal.

    The hook itself must have been checked before (``doubt_of_hook``).
    """
    if sys.platform != "linux":
        return ""
    line = list(_line(pid))
    client = next((at for at, process in enumerate(line) if process.client), None)
    if client is None:
        return "it is unknown who runs this"
    if not line[client].terminal:
        return "this session has no terminal"
    return _doubt_of_terminal(line[client:], root)


def client_of(pid: int) -> str:
    """Return an identifier of the client that a process runs for, unique until the machine restarts; "" if none."""
    client = client_process(pid)
    return _name(client) if client is not None else ""


def client_process(pid: int) -> Process | None:
    """Return the client that a process runs for; None if it runs for no client."""
    return next((process for process in _line(pid) if process.client), None)


def running_clients(root: Path | None = None) -> dict[str, float]:
    """Return the running clients that may use the state folder ``root``: a dict from identifier to start time."""
    if sys.platform != "linux":
        return {}
    return {_name(client): time_of(client) for client in _clients(root)}


def time_of(process: Process) -> float:
    """Return the start time of a process by the wall clock."""
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted + process.started / os.sysconf("SC_CLK_TCK")


def _name(client: Process) -> str:
    return f"{client.pid}-{client.started}"


def _doubt_of_terminal(line: list[Process], root: Path | None) -> str:
    """Return why a command run in a session may have opened the terminal of a process; "" if none can have opened it.

    ``line`` is the process with its ancestors. The process that leads a terminal's session opened that terminal. If the
    leader is not among the ancestors of a process, that process was detached from its parent.
    """
    leader = next((process for process in line if process.pid == line[0].session), None)
    if leader is None:
        return "the process was detached from its terminal"
    if _began_during_a_session(leader, line, root):
        return "the terminal was opened while Claude Code was running, so a command of Claude's may have opened it"
    return ""


def _began_during_a_session(process: Process, line: list[Process], root: Path | None) -> bool:
    """Whether a process is younger than a running client that is not among its ancestors (``line``)."""
    own = {one.pid for one in line}
    return any(client.started < process.started for client in _clients(root) if client.pid not in own)


def _oldest(line: list[Process]) -> Process:
    """Return the oldest known ancestor. A program that adopts orphans does not count, because it did not start them."""
    return next(process for process in reversed(line) if process.name not in REAPERS)


def _clients(root: Path | None) -> Iterator[Process]:
    """Yield this user's running clients, such as Claude Code, that may use the state folder ``root``."""
    for folder in PROC.iterdir():
        if not folder.name.isdigit() or not _looks_like_client(folder):
            continue
        process = _read(int(folder.name))
        if process is not None and process.client and process.uid == os.getuid() and _may_use(folder, root):
            yield process


def _looks_like_client(folder: Path) -> bool:
    """Whether a process has the name or arguments of a client.

    All processes are checked at every prompt, so only two files are read: half the time of ``_read``, which reads
    more.
    """
    try:
        words = _contents(folder / "cmdline").split(b"\0")
        return words != [b""] and _is_client(_contents(folder / "comm").removesuffix(b"\n"), words)
    except OSError:
        return False


def _contents(file: Path) -> bytes:
    with file.open("rb", buffering=0) as opened:
        return opened.read()


def _may_use(folder: Path, root: Path | None) -> bool:
    """Whether a process may use a state folder. False only if its environment names another one."""
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
    """Yield a process and its ancestors, as long as they can be read."""
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
        status = _contents(folder / "stat")
        uid = folder.stat().st_uid
        words = _contents(folder / "cmdline").split(b"\0")
    except OSError:
        return None
    # The name in parentheses may contain anything, so count after it: state, parent, group, session, terminal.
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
        # A process that exits loses its arguments and environment shortly before its state shows that it has ended.
        client=fields[0] not in ENDED and words != [b""] and _is_client(name, words),
        server=not SERVERS.isdisjoint(words[1:4]),
        marked=environment is not None and MARK.search(environment) is not None,
        readable=environment is not None,
    )


def _environment(folder: Path) -> bytes | None:
    try:
        return _contents(folder / "environ")
    except OSError:
        return None


def _is_client(name: bytes, words: list[bytes]) -> bool:
    program = words[0].rpartition(b"/")[2]
    if name in PROGRAMS or program in PROGRAMS:
        return True
    script = next((word for word in words[1:] if not word.startswith(b"-")), b"")
    return program in RUNTIMES and (b"claude-code" in script or script.endswith(SCRIPTS))
