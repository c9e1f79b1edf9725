"""What is stored, and what waits to be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from subconscious.doctor.findings import DRAIN, FIX, WAITING, Finding, Patient, fault, fine, settings_of, sh
from subconscious.errors import StoreError
from subconscious.safe_files import is_missing, read_end
from subconscious.store.backups import listing
from subconscious.store.check import Health, check
from subconscious.store.health import drift
from subconscious.store.migrate import migrations

LAST_BYTES = 4096
"""Bytes at the end of a note in which its last line is looked for."""

OLDEST_BACKUP_DAYS = 14
"""Days after which a copy is too old to go back to, where there were days to make another."""


def database(patient: Patient) -> Iterator[Finding]:
    """Whether the database is sound, and agrees with itself."""
    path = patient.home.database
    if is_missing(path):
        yield fine("database", "is made by the first session")
        return
    try:
        health = check(path)
    except StoreError as error:
        yield fault("database", error.message, error.remedy)
    else:
        yield fine("database", f"sound, schema {health.schema}, memories: {health.memories}")
        yield from _leftovers(patient, health)
        yield from _drifted(patient, health)
        yield from _backup(patient, health)


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
    """Whether what is derived agrees with what it is derived from; a database of before is looked at once migrated."""
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
        if days > OLDEST_BACKUP_DAYS:
            yield fault("backup", detail, "subconscious backup")
        else:
            yield fine("backup", detail)
    elif health.memories:
        yield fine("backup", "none yet; the next night makes one, or subconscious backup")


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
