"""What is wrong with an installation, and the command that mends it.

Every check only looks: nothing is written, no daemon is started, and each works while the others find ruins.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any

from subconscious import __version__
from subconscious.client import AbsentError, call, hello, last_words, newer
from subconscious.errors import DaemonError, SettingsError, StoreError, SubconsciousError
from subconscious.home import Home, find_home
from subconscious.settings import Settings, load_settings
from subconscious.store.backups import listing
from subconscious.store.check import UPDATE, Health, check
from subconscious.store.health import drift
from subconscious.store.migrate import migrations

OLDEST_PYTHON = (3, 11)
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
LEAST_FREE = 200 * 2**20
"""Bytes below which the disk counts as full."""
WAITING = 24 * 3600.0
"""Seconds after which something that still waits is a fault: an embedding (SPEC B25), a spool entry."""
PROVIDER_SECONDS = 15.0
"""Time that the daemon has to try the providers; each has five seconds once its SDK is loaded."""
OLDEST_BACKUP_DAYS = 14
"""Days after which a copy is too old to go back to, where there were days to make another."""
NONE = "none"
OFFLINE = "none: everything works without one"
DRAIN = "subconscious daemon drain"
FIX = "subconscious doctor --fix"

_USUAL_LINE = re.compile(r"\d{4}-\d\d-\d\d \S+ (DEBUG|INFO|WARNING) ")


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's answer; a fault names the command that mends it."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is examined."""

    home: Home
    environ: Mapping[str, str]
    mounts: str
    now: float


Check = Callable[[Patient], Iterator[Finding]]


def examine(environ: Mapping[str, str] | None = None, mounts: str | None = None) -> list[Finding]:
    """Run every check. ``mounts`` stands for /proc/self/mountinfo."""
    environ = os.environ if environ is None else environ
    findings = [*_python(), *_pause(environ)]
    home = find_home(environ)
    if home is None:
        return [*findings, _no_home(environ)]
    patient = Patient(home, environ, _mounts() if mounts is None else mounts, time())
    for each in CHECKS:
        findings += _guarded(each, patient)
    return findings


def _guarded(each: Check, patient: Patient) -> list[Finding]:
    """A file that can't be looked at is a finding, not the end of the examination."""
    try:
        return list(each(patient))
    except OSError as error:
        return [_fault("files", str(error), f"ls -ld {_sh(error.filename or patient.home.root)} # it must be yours")]


def _fine(name: str, detail: str) -> Finding:
    return Finding(name, ok=True, detail=detail)


def _fault(name: str, detail: str, remedy: str) -> Finding:
    return Finding(name, ok=False, detail=detail, remedy=remedy)


def _sh(path: Path | str) -> str:
    return shlex.quote(str(path))


def _python() -> Iterator[Finding]:
    detail = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= OLDEST_PYTHON:
        yield _fine("python", detail)
    else:
        yield _fault("python", f"{detail} is too old", "install Python 3.11 or newer")


def _pause(environ: Mapping[str, str]) -> Iterator[Finding]:
    if environ.get("SUBCONSCIOUS_OFF", "").lower() not in ("", "0", "false"):
        detail = "SUBCONSCIOUS_OFF is set: sessions started from here are neither watched nor helped"
        yield _fault("pause", detail, "unset SUBCONSCIOUS_OFF")


def _no_home(environ: Mapping[str, str]) -> Finding:
    chosen = environ.get("SUBCONSCIOUS_HOME", "")
    if chosen and not chosen.startswith("/"):
        detail = f"SUBCONSCIOUS_HOME is not a full path: {chosen}"
    elif chosen:
        detail = f"SUBCONSCIOUS_HOME is not a folder of yours that you may write to: {chosen}"
    else:
        detail = f"neither HOME ({environ.get('HOME') or 'unset'}) nor a folder in TMPDIR can be used"
    return _fault("state folder", detail, _ELSEWHERE)


# Survives a reboot, unlike /tmp; we make it 0700.
_ELSEWHERE = f"export SUBCONSCIOUS_HOME=/var/tmp/subconscious-{os.getuid()}"


def _state_folder(patient: Patient) -> Iterator[Finding]:
    root = patient.home.root
    kind = filesystem(root, patient.mounts)
    mode = stat.S_IMODE(root.stat().st_mode) if root.exists() else 0
    if mode & 0o077:
        detail = f"{root} is open to other users (mode {mode:04o})"
        yield _fault("state folder", detail, f"chmod 700 {_sh(root)}")
    if kind in SHARED_FILESYSTEMS:
        detail = f"{root} lies on a shared file system ({kind}), where locks and the database break"
        yield _fault("state folder", detail, _ELSEWHERE)
    elif not root.exists():
        yield _fine("state folder", f"{root} is made by the first session")
    elif not mode & 0o077:
        yield _fine("state folder", f"{root}, mode {mode:04o}{f', {kind}' if kind else ''}")


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


def _mounts() -> str:
    try:
        return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _disk(patient: Patient) -> Iterator[Finding]:
    place = next(folder for folder in (patient.home.root, *patient.home.root.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE:
        yield _fault("disk", f"only {free // 2**20} MB free on {place}", f"df -h {_sh(place)} # and make room")
    else:
        yield _fine("disk", f"{free / 2**30:.1f} GB free")


def _settings(patient: Patient) -> Iterator[Finding]:
    config = patient.home.root / "config.toml"
    try:
        load_settings(patient.home.root)
    except SettingsError as error:
        yield _fault("settings", error.message, error.remedy)
    else:
        yield _fine("settings", str(config) if config.exists() else "all at their defaults")


def _permissions(patient: Patient) -> Iterator[Finding]:
    home = patient.home
    if not home.root.exists():
        return
    for folder in home.folders:
        if folder.is_symlink():
            yield _fault("permissions", f"{folder} is a link: the daemon won't use it", f"mv {_sh(folder)} /var/tmp/")
    suspects = [(path, status) for path, status in home.open_to_others() if path != home.root]
    foreign = [path for path, status in suspects if status.st_uid != os.getuid()]
    wide = [(path, stat.S_IMODE(status.st_mode)) for path, status in suspects if path not in foreign]
    if foreign:
        detail = f"{foreign[0]}{_and_more(foreign)} not yours: somebody else made it, or you did with sudo"
        yield _fault("permissions", detail, f"sudo chown -hR {os.getuid()} {_sh(home.root)}")
    for path, mode in wide[:1]:
        detail = f"{path}{_and_more(wide)} open to other users (mode {mode:04o})"
        yield _fault("permissions", detail, f"chmod go-rwx {' '.join(_sh(other) for other, _ in wide[:20])}")


def _and_more(found: Sequence[object]) -> str:
    return " is" if len(found) == 1 else f" and {len(found) - 1} more are"


def _environment(patient: Patient) -> Iterator[Finding]:
    current = patient.home.env / "current"
    complete = (current / ".complete").exists()
    if failure := _failure(patient.home.env / "failure"):
        yield _fault("environment", f"could not be made: {failure['reason']}", failure["remedy"])
    elif current.is_symlink() and not complete:
        yield _fault("environment", f"{current} is not whole", f"rm {_sh(current)} # the next session makes it anew")
    else:
        yield _fine("environment", os.path.realpath(current) if complete else "is made by the first session")


def _failure(file: Path) -> dict[str, str] | None:
    """Why the environment could not be made, as ``hooks/maker.py`` wrote it."""
    if not file.exists():
        return None
    try:
        failure = json.loads(file.read_text(encoding="utf-8"))
        return {key: str(failure[key]) for key in ("reason", "remedy")}
    except (ValueError, KeyError, TypeError):
        return {"reason": f"{file} can't be read", "remedy": f"rm {_sh(file)} # the next session tries again"}


def _daemon(patient: Patient) -> Iterator[Finding]:
    try:
        yield _version(hello(patient.home))
    except AbsentError:
        yield _absent(patient)
    except DaemonError as error:
        yield _fault("daemon", f"it listens, but {error.message}", "subconscious daemon stop --force")


def _embedder(patient: Patient) -> Iterator[Finding]:
    """Whether the chosen embedder is in use; only a running daemon knows."""
    try:
        told = call(patient.home, "status", timeout=2)["embedder"]
        if told.get("code"):
            detail = f"{told['name']}: {told['code']} {told['error']}"
            yield _fault("embedder", detail, f"{FIX} # once that is mended")
    except (SubconsciousError, KeyError):
        return  # that of the daemon itself is told already


def _word(patient: Patient) -> Iterator[Finding]:
    """Settings that wait for a person's word; only a running daemon knows which hold."""
    try:
        waits = call(patient.home, "status", timeout=2)["unaccepted"]
    except (SubconsciousError, KeyError):
        return
    if waits:
        detail = f"not in force, for they need your word: {', '.join(waits)}"
        yield _fault("settings", detail, "subconscious accept-settings # or take them back in config.toml")


def _absent(patient: Patient) -> Finding:
    """Idle, or unable to start: then its log ends with a traceback or an error instead of its farewell."""
    words = last_words(patient.home)
    if words and not _USUAL_LINE.match(words):
        log = patient.home.log / "daemon.log"
        return _fault("daemon", f"its last start failed: {words}", f"less {_sh(log)} # then subconscious daemon start")
    stale = " (it left its socket behind: harmless)" if patient.home.socket.exists() else ""
    return _fine("daemon", f"not running; the next session or command starts it{stale}")


def _version(running: str) -> Finding:
    if newer(__version__, running):
        detail = f"version {running} runs, older than this program ({__version__})"
        return _fault("daemon", detail, "subconscious daemon start # the older one yields")
    if newer(running, __version__):
        detail = f"version {running} runs, newer than this program ({__version__})"
        return _fault("daemon", detail, UPDATE)
    return _fine("daemon", f"version {running} runs")


def _database(patient: Patient) -> Iterator[Finding]:
    path = patient.home.database
    if not path.exists():
        yield _fine("database", "is made by the first session")
        return
    try:
        health = check(path)
    except StoreError as error:
        yield _fault("database", error.message, error.remedy)
    else:
        yield _fine("database", f"sound, schema {health.schema}, memories: {health.memories}")
        yield from _leftovers(patient, health)
        yield from _drifted(patient, health)
        yield from _backup(patient, health)


def _leftovers(patient: Patient, health: Health) -> Iterator[Finding]:
    if health.buried:
        detail = f"{health.buried} given up: {'; '.join(health.buried_reasons)}"
        yield _fault("jobs", detail, f"less {_sh(patient.home.log / 'daemon.log')} # entries: {patient.home.buried}")
    since = health.pending_since
    wanted = _limits(patient.home).embedder != "none"
    if wanted and since is not None and patient.now - since > WAITING:
        detail = f"memories without an embedding: {health.pending}, the oldest for more than a day"
        yield _fault("embeddings", detail, FIX)


def _drifted(patient: Patient, health: Health) -> Iterator[Finding]:
    """Whether what is derived agrees with what it is derived from; a database of before is looked at once migrated."""
    if health.schema < migrations()[-1].version:
        return
    try:
        wrong = drift(patient.home.database)
    except StoreError as error:
        yield _fault("indexes", error.message, error.remedy)
        return
    if wrong:
        yield _fault("indexes", ", ".join(f"{name}: {count}" for name, count in wrong.items()), FIX)


def _backup(patient: Patient, health: Health) -> Iterator[Finding]:
    """Whether there is a copy to go back to. The first is made by the first night."""
    copies = listing(patient.home.database)
    if copies:
        days = (patient.now - copies[0].at) / 86_400
        detail = f"copies: {len(copies)}, the latest {max(0, days):.0f} days old"
        if days > OLDEST_BACKUP_DAYS:
            yield _fault("backup", detail, "subconscious backup")
        else:
            yield _fine("backup", detail)
    elif health.memories:
        yield _fine("backup", "none yet; the next night makes one, or subconscious backup")


def _spool(patient: Patient) -> Iterator[Finding]:
    sizes, oldest = _entries(patient)
    limit = _limits(patient.home).spool_max_mb
    detail = f"entries: {len(sizes)}, {sum(sizes) / 2**20:.1f} of {limit} MB"
    note = patient.home.run / "spool-full"
    if note.exists():
        lost = note.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        yield _fault("spool", f"was full, and entries were lost: {' '.join(lost)}", f"{DRAIN}; rm {_sh(note)}")
    elif sum(sizes) > limit * 2**20:
        yield _fault("spool", f"{detail}: the oldest entries are being lost", DRAIN)
    elif patient.now - oldest > WAITING:
        yield _fault("spool", f"{detail}, the oldest for {(patient.now - oldest) / 86400:.0f} days", DRAIN)
    else:
        yield _fine("spool", detail)


def _entries(patient: Patient) -> tuple[list[int], float]:
    """The sizes of what waits, and when the oldest came. The daemon takes them while we look."""
    sizes, oldest = [], patient.now
    for entry in patient.home.spool.glob("*.entry"):
        with suppress(FileNotFoundError):
            status = entry.stat()
            sizes.append(status.st_size)
            oldest = min(oldest, status.st_mtime)
    return sizes, oldest


def _limits(home: Home) -> Settings:
    try:
        return load_settings(home.root)
    except SettingsError:
        return Settings.model_construct()


def _vectors(_: Patient) -> Iterator[Finding]:
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    detail = "sqlite-vec" if loads else "an exact numpy scan (this Python's SQLite loads no extensions)"
    yield Finding("vector index", ok=True, detail=detail)


def _provider(patient: Patient) -> Iterator[Finding]:
    """Ask the daemon to try the keys and models, at no cost; without a daemon say what is set."""
    settings = _limits(patient.home)
    try:
        found = call(patient.home, "provider", {"check": True}, PROVIDER_SECONDS)
    except SubconsciousError as error:
        if settings.provider == NONE:
            yield _fine("model", OFFLINE)
        elif isinstance(error, AbsentError):
            yield _fine("model", f"{settings.provider}; it is tried only while the daemon runs")
        else:
            yield _fault("model", f"{settings.provider} could not be tried: {error.message}", error.remedy)
        return
    for provider in found["providers"]:
        yield _tried(provider)
    if not found["providers"]:
        yield _fine("model", OFFLINE)
    yield from _unspent(found)


def _tried(provider: dict[str, Any]) -> Finding:
    name, error = f"{provider['name']} {provider['model']}".strip(), provider["error"]
    if not provider["reachable"] and error:
        return _fault("model", f"{name}: {error['code']} {error['message']}", error["remedy"])
    if provider["breaker"] != "closed":
        return _fault("model", f"{name} answers, but failed too often", "nothing: it is tried again within a minute")
    return _fine("model", f"{name} answers")


def _unspent(found: dict[str, Any]) -> Iterator[Finding]:
    spending = found["spending"]
    if found["providers"] and spending["state"] == "reached":
        detail = f"the cap of ${spending['cap']:g} a day is reached: work waits until tomorrow"
        yield _fault("spend", detail, "subconscious stats # or raise cost_per_day in config.toml")


def _plugin(patient: Patient) -> Iterator[Finding]:
    """Best effort, so a note and never a fault: the client has more places for its settings than this one."""
    chosen = patient.environ.get("CLAUDE_CONFIG_DIR", "")
    file = Path(chosen or Path(patient.environ.get("HOME", "/"), ".claude"), "settings.json")
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
        yield _fine("plugin", _enabled(settings))
    except (OSError, ValueError, AttributeError):
        yield _fine("plugin", f"unknown: Claude Code's settings are not at {file}")


def _enabled(settings: dict[str, Any]) -> str:
    if settings.get("disableAllHooks"):
        return "all hooks are switched off in Claude Code's settings (disableAllHooks)"
    names = [name.partition("@")[0] for name, on in settings.get("enabledPlugins", {}).items() if on]
    if "subconscious" in names:
        return "enabled in Claude Code"
    return "not enabled for all of Claude Code: claude plugin install subconscious@subconscious"


CHECKS: tuple[Check, ...] = (
    _state_folder,
    _disk,
    _settings,
    _permissions,
    _environment,
    _daemon,
    _embedder,
    _word,
    _database,
    _spool,
    _vectors,
    _provider,
    _plugin,
)
"""To add a check, write a function and add it here."""
