"""Checks whether one process reads what another writes, that is, whether their streams are connected.

For each stream of a hook, the client creates a pair of connected sockets: the hook has one, the client the other. With
a command that its model runs, the client is connected at most to the command's input, because the output goes to a
file. This distinguishes a prompt that a command hands over from the prompt of a real hook, although both are child
processes of the client. Through netlink (sock_diag(7)), the kernel reports the peer of a socket.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from functools import cache
from pathlib import Path

_LINK = re.compile(r"(?P<kind>socket|pipe):\[(?P<inode>\d+)\]")
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_SHOW_PEER = 4
_PEER = 2
_HEADER = struct.Struct("=LHHLL")
_QUESTION = struct.Struct("=BBHLLLLL")
_ANSWER = struct.Struct("=BBBBLLL")
_ATTRIBUTE = struct.Struct("=HH")
_ANY = 0xFFFFFFFF


def held_by(pid: int, holder: int, proc: Path) -> bool:
    """Whether process ``holder`` is connected to the output of process ``pid`` and to at least one more of its streams.

    Also true on a system that does not report which sockets are connected.
    """
    if not _is_supported():
        return True
    streams = proc / str(pid) / "fd"
    shared = {_other_end(stream) for stream in _links(streams)} & _held(proc / str(holder) / "fd")
    return _other_end(streams / "1") in shared and len(shared) > 1


def _held(folder: Path) -> set[str | None]:
    return {_target(link) for link in _links(folder)}


def _links(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _other_end(stream: Path) -> str | None:
    """Return the kernel's name of the other end of a stream: a socket's peer, or the pipe itself. None if unknown."""
    match = _LINK.fullmatch(_target(stream))
    if match is None:
        return None
    if match["kind"] == "pipe":
        return match[0]
    pair = peer_inode(int(match["inode"]))
    return f"socket:[{pair}]" if pair else None


@cache
def _is_supported() -> bool:
    """Whether this system reports which socket a socket is connected to, tested with a pair of sockets."""
    one, other = socket.socketpair()
    with one, other:
        return peer_inode(os.fstat(one.fileno()).st_ino) == os.fstat(other.fileno()).st_ino


def peer_inode(inode: int) -> int:
    """Return the inode of the peer of a Unix socket; 0 if there is none, or the system does not return it."""
    question = _QUESTION.pack(socket.AF_UNIX, 0, 0, _ANY, inode, _SHOW_PEER, _ANY, _ANY)
    header = _HEADER.pack(_HEADER.size + len(question), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(1)
            kernel.sendall(header + question)
            return _peer_in(kernel.recv(8192))
    except (OSError, AttributeError, struct.error):
        return 0


def _peer_in(answer: bytes) -> int:
    if _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return 0
    place = _HEADER.size + _ANSWER.size
    while place + _ATTRIBUTE.size <= len(answer):
        length, kind = _ATTRIBUTE.unpack_from(answer, place)
        if kind == _PEER:
            return int(struct.unpack_from("=L", answer, place + _ATTRIBUTE.size)[0])
        place += max(_ATTRIBUTE.size, length + 3 & ~3)
    return 0
