"""Opens files at untrusted paths: only regular files, without blocking, and with a size limit.

A repository, a transcript path, the spool or the state folder may contain a FIFO, a device, a link to one, or a file
that grows while it is read. All code that opens such a path uses this module; exceptions are listed in
`tests/unit/test_raw_opens.py`.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from functools import cache
from pathlib import Path
from typing import Any

BUFFER_BYTES = 1 << 16

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
# Folders with files that only look regular: /proc/self/mem has no end, and reading some files in /sys has effects.
_KERNEL_FOLDERS = ("/proc", "/sys", "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/cgroup")
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegularError(OSError):
    """The path is not a regular file; reading it could block or never end."""


class TooLargeError(OSError):
    """The file is larger than its reader accepts."""


class UnreadableTextError(ValueError):
    """The file is not UTF-8 text of an accepted size; the message tells the user why."""


class _Bounded(io.FileIO):
    """A file with a fixed end, its size when opened, so that reading a growing file ends."""

    def __init__(self, descriptor: int, size: int) -> None:
        super().__init__(descriptor, "rb")
        self._size = size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        return super().readinto(view[: max(0, self._size - self.tell())]) or 0

    def readall(self) -> bytes:
        return self.read(max(0, self._size - self.tell())) or b""


def open_regular(path: str | os.PathLike[str], *, follow: bool = True) -> io.BufferedReader:
    """Open a regular file for reading, up to its current size.

    ``follow``: the last part of the path may be a link. Raises NotRegularError for anything that is not a regular file,
    and other OSErrors as `open` does. Never blocks on a FIFO and never opens a device.
    """
    name = os.fspath(path)
    # Before the open: opening a device may already do something, such as rewind a tape.
    _require_regular(name, _status(name, follow=follow))
    try:
        descriptor = os.open(name, _FLAGS | (0 if follow else os.O_NOFOLLOW))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # replaced since by a link, a FIFO or a socket
            raise NotRegularError(error.errno, "not a regular file", name) from error
        raise
    try:
        # After the open: the path may refer to another file by now.
        status = os.fstat(descriptor)
        _require_regular(name, status)
        return io.BufferedReader(_Bounded(descriptor, status.st_size), BUFFER_BYTES)
    except BaseException:  # also on interruption: the descriptor would stay open
        os.close(descriptor)
        raise


def read_regular(path: str | os.PathLike[str], most: int, *, follow: bool = True) -> bytes:
    """Return the content of a regular file of at most ``most`` bytes. Raises TooLargeError, or as `open_regular`."""
    with open_regular(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > most else file.read(most + 1)
    if size > most or len(content) > most:
        raise TooLargeError(errno.EFBIG, f"larger than {most} bytes", os.fspath(path))
    return content


def read_utf8(path: str | os.PathLike[str], most: int) -> str:
    """Return the text of a regular file (not a link) of at most ``most`` bytes.

    Raises UnreadableTextError if the file is not regular, too large or not UTF-8 text, OSError if it can't be read.
    """
    try:
        text = read_regular(path, most, follow=False).decode("utf-8")
    except NotRegularError as error:
        raise UnreadableTextError(f"it is {error.strerror}") from error
    except TooLargeError as error:
        size = f"{most >> 20} MB" if most >= 1 << 20 else f"{most >> 10} KB"
        raise UnreadableTextError(f"it is larger than {size}") from error
    except UnicodeDecodeError as error:
        raise UnreadableTextError("it is not UTF-8 text") from error
    if "\0" in text:
        raise UnreadableTextError("it is not text")
    return text


def read_beginning(path: str | os.PathLike[str], most: int, *, follow: bool = True) -> bytes:
    """Return the first ``most`` bytes of a regular file. Raises as `open_regular`."""
    with open_regular(path, follow=follow) as file:
        return file.read(most)


def read_end(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the last ``most`` bytes of a regular file. Raises as `open_regular`."""
    with open_regular(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - most))
        return file.read(most)


def require_regular(path: str | os.PathLike[str], *, follow: bool = True) -> os.stat_result:
    """Return the status of a regular file without opening it. Raises NotRegularError, or OSError if it is missing.

    Meant for files that another library, mainly SQLite, opens by name.
    """
    name = os.fspath(path)
    status = _status(name, follow=follow)
    _require_regular(name, status)
    return status


def is_missing(path: str | os.PathLike[str]) -> bool:
    """Whether nothing exists at a path, not even a broken link."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False


def append_regular(path: str | os.PathLike[str]) -> int:
    """Open a file of this program for appending and return its descriptor; a missing file is created (mode 0600).

    Raises NotRegularError if the path is a link or not a regular file: a FIFO would block until someone reads from it.
    """
    name = os.fspath(path)
    if not is_missing(name):
        _require_regular(name, os.lstat(name))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(name, flags, 0o600)
    try:
        _require_regular(name, os.fstat(descriptor))
    except BaseException:  # also on interruption: the descriptor would stay open
        os.close(descriptor)
        raise
    return descriptor


def overwrite(path: str | os.PathLike[str], content: bytes) -> None:
    """Overwrite a regular file in place, so that processes that have the file open see the new content.

    A missing file is not created. Space for the new content is reserved before anything is written, so that a full disk
    leaves the old content unchanged.
    """
    name = os.fspath(path)
    _require_regular(name, os.lstat(name))
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with os.fdopen(os.open(name, flags), "r+b") as file:
        _require_regular(name, os.fstat(file.fileno()))
        before = file.seek(0, os.SEEK_END)
        try:
            file.write(bytes(max(0, len(content) - before)))
            file.flush()
        except OSError:
            file.truncate(before)
            raise
        file.seek(0)
        file.write(content)
        file.truncate()


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file of this program atomically, with mode 0600; an old file is replaced and never opened."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}-{os.urandom(4).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(target)
    except BaseException:  # also on interruption: the temporary file would stay
        temporary.unlink()
        raise


def _status(name: str, *, follow: bool) -> os.stat_result:
    """Return the status of a path. Raises NotRegularError for an impossible path, such as a loop of links."""
    try:
        return Path(name).stat() if follow else os.lstat(name)
    except FileNotFoundError as error:
        if follow and Path(name).is_symlink():
            raise NotRegularError(errno.ENOENT, "a symbolic link that leads nowhere", name) from error
        raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR):
            raise NotRegularError(error.errno, f"a path that leads to no file ({error.strerror})", name) from error
        raise
    except ValueError as error:  # a NUL in the path
        raise NotRegularError(errno.EINVAL, f"a path that leads to no file ({error})", "") from error


def _require_regular(name: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((what for matches, what in _KINDS if matches(status.st_mode)), "of no known kind")
        raise NotRegularError(errno.EINVAL, f"{kind}, not a regular file", name)
    if status.st_dev in _kernel_devices():
        raise NotRegularError(errno.EINVAL, "a file of the kernel (as in /proc), not a regular file", name)


@cache
def _kernel_devices() -> frozenset[int]:
    """Return the device ids of the kernel's virtual file systems; an empty set if there are none, as on macOS."""
    found = set()
    for folder in _KERNEL_FOLDERS:
        try:
            found.add(Path(folder).stat().st_dev)
        except OSError:
            continue
    return frozenset(found - {Path("/").stat().st_dev})
