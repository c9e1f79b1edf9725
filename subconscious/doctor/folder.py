"""The state folder: where it lies, and who may open it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from subconscious.doctor.findings import Finding, Patient, fault, fine, sh
from subconscious.home import Home
from subconscious.safe_files import NotRegularError, require_regular

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
    """There is no place for the state folder."""
    chosen = environ.get("SUBCONSCIOUS_HOME", "")
    if chosen and not chosen.startswith("/"):
        detail = f"SUBCONSCIOUS_HOME is not a full path: {chosen}"
    elif chosen:
        detail = f"SUBCONSCIOUS_HOME is not a folder of yours that you may write to: {chosen}"
    else:
        detail = f"neither HOME ({environ.get('HOME') or 'unset'}) nor a folder in TMPDIR can be used"
    return fault("state folder", detail, _ELSEWHERE)


# Survives a reboot, unlike /tmp; we make it 0700.
_ELSEWHERE = f"export SUBCONSCIOUS_HOME=/var/tmp/subconscious-{os.getuid()}"


def state_folder(patient: Patient) -> Iterator[Finding]:
    """Whether it is the owner's alone, on a file system that can lock."""
    root = patient.home.root
    kind = filesystem(root, patient.mounts)
    mode = stat.S_IMODE(root.stat().st_mode) if root.exists() else 0
    if _is_fallback(patient):
        home = patient.environ.get("HOME") or "unset"
        detail = f"HOME ({home}) can't be written to, so memories are kept in {root}, which a restart may empty"
        yield fault("state folder", detail, _ELSEWHERE)
    if mode & 0o077:
        detail = f"{root} is open to other users (mode {mode:04o})"
        yield fault("state folder", detail, f"chmod 700 {sh(root)}")
    if kind in SHARED_FILESYSTEMS:
        detail = f"{root} lies on a shared file system ({kind}), where locks and the database break"
        yield fault("state folder", detail, _ELSEWHERE)
    elif not root.exists():
        yield fine("state folder", f"{root} is made by the first session")
    elif not mode & 0o077:
        yield fine("state folder", f"{root}, mode {mode:04o}{f', {kind}' if kind else ''}")


def _is_fallback(patient: Patient) -> bool:
    """Whether the state folder is the one that is used where there is no home folder to write to."""
    home = patient.environ.get("HOME", "")
    return not patient.environ.get("SUBCONSCIOUS_HOME") and patient.home.root != Path(home, ".subconscious")


def filesystem(path: Path, mounts: str) -> str:
    """The type of the file system that ``path`` lies on; empty where the system doesn't tell."""
    place = os.path.realpath(path)
    deepest, kind = "", ""
    for mount in mounts.splitlines():
        left, separator, right = mount.partition(" - ")
        point = _unescaped(left.split(" ")[4]) if separator else "?"
        within = point == "/" or place == point or place.startswith(f"{point}/")
        # Of two on one point the later hides the earlier.
        if within and len(point) >= len(deepest):
            deepest, kind = point, right.split(" ")[0]
    return kind


def _unescaped(point: str) -> str:
    """A mount point, of which the kernel writes a space as a backslash and 040."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), point)


def mounts() -> str:
    """What is mounted where, as the kernel tells it; empty where it doesn't."""
    try:
        return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def permissions(patient: Patient) -> Iterator[Finding]:
    """Whether what lies in the folder is its owner's alone."""
    home = patient.home
    if not home.root.exists():
        return
    for folder in home.folders:
        if folder.is_symlink():
            yield fault("permissions", f"{folder} is a link: the daemon won't use it", f"mv {sh(folder)} /var/tmp/")
    suspects = [(path, status) for path, status in home.open_to_others() if path != home.root]
    foreign = [path for path, status in suspects if status.st_uid != os.getuid()]
    wide = [(path, stat.S_IMODE(status.st_mode)) for path, status in suspects if path not in foreign]
    if foreign:
        detail = f"{foreign[0]}{_and_more(foreign)} not yours: somebody else made it, or you did with sudo"
        yield fault("permissions", detail, f"sudo chown -hR {os.getuid()} {sh(home.root)}")
    for path, mode in wide[:1]:
        detail = f"{path}{_and_more(wide)} open to other users (mode {mode:04o})"
        yield fault("permissions", detail, f"chmod go-rwx {' '.join(sh(other) for other, _ in wide[:20])}")


def misplaced(patient: Patient) -> Iterator[Finding]:
    """Whether what lies in place of our files are files; what is wrong in the spool the daemon sets aside by itself."""
    home = patient.home
    found = [path for path in (*_files(home), *home.log.glob("*.log")) if _is_none(path)]
    for path in found:
        yield fault("files", f"{path} is no file: it is not read, nor written to", f"mv {sh(path)} /var/tmp/")


def _files(home: Home) -> Iterator[Path]:
    yield from (home.root / name for name in ("memory.db", "config.toml", "redaction.key"))
    yield from (home.run / name for name in ("daemon.json", "daemon.lock", "spool-full"))


def _is_none(path: Path) -> bool:
    try:
        require_regular(path)
    except NotRegularError:
        return True
    except OSError:
        return False
    return False


def _and_more(found: Sequence[object]) -> str:
    return " is" if len(found) == 1 else f" and {len(found) - 1} more are"
