"""Reads another program's SQLite database from a private copy, so that nothing is written beside the original."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

from subconscious.system.safe_files import is_missing, open_regular, read_beginning

LARGEST = 1 << 30
"""The largest database that is copied, in bytes."""
LONGEST_VALUE = 4 << 20
SECONDS = 30.0
"""The maximum number of seconds that reading may take: a hostile schema could compute forever."""

_MAGIC = b"SQLite format 3\0"
_STEPS = 10_000
_PORTION = 1 << 20


class ForeignError(ValueError):
    """Another program's database can't be read; the message says why."""


class ForeignDatabase:
    """The tables of a copied database, without views and virtual tables."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none for a view or a virtual table, because reading it could run code."""
        query = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
        row = self._connection.execute(query, (table,)).fetchone()
        if row is None or not isinstance(row[0], str) or row[0].lstrip().upper().startswith("CREATE VIRTUAL"):
            return set()
        found = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return {name for (name,) in found if isinstance(name, str)}

    def rows(self, table: str, wanted: Sequence[str]) -> Iterator[dict[str, object]]:
        """Yield the rows of a table, oldest first, with the columns in ``wanted`` that the table has."""
        there = [name for name in wanted if name in self.columns(table)]
        if there:
            listed = ", ".join(f'"{name}"' for name in there)
            for row in self._connection.execute(f'SELECT {listed} FROM "{table}" ORDER BY rowid'):  # noqa: S608 - callers' own names
                yield dict(zip(there, row, strict=True))


@contextmanager
def open_foreign(path: Path) -> Iterator[ForeignDatabase]:
    """Copy another program's database and open the copy.

    Raises ForeignError if the database is damaged, too large or not an SQLite database, or if reading it takes too
    long; OSError if the file can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="subconscious-import-") as folder:
        copy = Path(folder, "copy.db")
        _copy(path, copy)
        wal = path.with_name(f"{path.name}-wal")
        if not is_missing(wal):  # only the WAL contains the latest changes
            _copy(wal, copy.with_name("copy.db-wal"))
        try:
            with closing(_connected(copy)) as connection:
                yield ForeignDatabase(connection)
        except (sqlite3.Error, OverflowError) as error:
            raise ForeignError(f"it is damaged or takes too long to read ({error})") from error


def _connected(copy: Path) -> sqlite3.Connection:
    if read_beginning(copy, len(_MAGIC)) != _MAGIC:
        raise ForeignError("it is not an SQLite database")
    connection = sqlite3.connect(copy)
    deadline = monotonic() + SECONDS
    connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    return connection


def _copy(source: Path, target: Path) -> None:
    with open_regular(source) as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise ForeignError(f"it is larger than {LARGEST >> 20} MB")
        with target.open("xb") as copy:
            while portion := file.read(_PORTION):
                copy.write(portion)
