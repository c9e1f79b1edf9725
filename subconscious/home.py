"""The state folder: where it is and what lies in it (docs/protocol.md). Light: the terminal starts with it.

Hooks can't import this, so the rules of ``find_home`` stand once more in ``hooks/``; a test holds both to the
same answers.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SOCKET_PATH_LIMIT = 100
"""Bytes a socket's path may have to be bound by its full name (the systems allow 104 to 108)."""


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one state folder (docs/protocol.md)."""

    root: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.root / "memory.db"

    @property
    def spool(self) -> Path:
        """Entries that wait for the daemon."""
        return self.root / "spool"

    @property
    def buried(self) -> Path:
        """Entries whose job failed for good."""
        return self.spool / "buried"

    @property
    def run(self) -> Path:
        """Socket, lock and markers."""
        return self.root / "run"

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.run / "daemon.sock"

    @property
    def lock(self) -> Path:
        """The file whose lock makes a process the daemon."""
        return self.run / "daemon.lock"

    @property
    def log(self) -> Path:
        """Log files."""
        return self.root / "log"

    @property
    def env(self) -> Path:
        """The daemon's own Python environments."""
        return self.root / "env"

    def make(self) -> None:
        """Create the folders, owner-only, and take back permissions that grew too wide."""
        for folder in (self.root, self.spool, self.buried, self.run, self.log):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if stat.S_IMODE(folder.stat().st_mode) & 0o077:
                folder.chmod(0o700)


def find_home(environ: Mapping[str, str] | None = None) -> Home | None:
    """Say where the state folder is, or None where there can be none (docs/protocol.md)."""
    environ = os.environ if environ is None else environ
    chosen = environ.get("SUBCONSCIOUS_HOME", "")
    if chosen:
        return Home(Path(chosen)) if chosen.startswith("/") and _usable(chosen) else None
    home = environ.get("HOME", "")
    if home.startswith("/"):
        candidate = os.path.join(home, ".subconscious")  # noqa: PTH118 - the very expression of the hooks
        if _usable(candidate):
            return Home(Path(candidate))
    temporary = environ.get("TMPDIR") or "/tmp"  # noqa: S108 - a private folder in it, checked below
    if not temporary.startswith("/"):  # relative to whatever repository the session is in
        return None
    fallback = os.path.join(temporary, f"subconscious-{os.getuid()}")  # noqa: PTH118
    return Home(Path(fallback)) if _private(fallback) else None


def _usable(path: str) -> bool:
    """Whether ``path`` is ours and writable, or can be made: its nearest existing parent is such."""
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
    """Whether ``path`` is, or can be made, a folder that only this user reaches: no link, mode 0700."""
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102
    except FileExistsError:
        pass
    except OSError:
        return False
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077


def temporary_home(prefix: str = "subconscious-") -> Home:
    """Make a state folder of its own, for demos and tests."""
    home = Home(Path(tempfile.mkdtemp(prefix=prefix)))
    home.make()
    return home
