"""Decides whether a database file may be opened, and whether a new one may be created in its place.

A missing or empty file means "first start" only if nothing shows that memories were stored before. Otherwise the daemon
must not start: a new, empty database would hide the loss, and its backup copies would eventually replace the good ones.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from subconscious.domain.errors import LostStoreError, NewerStoreError, StoreError
from subconscious.store import backups
from subconscious.system.safe_files import read_beginning

RESTORE = "subconscious restore latest"
FRESH = "subconscious restore --fresh"
MAGIC = b"SQLite format 3\0"
WAL_HEADER = 32
FRAME_HEADER = 24


def require_usable(database: Path) -> None:
    """Raise LostStoreError for an unusable file; a missing or empty file is accepted if no memory was ever stored."""
    try:
        flaw = flaw_of(database)
        traces = traces_of(database, flaw) if flaw in EMPTY else []
    except OSError as error:
        raise LostStoreError(f"{database} can't be read: {error}", remedy(database)) from error
    except sqlite3.Error as error:
        raise LostStoreError(f"{database} is damaged: {error}", remedy(database)) from error
    if flaw in EMPTY and traces:
        raise LostStoreError(f"{database} {flaw}, but memories were stored here: {traces[0]}", remedy(database))
    if flaw and flaw not in EMPTY:
        raise LostStoreError(f"{database} {flaw}", remedy(database))


MISSING, ZERO, BARE = "is missing", "is empty", "contains no table"
EMPTY = frozenset({MISSING, ZERO, BARE})
"""Problems that are normal on a first start."""


def flaw_of(database: Path) -> str:
    """Return what is wrong with the file, or "". Raises OSError or sqlite3.Error if it can't be read."""
    try:
        beginning = read_beginning(database, len(MAGIC))
    except FileNotFoundError:
        return MISSING
    if not beginning:
        return ZERO
    if beginning != MAGIC:
        return "is not an SQLite database"
    return _flaw_of_tables(database)


def _flaw_of_tables(database: Path) -> str:
    from subconscious.store.check import open_readonly

    with open_readonly(database) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "schema_migrations" in tables:
            # A first start that was killed leaves the table schema_migrations without a row.
            applied = connection.execute("SELECT count(*) FROM schema_migrations").fetchone()[0]
            flaw = "" if applied else BARE
        else:
            flaw = "belongs to another program: it has no Subconscious tables" if tables else BARE
        return flaw or _truncation(database, connection)


def _truncation(database: Path, connection: sqlite3.Connection) -> str:
    """Return "is truncated" if pages are missing, else "".

    SQLite compares the file's size with its header, but not while a WAL exists. Some pages may be in the WAL only, so
    the file counts as truncated only if the file and the WAL together have too few pages.
    """
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    wal = max(0, _size(_beside(database, "-wal")) - WAL_HEADER) // (size + FRAME_HEADER)
    return "is truncated" if _size(database) // size + wal < pages else ""


def traces_of(database: Path, flaw: str) -> list[str]:
    """Return descriptions of files beside the database that show that memories were stored before."""
    copies = backups.all_copies(database)
    traces = [f"{len(copies)} {'backup copies exist' if len(copies) > 1 else 'backup copy exists'}"] if copies else []
    # SQLite deletes the WAL of an empty database. A WAL beside a database without tables comes from a first start.
    if flaw != BARE and _size(_beside(database, "-wal")) > WAL_HEADER:
        traces.append("its write-ahead log is still there")
    if any(database.parent.glob("rendered/*/start")):
        traces.append("rendered/ has a readable version of them")
    if any(database.parent.glob("vectors-*.db")):
        traces.append("their vector index is still there")
    return traces


def remedy(database: Path) -> str:
    """Return the shell command that makes a lost or damaged store usable again, with a comment."""
    if backups.all_copies(database):
        return f"{RESTORE} # `subconscious restore` lists the copies"
    return f"{FRESH} # there is no copy; damaged files are moved to broken/, `subconscious import` reads past sessions"


def repair(database: Path) -> str:
    """Return the command to run for a database that is readable but has problems."""
    if backups.all_copies(database):
        return f"{RESTORE} # or, if the database is right as it is: subconscious backup --as-is"
    return "subconscious backup --as-is # there is no copy; this accepts the database as it is"


DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
"""SQLite's primary result codes for a file that is damaged or can't be read."""

WRITING = frozenset(
    (
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_DIR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
    )
)
"""SQLite's extended result codes for failed writes: the disk is full or a limit is reached, and nothing is damaged."""


def as_damage(error: BaseException, database: Path) -> StoreError | None:
    """Return a StoreError if ``error`` is one, or comes from a damaged or unreadable database; else None.

    A NewerStoreError or LostStoreError among the causes of ``error`` is returned unchanged.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (NewerStoreError, LostStoreError)):
            return cause
        code = getattr(cause, "sqlite_errorcode", 0) if isinstance(cause, sqlite3.Error) else 0
        if code & 0xFF in DAMAGE and code not in WRITING:
            return LostStoreError(f"{database} is damaged or can't be read: {cause}", remedy(database))
        cause = cause.__cause__
    return error if isinstance(error, StoreError) else None


def _beside(database: Path, suffix: str) -> Path:
    return database.with_name(database.name + suffix)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
