"""The ``drop`` hook: writes its stdin, an event of the client, as an entry into the spool (docs/protocol.md).

The payload is never parsed, and nothing is imported that Python has not loaded anyway: annotations are strings because
even ``__future__`` is one more file to read.
"""

import os
import stat
import time

VERSION = "0.2.0"
OPTIONS = ("CAPTURE", "SURFACE", "START_TOKENS", "PROVIDER")
VARIABLES = b"SUBCONSCIOUS_"
NOT_HANDED_OVER = (
    b"_HOME",
    b"_OFF",
    b"_LOG",
    b"_ROOT",
    b"_KEY",
    b"_URL",
    b"_OPTIONS",
    b"_COMMAND",
    b"_DIR",
    b"_CLAUDE",
)
LONGEST_VARIABLE = 200


def find_home() -> "str | None":
    """Return the state folder, as ``find_home`` of the library finds it; None if there is no usable folder."""
    chosen = os.environ.get("SUBCONSCIOUS_HOME", "")
    if chosen:
        return chosen if chosen.startswith("/") and _usable(chosen) else None
    home = os.environ.get("HOME", "")
    if home.startswith("/"):
        candidate = os.path.join(home, ".subconscious")
        if _usable(candidate):
            return candidate
    temporary = os.environ.get("TMPDIR") or "/tmp"
    if not temporary.startswith("/"):
        return None
    fallback = os.path.join(temporary, f"subconscious-{os.getuid()}")
    return fallback if _private(fallback) else None


def _usable(path: str) -> bool:
    while True:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            path = os.path.dirname(path)
            continue
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and os.access(path, os.W_OK | os.X_OK)


def _private(path: str) -> bool:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return False
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077


def header(event: str, now: int) -> bytes:
    """Return an entry's first line, which has the data of the session that the payload lacks."""
    project = os.environ.get("CLAUDE_PROJECT_DIR", "")
    config = os.environ.get("CLAUDE_CONFIG_DIR", "")
    fields = [_escaped(field) for field in (event, str(now), project, config, VERSION)]
    return os.fsencode("\t".join(["subconscious 1", *fields, _options()]) + "\n")


def _options() -> str:
    """Return the header's last field: the plugin's options, then this session's SUBCONSCIOUS_* variables.

    The spool is on disk: variables that may contain a key are left out.
    """
    chosen = [(key.lower(), os.environ.get("CLAUDE_PLUGIN_OPTION_" + key)) for key in OPTIONS]
    for name in os.environb:  # decoding a large environment takes noticeable time
        if name.startswith(VARIABLES) and not name.endswith(NOT_HANDED_OVER):
            value = os.fsdecode(os.environb[name])
            if len(value) <= LONGEST_VARIABLE:
                chosen.append((_joinable(os.fsdecode(name)), value))
    return ";".join(f"{key}={_joinable(value)}" for key, value in chosen if value is not None)


def _joinable(text: str) -> str:
    return _escaped(text).replace(";", "\\:")


def environ_for_python() -> "dict[str, str]":
    """Return the environment without the variables that affect Python: a project's PYTHONPATH must not apply to us."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _escaped(field: str) -> str:
    return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def read_payload() -> bytes:
    """Return all of stdin."""
    chunks = []
    while chunk := os.read(0, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def compose(event: str, payload: bytes, more: bytes = b"") -> "tuple[str, bytes]":
    """Return the name and the content of a new entry; ``more`` is one more option for its header."""
    now = time.time_ns()
    name = f"{now:020d}-{os.getpid()}-{os.urandom(4).hex()}.entry"
    first = header(event, now)
    return name, (first[:-1] + b";" + more + b"\n" if more else first) + payload


def spool(home: str, name: str, entry: bytes) -> None:
    """Write an entry to the spool. Raises OSError if it can't be written, on a full disk for example."""
    folder = os.path.join(home, "spool")
    os.umask(0o077)
    try:
        _place(folder, name, entry)
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)
        _place(folder, name, entry)


def _place(folder: str, name: str, entry: bytes) -> None:
    """Write under a hidden name, then rename: the daemon sees only complete entries."""
    partial = os.path.join(folder, f".{name}.tmp")
    target = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            write(target, entry)
        finally:
            os.close(target)
        os.rename(partial, os.path.join(folder, name))
    except OSError:
        os.unlink(partial)
        raise


def write(target: int, content: bytes) -> None:
    """Write all of ``content``; a single os.write may write less, especially on a full disk."""
    while content:
        content = content[os.write(target, content) :]


def main(event: str) -> None:
    """Write stdin to the spool; do nothing without a state folder or a payload."""
    home = find_home()
    if home is not None and (payload := read_payload()):
        name, entry = compose(event, payload)
        try:
            spool(home, name, entry)
        except OSError:
            from hooks import ask  # imported only on failure: the daemon keeps the entry in memory until there is space

            ask.hand_over(home, name, entry)
