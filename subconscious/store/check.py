"""Look at a database without the daemon and without changing a byte, for ``subconscious doctor``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from subconscious.errors import NewerStoreError, StoreError
from subconscious.safe_files import require_regular
from subconscious.store.migrate import migrations
from subconscious.store.presence import remedy

UPDATE = "claude plugin update subconscious@subconscious"
REASONS = 3
"""Buried jobs whose reason is told."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a sound database says of itself.

    ``pending_since`` is when the oldest without a vector came, or when another model began to be wanted, if later.
    """

    schema: int
    memories: int
    buried: int
    buried_reasons: tuple[str, ...]
    pending: int
    pending_since: float | None


def check(path: Path) -> Health:
    """Read the health of the database at ``path``.

    Raises NewerStoreError when a newer program wrote it, StoreError when it is damaged or no database at all.
    """
    try:
        with reading(path) as connection:
            return _health(path, connection)
    except sqlite3.Error as error:
        raise StoreError(f"{path} is damaged or no database: {error}", remedy(path)) from error
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", remedy(path)) from error


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to read it, without leaving a trace beside it. Raises sqlite3.Error, or OSError for no file."""
    # Even a reader makes the files -wal and -shm, unless it is told that nobody writes; and nobody does where
    # there is no -wal: the daemon removes it as it leaves.
    require_regular(path)  # SQLite would wait for ever for what a FIFO says
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
    """Since when vectors of the latest model are wanted; a database of before knew of no other."""
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
