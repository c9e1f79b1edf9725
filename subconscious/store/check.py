"""Checks a database without the daemon and without changing a byte, for ``subconscious doctor``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from subconscious.domain.errors import NewerStoreError, StoreError
from subconscious.store.migrate import migrations
from subconscious.store.presence import remedy
from subconscious.system.safe_files import require_regular

UPDATE = "claude plugin update subconscious@subconscious"
REASONS = 3
"""The maximum number of reasons that are shown for jobs that failed and are not retried."""


@dataclass(frozen=True, slots=True)
class Health:
    """Statistics of a database that passed the check.

    ``buried`` is the number of jobs that have failed and are not retried, ``buried_reasons`` the latest reasons.
    ``pending`` is the number of active memories without a vector, ``pending_since`` the time at which the oldest of
    them was created, or at which the present embedding model was selected, if that was later.
    """

    schema: int
    memories: int
    buried: int
    buried_reasons: tuple[str, ...]
    pending: int
    pending_since: float | None


def check(path: Path) -> Health:
    """Return the health of the database at ``path``.

    Raises NewerStoreError if a newer version wrote the file, StoreError if it is damaged, unreadable or not a database.
    """
    try:
        with open_readonly(path) as connection:
            return _health(path, connection)
    except sqlite3.Error as error:
        raise StoreError(f"{path} is damaged or not a database: {error}", remedy(path)) from error
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", remedy(path)) from error


@contextmanager
def open_readonly(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading without creating files beside it.

    Raises sqlite3.Error if the database can't be opened, OSError if the file is missing or not a regular file.
    """
    # Even a reader creates the files -wal and -shm, unless the database is opened as immutable. Without a -wal that is
    # safe: the daemon, the only writer, removes the -wal only when it stops.
    require_regular(path)  # SQLite would block forever on a FIFO
    live = path.with_name(f"{path.name}-wal").exists()
    place = f"file:{quote(str(path))}?mode=ro{'' if live else '&immutable=1'}"
    connection = sqlite3.connect(place, uri=True, timeout=2)
    try:
        yield connection
    finally:
        connection.close()


def _health(path: Path, connection: sqlite3.Connection) -> Health:
    verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        raise StoreError(f"{path} is damaged: {verdict}", remedy(path))
    schema = _schema(path, connection)
    buried = connection.execute("SELECT reason FROM jobs WHERE state = 'buried' ORDER BY id DESC").fetchall()
    pending, since = connection.execute(
        "SELECT count(*), min(created_at) FROM memories"
        " WHERE embedding_status IN ('pending', 'failed') AND archived_at IS NULL"
    ).fetchone()
    return Health(
        schema=schema,
        memories=connection.execute("SELECT count(*) FROM memories").fetchone()[0],
        buried=len(buried),
        buried_reasons=tuple(row[0] for row in buried[:REASONS]),
        pending=pending,
        pending_since=since if since is None else max(since, _wanted_at(connection)),
    )


def _wanted_at(connection: sqlite3.Connection) -> float:
    """Return when the latest embedding model was selected; 0.0 for databases of older versions."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'embedding_models'").fetchone():
        return 0.0
    return float(connection.execute("SELECT max(wanted_at) FROM embedding_models").fetchone()[0] or 0.0)


def _schema(path: Path, connection: sqlite3.Connection) -> int:
    found = int(connection.execute("SELECT max(version) FROM schema_migrations").fetchone()[0] or 0)
    known = migrations()[-1].version
    if found > known:
        raise NewerStoreError(
            f"{path} was written by a newer version (schema {found}, this program knows {known})",
            UPDATE,
        )
    return found
