"""Checks of the state folder: its file system, permissions and files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from subconscious.doctor.findings import CheckContext, Finding, fault, passed, quoted
from subconscious.settings.home import Home
from subconscious.settings.substitute_home import elsewhere, substitution
from subconscious.system.safe_files import NotRegularError, require_regular

SHARED_FILESYSTEMS = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "drvfs",
        "fuse.sshfs",
        "fuse.rclone",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
        "vboxsf",
    }
)
"""File systems that break locks, SQLite's WAL or file watching."""


def no_home(environ: Mapping[str, str]) -> Finding:
    """Return the fault that reports why no state folder can be used."""
    chosen = environ.get("SUBCONSCIOUS_HOME", "")
    if chosen and not chosen.startswith("/"):
        detail = f"SUBCONSCIOUS_HOME is not a full path: {chosen}"
    elif chosen:
        detail = f"SUBCONSCIOUS_HOME must be a folder that belongs to you and that you may write to: {chosen}"
    else:
        detail = f"neither HOME ({environ.get('HOME') or 'unset'}) nor a folder in TMPDIR can hold the state folder"
    return fault("state folder", detail, elsewhere())


def state_folder(context: CheckContext) -> Iterator[Finding]:
    """Check that other users can't read the state folder, and that its file system supports locks."""
    root = context.home.root
    file_system = filesystem(root, context.mounts)
    mode = stat.S_IMODE(root.stat().st_mode) if root.exists() else 0
    chosen = context.environ.get("SUBCONSCIOUS_HOME")
    if not chosen and (replaced := substitution(root, context.environ)) is not None:
        yield fault("state folder", replaced.problem, replaced.remedy)
    elif not chosen and root != Path(context.environ.get("HOME", ""), ".subconscious"):
        detail = f"HOME is not set, so memories are kept in {root}, which a restart may empty"
        yield fault("state folder", detail, elsewhere())
    if mode & 0o077:
        detail = f"{root} can be read by other users (mode {mode:04o})"
        yield fault("state folder", detail, f"chmod 700 {quoted(root)}")
    if file_system in SHARED_FILESYSTEMS:
        detail = f"{root} is on a shared file system ({file_system}), where locks and the database don't work reliably"
        yield fault("state folder", detail, elsewhere())
    elif not root.exists():
        yield passed("state folder", f"{root} does not exist yet; the first session creates it")
    elif not mode & 0o077:
        yield passed("state folder", f"{root}, mode {mode:04o}{f', {file_system}' if file_system else ''}")


def filesystem(path: Path, mounts: str) -> str:
    """Return the type of the file system of ``path``; "" where the system does not report it."""
    folder = os.path.realpath(path)
    deepest, file_system = "", ""
    for mount in mounts.splitlines():
        left, separator, right = mount.partition(" - ")
        point = _unescaped(left.split(" ")[4]) if separator else "?"
        within = point == "/" or folder == point or folder.startswith(f"{point}/")
        # Of two file systems on one mount point, the later one hides the earlier.
        if within and len(point) >= len(deepest):
            deepest, file_system = point, right.split(" ")[0]
    return file_system


def _unescaped(point: str) -> str:
    """Return a mount point with its octal escapes resolved: the kernel escapes spaces."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), point)


def mounts() -> str:
    """Return the content of /proc/self/mountinfo; "" on systems without it."""
    try:
        return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def permissions(context: CheckContext) -> Iterator[Finding]:
    """Check that the files in the state folder belong to the user, and that nobody else can access them."""
    home = context.home
    if not home.root.exists():
        return
    for folder in home.folders:
        if folder.is_symlink():
            yield fault(
                "permissions",
                f"{folder} is a symbolic link, which the daemon does not use",
                f"mv {quoted(folder)} /var/tmp/",
            )
    exposed = [(path, status) for path, status in home.open_to_others() if path != home.root]
    not_owned = [path for path, status in exposed if status.st_uid != os.getuid()]
    accessible = [(path, stat.S_IMODE(status.st_mode)) for path, status in exposed if path not in not_owned]
    if not_owned:
        detail = (
            f"{not_owned[0]}{_number_phrase(not_owned)} not owned by you: created by another user, or by you with sudo"
        )
        yield fault("permissions", detail, f"sudo chown -hR {os.getuid()} {quoted(home.root)}")
    for path, mode in accessible[:1]:
        detail = f"{path}{_number_phrase(accessible)} accessible to other users (mode {mode:04o})"
        yield fault("permissions", detail, f"chmod go-rwx {' '.join(quoted(other) for other, _ in accessible[:20])}")


def misplaced(context: CheckContext) -> Iterator[Finding]:
    """Check that Subconscious's files are regular files. The spool is left out: the daemon moves bad entries away."""
    home = context.home
    found = [path for path in (*_files(home), *home.log.glob("*.log")) if _is_not_regular(path)]
    for path in found:
        yield fault("files", f"{path} is not a regular file, so it is not used", f"mv {quoted(path)} /var/tmp/")


def _files(home: Home) -> Iterator[Path]:
    yield from (home.root / name for name in ("memory.db", "config.toml", "redaction.key"))
    yield from (home.run / name for name in ("daemon.json", "daemon.lock", "spool-full"))


def _is_not_regular(path: Path) -> bool:
    try:
        require_regular(path)
    except NotRegularError:
        return True
    except OSError:
        return False
    return False


def _number_phrase(found: Sequence[object]) -> str:
    return " is" if len(found) == 1 else f" and {len(found) - 1} more are"
