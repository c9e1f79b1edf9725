"""Checks of the store and of the queue."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress

from subconscious.doctor.findings import DRAIN, FIX, WAITING, Finding, Patient, fault, fine, settings_of, sh
from subconscious.errors import StoreError
from subconscious.safe_files import is_missing, read_end
from subconscious.store import claude_notes as notes
from subconscious.store import losses, postponed
from subconscious.store.backups import altered, listing, reference
from subconscious.store.check import Health, check, reading
from subconscious.store.health import drift
from subconscious.store.migrate import migrations
from subconscious.store.presence import as_damage, flaw_of, remedy, repair, require_usable
from subconscious.store.verification import problems, setbacks

UPKEEP = {
    "decay": "{affected} of {total} memories would be archived at once",
    "review": "{affected} of {total} captures that wait for review would expire at once",
}

MOST_FOLDERS = 3
"""Folders of notes that are named, and notes that can't be used."""

LAST_BYTES = 4096
"""Bytes at the end of a note in which its last line is looked for."""

OLDEST_BACKUP_DAYS = 14
"""Days after which a copy is too old to go back to, where there were days to make another."""


def database(patient: Patient) -> Iterator[Finding]:
    """Whether the database is sound, and agrees with itself."""
    path = patient.home.database
    try:
        require_usable(path)
        if flaw_of(path):
            yield fine("database", "is made by the first session")
            return
        health = check(path)
    except (StoreError, sqlite3.Error) as error:
        told = as_damage(error, path) or StoreError(str(error), remedy(path))
        yield fault("database", told.message, told.remedy)
    else:
        yield from _verified(patient, health)
        yield from _leftovers(patient, health)
        yield from _drifted(patient, health)
        yield from _backup(patient, health)


def _verified(patient: Patient, health: Health) -> Iterator[Finding]:
    """Whether pages, texts and history are as they were written, and the copies too."""
    path = patient.home.database
    copies = listing(path)
    found = [*(setbacks(path, copies[0]) if copies else []), *problems(path, reference(path))]
    if found:
        yield fault("database", "; ".join(dict.fromkeys(found)), repair(path))
    else:
        yield fine("database", f"sound, schema {health.schema}, memories: {health.memories}")
    if changed := altered(path):
        detail = f"changed since they were made: {', '.join(one.name for one in changed)}"
        yield fault("copies", detail, f"rm {' '.join(sh(one) for one in changed)}; subconscious backup")


def _leftovers(patient: Patient, health: Health) -> Iterator[Finding]:
    if health.buried:
        detail = f"{health.buried} given up: {'; '.join(health.buried_reasons)}"
        yield fault("jobs", detail, f"less {sh(patient.home.log / 'daemon.log')} # entries: {patient.home.buried}")
    since = health.pending_since
    wanted = settings_of(patient.home).embedder != "none"
    if wanted and since is not None and patient.now - since > WAITING:
        detail = f"memories without an embedding: {health.pending}, the oldest for more than a day"
        yield fault("embeddings", detail, FIX)


def _drifted(patient: Patient, health: Health) -> Iterator[Finding]:
    """Check that derived data matches its source; an older database is checked after its migration."""
    if health.schema < migrations()[-1].version:
        return
    try:
        wrong = drift(patient.home.database)
    except StoreError as error:
        yield fault("indexes", error.message, error.remedy)
        return
    if wrong:
        yield fault("indexes", ", ".join(f"{name}: {count}" for name, count in wrong.items()), FIX)


def _backup(patient: Patient, health: Health) -> Iterator[Finding]:
    """Whether there is a copy to go back to. The first is made by the first night."""
    copies = listing(patient.home.database)
    if copies:
        days = (patient.now - copies[0].at) / 86_400
        detail = f"copies: {len(copies)}, the latest {max(0, days):.0f} days old"
        if days < -1:
            yield fault("backup", f"copies: {len(copies)}, all with dates ahead of now", "date; subconscious backup")
        elif days > OLDEST_BACKUP_DAYS:
            yield fault("backup", detail, "subconscious backup")
        else:
            yield fine("backup", detail)
    elif health.memories:
        yield fine("backup", "none yet; the next night makes one, or subconscious backup")


def upkeep(patient: Patient) -> Iterator[Finding]:
    """Whether upkeep waits because it would archive or expire unusually much at once."""
    if not patient.home.database.exists():
        return
    try:
        with reading(patient.home.database) as connection:
            # What a clock ahead of now has postponed is no matter any more: the next run finds less to do.
            waiting = [one for one in postponed.waiting(connection) if one.since <= patient.now]
    except (sqlite3.Error, OSError):
        return  # an unreadable database is reported already
    for one in waiting:
        deed = UPKEEP.get(one.name, one.name).format(affected=one.affected, total=one.total)
        detail = f"{deed}; a wrong clock would do that, so it waits until three more sessions have begun"
        yield fault("upkeep", detail, "date # if the clock is right: subconscious maintenance run")


def lost(patient: Patient) -> Iterator[Finding]:
    """Report dropped entries and a full disk until a session has reported them."""
    if not patient.home.database.exists():
        return
    try:
        with reading(patient.home.database) as connection:
            found = losses.untold_in(connection)
    except (sqlite3.Error, OSError):
        return  # an unreadable database is reported already
    for loss in found:
        remedy = f"df -h {sh(patient.home.root)}" if loss.action == losses.FULL else f"{DRAIN} # or raise spool_max_mb"
        yield fault("lost", f"{loss.told}; told once more when the next session starts", remedy)


def claude_notes(patient: Patient) -> Iterator[Finding]:
    """Which of Claude Code's own notes are read, when last, and which can't be used."""
    if not patient.home.database.exists():
        return
    try:
        with reading(patient.home.database) as connection:
            found = notes.report(connection)
    except (sqlite3.Error, OSError):
        return  # an unreadable database is reported already, and an older one has no such table
    if not settings_of(patient.home).claude_notes:
        yield fine("notes", "Claude Code's own are not read: claude_notes is off")
    elif found:
        yield _read_notes(patient, found)


def _read_notes(patient: Patient, found: list[notes.Folder]) -> Finding:
    """Tell what was read; a note that is not used is one for the user to look at, since Claude loads it itself."""
    minutes = max(0.0, patient.now - found[0].looked_at) / 60
    detail = f"Claude Code's own: {sum(folder.notes for folder in found)} in use, looked at {minutes:.0f} minutes ago, "
    detail += f"from {', '.join(folder.path for folder in found[:MOST_FOLDERS])}"
    detail += f" and {len(found) - MOST_FOLDERS} more folders" if len(found) > MOST_FOLDERS else ""
    unusable = [one for folder in found for one in folder.unusable]
    if not unusable:
        return fine("notes", detail)
    told = "; ".join(f"{path}: {problem}" for path, problem in unusable[:MOST_FOLDERS])
    return fault("notes", f"{detail}; not used: {len(unusable)} ({told})", f"less {sh(unusable[0][0])}")


def spool(patient: Patient) -> Iterator[Finding]:
    """Whether what was handed over is taken up."""
    sizes, oldest = _entries(patient)
    limit = settings_of(patient.home).spool_max_mb
    detail = f"entries: {len(sizes)}, {sum(sizes) / 2**20:.1f} of {limit} MB"
    note = patient.home.run / "spool-full"
    if not is_missing(note):
        lost = read_end(note, LAST_BYTES).decode("utf-8", "replace").strip().splitlines()[-1:]
        yield fault("spool", f"was full, and entries were lost: {' '.join(lost)}", f"{DRAIN}; rm {sh(note)}")
    elif sum(sizes) > limit * 2**20:
        yield fault("spool", f"{detail}: the oldest entries are being lost", DRAIN)
    elif patient.now - oldest > WAITING:
        yield fault("spool", f"{detail}, the oldest for {(patient.now - oldest) / 86400:.0f} days", DRAIN)
    else:
        yield fine("spool", detail)


def _entries(patient: Patient) -> tuple[list[int], float]:
    """The sizes of what waits, and when the oldest came. The daemon takes them while we look."""
    sizes, oldest = [], patient.now
    for entry in patient.home.spool.glob("*.entry"):
        with suppress(FileNotFoundError):
            status = entry.lstat()
            sizes.append(status.st_size)
            oldest = min(oldest, status.st_mtime)
    return sizes, oldest
