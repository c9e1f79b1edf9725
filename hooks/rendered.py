"""When no daemon answers, prints the start context that a daemon wrote to a file earlier (docs/protocol.md).

The first line of the file lists the memories in the context, and is written to the spool, so that the daemon can record
that they were shown. The rest is printed unchanged. Imported only when needed. The payload is not parsed, only searched
for the mark of a resumed session, which has the context already.
"""

import os
import stat
import time

from hooks.drop import compose, spool, write

FRESH_SECONDS = 7 * 86400.0
LARGEST = 1 << 16
OFF = ("0", "false", "no", "off")


def read(path: str, most: int = LARGEST) -> bytes:
    """Return the content of a file that only this user can access and that is not too large; else b""."""
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
    """Return the rendered start context for exactly this folder; b"" if there is none or it is outdated."""
    import hashlib  # here, because it takes milliseconds and is needed only if no daemon answers

    place = os.path.join(home, "rendered")
    project = read(os.path.join(place, "paths", hashlib.sha256(os.fsencode(folder)).hexdigest())).decode("ascii")
    path = os.path.join(place, project, "start")
    return read(path) if project.isalnum() and os.path.exists(path) and _is_fresh(path) else b""


def main(home: str, payload: bytes) -> None:
    """Print the rendered start context, with a warning if the daemon refused to start."""
    output, refusal = _start(home, payload), read(os.path.join(home, "run", "refused.json"))
    if refusal:
        output = _with_warning(output, refusal)
    if output:
        write(1, output)


def _with_warning(output: bytes, refusal: bytes) -> bytes:
    import json  # here, because it takes milliseconds and is needed only if a daemon refused to start

    try:
        refused = json.loads(refusal)
        text = f"Subconscious: {refused['message']}. Sessions are still recorded. Run: {refused['remedy']}"
        answer = json.loads(output) if output else {}
    except (ValueError, KeyError, TypeError):
        return output
    return json.dumps({**answer, "systemMessage": text}).encode()


def _start(home: str, payload: bytes) -> bytes:
    """Return the rendered start context, and write a spool entry about it; b"" if the session has or wants none."""
    folder = os.environ.get("CLAUDE_PROJECT_DIR", "")
    chosen = os.environ.get("SUBCONSCIOUS_SURFACE") or os.environ.get("CLAUDE_PLUGIN_OPTION_SURFACE", "")
    wanted = chosen.lower() not in OFF
    resumed = b'"source":"resume"' in payload.replace(b'": "', b'":"')
    if not folder or not wanted or resumed:
        return b""
    given, _, output = find(home, folder).partition(b"\n")
    if output:
        try:
            spool(home, *compose("Given", payload, b"given=" + given))
        except OSError:
            pass  # a full disk: the memories matter more than the record of their delivery
    return output
