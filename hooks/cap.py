"""The spool's cap, held by the hooks for as long as no daemon can start (docs/protocol.md)."""

from __future__ import annotations

import os
import time

from hooks.regular import append

MAX_BYTES = 256 << 20
MAX_DAYS = 30
HALF_WRITTEN_SECONDS = 3600


def hold_cap(home: str) -> int:
    """Remove the oldest entries beyond the cap and say so in ``run/spool-full``; return how many."""
    folder = os.path.join(home, "spool")
    if not os.path.isdir(folder):
        return 0
    _remove_half_written(folder)
    surplus = _surplus(folder)
    for name in surplus:
        try:
            os.unlink(os.path.join(folder, name))
        except FileNotFoundError:
            pass  # a daemon that has just started took it
    if surplus:
        _note(home, f"{int(time.time())} {len(surplus)} entries removed\n")
    return len(surplus)


def _note(home: str, line: str) -> None:
    """Say so for `doctor`; where something else lies in the note's place, nothing is said."""
    try:
        note = append(os.path.join(home, "run", "spool-full"))
    except OSError:
        return
    with os.fdopen(note, "a", encoding="utf-8") as file:
        file.write(line)


def _remove_half_written(folder: str) -> None:
    """Hooks that were killed while they wrote leave a person's words behind."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        try:
            if name.endswith(".tmp") and os.stat(path).st_mtime < time.time() - HALF_WRITTEN_SECONDS:
                os.unlink(path)
        except FileNotFoundError:
            pass


def _surplus(folder: str) -> list[str]:
    """List what goes: names begin with their time, so their order is that of their age."""
    oldest = f"{time.time_ns() - MAX_DAYS * 86_400 * 10**9:020d}"
    names = sorted((name for name in os.listdir(folder) if name.endswith(".entry")), reverse=True)
    kept_bytes = 0
    for position, name in enumerate(names):
        kept_bytes += _size(os.path.join(folder, name))
        if kept_bytes > MAX_BYTES or name < oldest:
            return names[position:]
    return []


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
