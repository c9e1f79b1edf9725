"""Opens regular files only: a FIFO in the state folder must not block a hook, and a device must not fill its memory."""

import os
import stat


def read(path: str, most: int) -> bytes:
    """Return a file's content. Raises OSError if it is not a regular file, or is larger than ``most`` bytes."""
    _require_regular(path, os.stat(path).st_mode)  # before opening it: opening a device may already have effects
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        status = os.fstat(descriptor)
        _require_regular(path, status.st_mode)
        if status.st_size > most:
            raise OSError(f"{path} is larger than {most} bytes")
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)


def append(path: str) -> int:
    """Open a file for appending, created with mode 0600 if missing; return its descriptor, or raise OSError."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        _require_regular(path, os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _require_regular(path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(f"{path} is not a regular file")
