"""Checks whether a file that a tool used, or its folder, is in the list that the daemon publishes (docs/protocol.md).

Imported only after a tool used a file. In doubt, a file counts as known, and the hook asks the daemon.
"""

import os
import time

from hooks.rendered import read

HEADER, END = b"subconscious-files 2\n", b"\nend\n"
LARGEST = (1 << 20) + 1
FRESH_SECONDS = 90.0
KEYS = (b'"file_path"', b'"notebook_path"')
SIGNS = "_.@+-"


def may_be_known(home: str, payload: bytes) -> bool:
    """Whether to ask the daemon: False only if no memory can refer to a file in this payload."""
    if b'"error"' in payload:
        return True
    paths = _paths(payload)
    lines = [_lines(path) for path in paths]
    if not lines or not all(lines):
        return True
    published = _published(home)
    return not published or any(_has_line(published, line) for of_file in lines for line in of_file)


def _any_of_type(name: bytes) -> bytes:
    """Return the line that stands for all files with the extension of ``name``."""
    return b"*" + os.path.splitext(name)[1]


def _has_line(content: bytes, line: bytes) -> bool:
    """Whether ``content`` has ``line`` as a whole line.

    The search leaves out the line feeds, because searching for such frequent bytes is slow.
    """
    at = content.find(line)
    while at >= 0:
        end = at + len(line)
        if content[at - 1 : at] == content[end : end + 1] == b"\n":
            return True
        at = content.find(line, end)
    return False


def _published(home: str) -> bytes:
    """Return the published names, one per line; b"" if there are none or they are outdated."""
    path = os.path.join(home, "run", "file-names")
    content = read(path, LARGEST)
    if not content.startswith(HEADER) or not content.endswith(END):
        return b""
    try:
        fresh = abs(time.time() - os.stat(path).st_mtime) < FRESH_SECONDS
    except OSError:
        return b""
    return content if fresh else b""


def _paths(payload: bytes) -> "list[bytes]":
    """Return the raw values of the payload's keys for paths; b"" if a value is not a plain string.

    Within a JSON string a key has a backslash before its second quotation mark, so text never matches.
    """
    found = []
    for key in KEYS:
        _, *rest = payload.split(key)
        for after in rest:
            colon, quote, value = after[:4096].partition(b'"')
            found.append(value.partition(b'"')[0] if quote and colon.strip() == b":" else b"")
    return found


def _lines(path: bytes) -> "set[bytes]":
    """Return the lines for a file, its type and the folders above it, as given and resolved; none if in doubt."""
    if b"\\" in path or not path.startswith(b"/"):
        return set()
    folder, _, name = os.path.realpath(path).rpartition(b"/")
    if not _is_plain(name) or b"." not in name or name.endswith(b"."):
        return set()
    folders = {*folder.split(b"/"), *path.split(b"/")[:-1]}  # a rule may name a folder by a link to it
    above = {part.lower() if _is_plain(part) else b"*" for part in folders if part}
    return {name, _any_of_type(name)} | {part + b"/" for part in above}


def _is_plain(name: bytes) -> bool:
    """Whether a name may be in the list."""
    return name.isascii() and all(letter.isalnum() or letter in SIGNS for letter in name.decode("ascii"))
