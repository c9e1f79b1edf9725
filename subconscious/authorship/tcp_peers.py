"""Identifies the process at the other end of a TCP connection on this machine.

A Unix socket names its peer; a TCP socket does not. On Linux, /proc/net/tcp has the user and the inode of the peer's
socket, and /proc/PID/fd shows which processes have that socket open. Other systems have no /proc: there every process
is accepted.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from subconscious.authorship.peers import PROC, doubt_of_person

TABLE = Path("/proc/net/tcp")

REMEMBERED = 256
"""The most connections whose results are cached: a browser opens a few and uses them for many requests."""

TRIES = 3
"""The number of attempts to find a connection in the table, and a process that has it open."""


@dataclass(frozen=True, slots=True)
class TcpPeer:
    """The other end of a connection, as the kernel shows it."""

    uid: int
    inode: int


class TcpPeers:
    """Checks whether the process at the other end of a connection is a person's program."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # By inode: the kernel gives each socket a new one, so a result never applies to a later connection.
        self._known: OrderedDict[int, str] = OrderedDict()

    def doubt(self, port: int, server_port: int) -> str:
        """Return why the program that connects from ``port`` is refused; "" if it is accepted."""
        if sys.platform != "linux":
            return ""
        # The kernel writes the table in portions, so a line may be missing while connections open and close.
        peer = next(filter(None, (peer_of_port(port, server_port) for _ in range(TRIES))), None)
        if peer is None:
            return "it is unknown who runs this"
        if peer.uid != os.getuid():
            return "another user of this machine made the request"
        if peer.inode not in self._known:
            holders = next(filter(None, (list(holders_of(peer.inode)) for _ in range(TRIES))), [])
            if not holders:
                return "it is unknown who runs this"
            self._remember(peer.inode, holders)
        return self._known[peer.inode]

    def _remember(self, inode: int, holders: list[int]) -> None:
        """Store the first doubt about any process that has the socket open, even if it only inherited the socket."""
        doubts = (doubt_of_person(pid, at_terminal=False, root=self._root) for pid in holders)
        self._known[inode] = next(filter(None, doubts), "")
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


def peer_of_port(port: int, server_port: int) -> TcpPeer | None:
    """Return the end at ``port`` of a connection between two ports of 127.0.0.1; None without such a connection."""
    ends = [f"0100007F:{port:04X}".encode(), f"0100007F:{server_port:04X}".encode()]
    for line in TABLE.read_bytes().splitlines():
        fields = line.split()
        if fields[1:3] == ends:
            return TcpPeer(uid=int(fields[7]), inode=int(fields[9]))
    return None


def holders_of(inode: int) -> Iterator[int]:
    """Yield the ids of this user's processes that have a socket open, skipping processes that can't be read."""
    for folder in PROC.glob("[0-9]*"):
        # A process may end meanwhile, and other users' processes can't be read.
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid() and _holds(folder / "fd", Path(f"socket:[{inode}]")):
                yield int(folder.name)


def _holds(descriptors: Path, wanted: Path) -> bool:
    return any(_target(one) == wanted for one in descriptors.iterdir())


def _target(descriptor: Path) -> Path | None:
    """Return the target of a file descriptor; None if the descriptor was closed during the search."""
    try:
        return descriptor.readlink()
    except OSError:
        return None
