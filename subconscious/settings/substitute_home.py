"""Describes why memories go to a temporary folder: the user's own state folder can't be used."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from subconscious.settings.home import temporary_home


class Substitution(NamedTuple):
    """The state folder that can't be used (``wanted``), the temporary one that is used, the reason and the remedy."""

    wanted: Path
    used: Path
    reason: str
    remedy: str

    @property
    def note(self) -> str:
        """A line for the user: which folder can't be used and why, where memories are, and what to do."""
        return f"{self.problem}. To repair it: {self.remedy}"

    @property
    def problem(self) -> str:
        """The line without what to do."""
        is_there = os.path.isdir(self.wanted)  # noqa: PTH112 - Path.is_dir raises where a folder above is not readable
        kept = f". Earlier memories are untouched in {self.wanted}" if is_there else ""
        return (
            f"{self.wanted} can't be used ({self.reason}), so memories now go to {self.used}, which a restart may"
            f" empty{kept}"
        )


def substitution(used: Path, environ: Mapping[str, str] | None = None) -> Substitution | None:
    """Return why the state folder ``used`` replaces the one in HOME; None if it does not."""
    environ = os.environ if environ is None else environ
    if used != temporary_home(environ):
        return None
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        return None
    wanted = Path(home, ".subconscious")
    found = _why_unusable(wanted)
    return Substitution(wanted, used, *found) if found else None


def _why_unusable(wanted: Path) -> tuple[str, str] | None:
    """Return the reason why a folder can't be used and what to do about it; None if it can be used."""
    path = wanted
    while True:
        try:
            status = path.stat()
        except FileNotFoundError:
            path = path.parent
            continue
        except OSError as error:
            return f"{path}: {error.strerror}", elsewhere()
        break
    name, subject = shlex.quote(str(path)), "it" if path == wanted else str(path)
    if not stat.S_ISDIR(status.st_mode):
        return f"{subject} is not a folder", f"mv {name} /var/tmp/" if path == wanted else elsewhere()
    if status.st_uid != os.getuid():
        return f"{subject} belongs to another user", _ownership_remedy(wanted, path, status.st_uid)
    if os.access(path, os.W_OK | os.X_OK):
        return None
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return f"{subject} is on a read-only file system", f"make it writable, or {elsewhere()}"
    return f"you may not write to {subject}", f"chmod u+rwx {name}"


def _ownership_remedy(wanted: Path, path: Path, owner: int) -> str:
    """Return what to do if another user owns the state folder or a folder above it.

    The owner of a folder above it, which may be `/home`, `/var` or `/`, is never changed. Neither is the owner of a
    state folder in another user's home, because that user would lose it.
    """
    if os.getuid() == 0 and owner:  # with sudo, the folder is that of the user who called it
        return "run it as that user"
    if path == wanted and path.parent.stat().st_uid == os.getuid():
        return f"sudo chown -hR {os.getuid()} {shlex.quote(str(path))}"
    return elsewhere()


def elsewhere() -> str:
    """Return the command that selects another state folder, in /var/tmp; the folder gets mode 0700.

    Unlike /tmp, /var/tmp survives a reboot.
    """
    return f"export SUBCONSCIOUS_HOME=/var/tmp/subconscious-{os.getuid()}"
