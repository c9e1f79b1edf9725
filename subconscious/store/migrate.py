"""Applies numbered SQL migrations, each in one transaction with its record.

Before an existing database is changed, a backup copy is made. A database of a newer version is rejected.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from time import time

from subconscious.domain.errors import NewerStoreError, StoreError
from subconscious.store.backups import create_copy
from subconscious.store.connect import Database

RECORD = (
    "CREATE TABLE IF NOT EXISTS schema_migrations ("
    "version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL) STRICT"
)


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration file: number, name and SQL."""

    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """Return all migrations, ordered by number.

    The files are inside the package when it is installed, and at the top of a checkout.
    """
    installed = resources.files("subconscious") / "migrations"
    place: Traversable = installed if installed.is_dir() else Path(__file__).parents[2] / "migrations"
    found = [_read(file) for file in place.iterdir() if re.fullmatch(r"\d{4}_\w+\.sql", file.name)]
    return sorted(found, key=lambda migration: migration.version)


def _read(file: Traversable) -> Migration:
    return Migration(int(file.name[:4]), file.name[5:-4], file.read_text(encoding="utf-8"))


async def migrate(database: Database, known: list[Migration] | None = None) -> list[int]:
    """Apply the migrations that the database lacks; return their numbers.

    Raises NewerStoreError if the database has a migration that this program does not know, and StoreError if a
    migration or the copy before it fails. A failed migration changes nothing; those applied before it stay applied.
    """
    known = migrations() if known is None else known
    applied = await _applied(database)
    _refuse_newer(database.path, applied, known)
    missing = [migration for migration in known if migration.version not in applied]
    if missing and applied:
        create_copy(database.path, max(applied))
    for migration in missing:
        await _apply(database, migration)
    return [migration.version for migration in missing]


async def _applied(database: Database) -> set[int]:
    await database.writer.execute(RECORD)
    return {row[0] for row in await database.writer.execute_fetchall("SELECT version FROM schema_migrations")}


async def schema(database: Database) -> int:
    """Return the number of the newest applied migration."""
    return max(await _applied(database), default=0)


def _refuse_newer(path: Path, applied: set[int], known: list[Migration]) -> None:
    newest = max((migration.version for migration in known), default=0)
    if max(applied, default=0) > newest:
        raise NewerStoreError(
            f"{path} was written by a newer version (schema {max(applied)}, this program knows {newest})",
            "update the plugin: `claude plugin update subconscious@subconscious`; nothing was changed",
        )


async def _apply(database: Database, migration: Migration) -> None:
    record = "INSERT INTO schema_migrations VALUES (?, ?, ?)"
    try:
        async with database.write() as tx:
            for statement in statements(migration.sql):
                await tx.execute(statement)
            await tx.execute(record, (migration.version, migration.name, time()))
    except sqlite3.Error as error:
        raise StoreError(
            f"migration {migration.version:04d} {migration.name} failed: {error}",
            "run `subconscious doctor`; the database is as it was before this migration",
        ) from error


def statements(sql: str) -> list[str]:
    """Return the statements of a script, to be run one by one: executescript would commit the open transaction."""
    found: list[str] = []
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    if pending.strip() and not all(line.lstrip().startswith("--") for line in pending.splitlines() if line.strip()):
        found.append(pending)
    return found
