"""The state folder and its paths (docs/protocol.md). This module must import fast, because every command imports it.

Hooks can't import it, so ``hooks/`` repeats the rules of ``find_home``; a test compares the results of both.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from subconscious.domain.errors import DaemonError

SOCKET_PATH_LIMIT = 100
"""The maximum length, in bytes, of a full path to which a socket can be bound (systems allow 104 to 108)."""


class Home(NamedTuple):  # not a dataclass: dataclasses import `inspect`
    """The paths of one state folder (docs/protocol.md)."""

    root: Path

    @property
    def database(self) -> Path:
        """The SQLite database file."""
        return self.root / "memory.db"

    @property
    def spool(self) -> Path:
        """The folder with spool entries that wait for the daemon."""
        return self.root / "spool"

    @property
    def buried(self) -> Path:
        """The folder with spool entries whose job failed and is not retried."""
        return self.spool / "buried"

    @property
    def run(self) -> Path:
        """The folder with the socket, the lock file and other runtime files."""
        return self.root / "run"

    @property
    def socket(self) -> Path:
        """The daemon's socket."""
        return self.run / "daemon.sock"

    @property
    def lock(self) -> Path:
        """The lock file: the process that has locked it is the daemon."""
        return self.run / "daemon.lock"

    @property
    def refusal(self) -> Path:
        """The file with the reason why the daemon did not start: ``{code, message, remedy}``; missing if it started."""
        return self.run / "refused.json"

    @property
    def damage(self) -> Path:
        """The file listing the problems that the database's last verification found; missing if there were none."""
        return self.run / "damage.json"

    @property
    def log(self) -> Path:
        """The folder with log files."""
        return self.root / "log"

    @property
    def env(self) -> Path:
        """The folder with the daemon's own Python environments."""
        return self.root / "env"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders that must exist and must not be links."""
        return self.spool, self.buried, self.run, self.log

    def make(self) -> None:
        """Create the folders with access for the owner only, and remove wider permissions.

        Raises DaemonError if one of them is a link or belongs to another user, who could change its contents.
        """
        for folder in (self.root, *self.folders):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except FileExistsError as error:
                raise DaemonError(f"{folder} exists but is not a folder", f"move {folder} away") from error
            # The state folder itself may be a link of its owner, for example to another disk.
            status = folder.stat() if folder == self.root else folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                raise DaemonError(f"{folder} is a link or belongs to another user", f"move {folder} away")
            if stat.S_IMODE(status.st_mode) & 0o077:
                folder.chmod(0o700)

    def mend(self) -> None:
        """Remove other users' access to the folder. Links and other users' files are left; `doctor` reports them."""
        for path, status in self.open_to_others():
            if status.st_uid == os.getuid() and not stat.S_ISLNK(status.st_mode):
                path.chmod(stat.S_IMODE(status.st_mode) & ~0o077)

    def open_to_others(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the path and status of each file and folder that others can access, or that belongs to another user."""
        yield from _suspects(self.root, self.root.stat())
        for folder, inner, names in os.walk(self.root):
            folder_path = Path(folder)
            if folder_path == self.env:
                inner.clear()  # packages have the permissions of their installation; the folder itself is private
            for name in (*inner, *names):
                with suppress(FileNotFoundError):  # the daemon may remove entries meanwhile
                    yield from _suspects(folder_path / name, (folder_path / name).lstat())


def _suspects(path: Path, status: os.stat_result) -> Iterator[tuple[Path, os.stat_result]]:
    wide = stat.S_IMODE(status.st_mode) & 0o077 and not stat.S_ISLNK(status.st_mode)
    if wide or status.st_uid != os.getuid():
        yield path, status


def find_home(environ: Mapping[str, str] | None = None) -> Home | None:
    """Return the state folder, or None if no folder can be used as one (docs/protocol.md)."""
    environ = os.environ if environ is None else environ
    chosen = environ.get("SUBCONSCIOUS_HOME", "")
    if chosen:
        return Home(Path(chosen)) if chosen.startswith("/") and _usable(chosen) else None
    home = environ.get("HOME", "")
    if home.startswith("/"):
        candidate = os.path.join(home, ".subconscious")  # noqa: PTH118 - the same expression as in the hooks
        if _usable(candidate):
            return Home(Path(candidate))
    fallback = temporary_home(environ)
    return Home(fallback) if fallback is not None and _private(os.fspath(fallback)) else None


def temporary_home(environ: Mapping[str, str]) -> Path | None:
    """Return the folder that is used if the one in HOME can't be; None if TMPDIR is not a full path."""
    temporary = environ.get("TMPDIR") or "/tmp"  # noqa: S108 - a private folder in it, checked by the caller
    if not temporary.startswith("/"):  # it would be relative to the session's repository
        return None
    return Path(temporary, f"subconscious-{os.getuid()}")


def _usable(path: str) -> bool:
    """Whether ``path`` (or, if it does not exist, its nearest existing parent) is a writable folder of this user."""
    while True:
        try:
            status = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            path = os.path.dirname(path)  # noqa: PTH120
            continue
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and os.access(path, os.W_OK | os.X_OK)


def _private(path: str) -> bool:
    """Whether ``path`` is, or can be created as, a folder (not a link) that only this user can access: mode 0700."""
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102
    except FileExistsError:
        pass
    except OSError:
        return False
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077
