"""What a session starts with when no daemon answers: the copy that the daemon has rendered (docs/protocol.md).

Printed as it lies there. The line before it names what is in it: that goes into the spool, so that the daemon knows.
Imported only then; nothing is parsed, and of the payload only looked whether a session goes on that has it already.
"""

import os
import stat
import time

from hooks.drop import compose, spool, write

FRESH_SECONDS = 7 * 86400.0
LARGEST = 1 << 16
OFF = ("0", "false", "no", "off")


def read(path: str, most: int = LARGEST) -> bytes:
    """A file of ours alone, fresh and of bearable size, or nothing."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        status = os.fstat(file)
        ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
        return os.read(file, status.st_size) if ours and status.st_size < most else b""
    finally:
        os.close(file)


def _is_fresh(path: str) -> bool:
    return abs(time.time() - os.stat(path).st_mtime) < FRESH_SECONDS


def find(home: str, folder: str) -> bytes:
    """What is rendered for exactly this folder; nothing for one that is not known, or not any more."""
    import hashlib  # costs milliseconds that no answered hook pays

    place = os.path.join(home, "rendered")
    project = read(os.path.join(place, "paths", hashlib.sha256(os.fsencode(folder)).hexdigest())).decode("ascii")
    path = os.path.join(place, project, "start")
    return read(path) if project.isalnum() and os.path.exists(path) and _is_fresh(path) else b""


def main(home: str, payload: bytes) -> None:
    """Print what is rendered, and to the person why the daemon does not start, where it said so."""
    said, why = _start(home, payload), read(os.path.join(home, "run", "refused.json"))
    if why:
        said = _with_warning(said, why)
    if said:
        write(1, said)


def _with_warning(said: bytes, why: bytes) -> bytes:
    import json  # costs milliseconds, which only a session pays whose daemon has refused to start

    try:
        refused = json.loads(why)
        text = f"Subconscious: {refused['message']}. Sessions are still recorded. Run: {refused['remedy']}"
        answer = json.loads(said) if said else {}
    except (ValueError, KeyError, TypeError):
        return said
    return json.dumps({**answer, "systemMessage": text}).encode()


def _start(home: str, payload: bytes) -> bytes:
    """What the session starts with, unless it has it or wants none; that it is given is handed over first."""
    folder = os.environ.get("CLAUDE_PROJECT_DIR", "")
    chosen = os.environ.get("SUBCONSCIOUS_SURFACE") or os.environ.get("CLAUDE_PLUGIN_OPTION_SURFACE", "")
    wanted = chosen.lower() not in OFF
    resumed = b'"source":"resume"' in payload.replace(b'": "', b'":"')
    if not folder or not wanted or resumed:
        return b""
    given, _, said = find(home, folder).partition(b"\n")
    if said:
        try:
            spool(home, *compose("Given", payload, b"given=" + given))
        except OSError:
            pass  # a full disk: the memories matter more than the record that they were given
    return said
