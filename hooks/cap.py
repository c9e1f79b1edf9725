"""The spool's size cap while no daemon can start (docs/protocol.md).

Only size counts, never age: names and modification times come from a clock that may be wrong by years.
"""

from __future__ import annotations

import os
import time

from hooks.regular import append, read

MAX_BYTES = 256 << 20
PATIENCE_SECONDS = 600.0


def hold_cap_if_stuck(home: str) -> int:
    """Drop the oldest entries beyond the cap unless a daemon processes the spool; return how many were dropped.

    The wake hook has just started a daemon, which needs time to read the entries. So nothing is dropped until the spool
    was found over its cap twice, ten minutes apart, without having shrunk. Times are taken from the monotonic clock,
    which all processes share; after a restart of the machine, the ten minutes begin again.
    """
    mark = os.path.join(home, "run", "spool-over")
    size, now = sum(length for _, length in _entries(home)), time.monotonic()
    if size <= MAX_BYTES:
        _forget(mark)
        return 0
    since, size_then = _read(mark)
    if not since <= now or size < size_then:
        _write(mark, f"{now} {size}\n")
        return 0
    return hold_cap(home) if now - since >= PATIENCE_SECONDS else 0


def hold_cap(home: str) -> int:
    """Drop the oldest entries beyond the cap, and note that in ``run/spool-full``; return how many were dropped."""
    surplus = _surplus(home)
    for path in surplus:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass  # a daemon that has just started has removed it
    if surplus:
        _note(home, f"{int(time.time())} {len(surplus)} entries removed\n")
    return len(surplus)


def _note(home: str, line: str) -> None:
    """Record dropped entries for `doctor`; do nothing if the path of the record is not a regular file."""
    try:
        note = append(os.path.join(home, "run", "spool-full"))
    except OSError:
        return
    with os.fdopen(note, "a", encoding="utf-8") as file:
        file.write(line)


def _entries(home: str) -> list[tuple[str, int]]:
    """Return the entries' paths and sizes, newest first by name, including unfinished files of killed hooks."""
    folder = os.path.join(home, "spool")
    try:
        names = [name for name in os.listdir(folder) if name.endswith((".entry", ".entry.tmp"))]
    except FileNotFoundError:
        return []
    paths = [os.path.join(folder, name) for name in sorted(names, key=_event_name, reverse=True)]
    return [(path, _size(path)) for path in paths]


def _event_name(name: str) -> str:
    return name.removeprefix(".")


def _surplus(home: str) -> list[str]:
    """Return the paths to remove: everything older than the newest entries that fit into the cap."""
    kept_bytes = 0
    entries = _entries(home)
    for position, (_, size) in enumerate(entries):
        kept_bytes += size
        if kept_bytes > MAX_BYTES:
            return [path for path, _ in entries[position:]]
    return []


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0


def _read(mark: str) -> tuple[float, int]:
    """Return when the spool was first found over its cap, and its size then; infinity if unknown."""
    try:
        since, size = read(mark, 100).decode("ascii").split()
        return float(since), int(size)
    except (OSError, ValueError):
        return float("inf"), 0


def _write(mark: str, text: str) -> None:
    os.makedirs(os.path.dirname(mark), mode=0o700, exist_ok=True)
    draft = f"{mark}.{os.getpid()}"
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return  # left by a killed hook with the same process id; the next hook has another one
    os.write(file, text.encode("ascii"))
    os.close(file)
    os.replace(draft, mark)


def _forget(mark: str) -> None:
    try:
        os.unlink(mark)
    except FileNotFoundError:
        pass
