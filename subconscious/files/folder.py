"""The export folder: files are written atomically, and never through a symbolic link.

All files are opened relative to the folder's descriptor and without following links, so that no part of the path can be
replaced by a link while the export runs.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from subconscious.domain.errors import RequestError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

LARGEST = 64 << 20
"""The most bytes of a file that are read."""


class Folder:
    """An open export folder. New files and sub-folders are accessible only to their owner."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def names(self) -> list[str]:
        """Return the sorted names of the files and sub-folders."""
        return sorted(os.listdir(self._descriptor))  # noqa: PTH208 - of the open folder, not of its path

    def close_to_others(self) -> None:
        """Set the folder's mode to 0700, so that only its owner can access it."""
        os.fchmod(self._descriptor, 0o700)

    def read(self, name: str) -> bytes | None:
        """Return a file's content; None if it is missing. Raises RequestError for links, devices and large files."""
        try:
            with self._parent(name, make=False) as (folder, base):
                descriptor = os.open(base, _READ, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._in_the_way(name) from error
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
                raise self._in_the_way(name)
            return file.read(LARGEST + 1)

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically, with mode 0600. Raises RequestError if something other than a file has this name."""
        with self._parent(name, make=True) as (folder, base):
            self._refuse_other(folder, base, name)
            draft = f".{os.urandom(6).hex()}.tmp"
            try:
                with os.fdopen(os.open(draft, _CREATE, 0o600, dir_fd=folder), "wb") as file:
                    file.write(content)
                os.replace(draft, base, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:  # on Ctrl-C, too: leave no temporary file behind
                _unlink(draft, folder)
                raise

    def remove(self, name: str) -> None:
        """Remove a file; also remove its folder if the folder is empty afterwards."""
        try:
            with self._parent(name, make=False) as (folder, base):
                _unlink(base, folder)
        except (FileNotFoundError, NotADirectoryError):
            return
        parent = os.path.dirname(name)  # noqa: PTH120 - a name within the folder, not a path
        if parent:
            try:
                os.rmdir(parent, dir_fd=self._descriptor)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR):
                    raise

    def _refuse_other(self, folder: int, base: str, name: str) -> None:
        """Raise RequestError if something other than a regular file has this name."""
        try:
            status = os.stat(base, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(status.st_mode):
            raise self._in_the_way(name)

    def _in_the_way(self, name: str) -> RequestError:
        return RequestError(
            f"{self.path / name} is a link, a device or too large", "move it elsewhere, or use another folder"
        )

    @contextmanager
    def _parent(self, name: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Yield the descriptor of a name's folder, and the last part of the name."""
        inner, _, base = name.rpartition("/")
        if not inner:
            yield self._descriptor, base
            return
        if make:
            with suppress(FileExistsError):
                os.mkdir(inner, 0o700, dir_fd=self._descriptor)
        try:
            descriptor = os.open(inner, _FOLDER, dir_fd=self._descriptor)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and make:
                raise self._in_the_way(inner) from error
            raise
        try:
            yield descriptor, base
        finally:
            os.close(descriptor)


@contextmanager
def open_folder(path: Path) -> Iterator[Folder]:
    """Open an export folder, or create it with mode 0700. Raises RequestError if it is a link or another user's."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, _FOLDER)
    except OSError as error:
        raise RequestError(
            f"{path} can't be used as an export folder: {_why(error)}", "name another folder: --out DIR"
        ) from error
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise RequestError(f"{path} belongs to another user", "name a folder that belongs to you: --out DIR")
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _why(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EEXIST):
        return "it is a link, or not a folder"
    return error.strerror or "it can't be opened"


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
