"""Numbered SQL, each file in one transaction with its record.

Before a database that holds anything is changed, a verified copy of it is kept; a database that a newer program
has written is refused rather than guessed at.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from time import time

from subconscious.errors import NewerStoreError, StoreError
from subconscious.store.backups import keep_copy
from subconscious.store.connect import Database

RECORD = (
    "CREATE TABLE IF NOT EXISTS schema_migrations ("
    "version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL) STRICT"
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, its name, its SQL."""

    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All known migrations by number: mounted in the package when installed, at the top of a bare checkout."""
    installed = resources.files("subconscious") / "migrations"
    place: Traversable = installed if installed.is_dir() else Path(__file__).parents[2] / "migrations"
    found = [_read(file) for file in place.iterdir() if re.fullmatch(r"\d{4}_\w+\.sql", file.name)]
    return sorted(found, key=lambda migration: migration.version)


def _read(file: Traversable) -> Migration:
    return Migration(int(file.name[:4]), file.name[5:-4], file.read_text(encoding="utf-8"))


async def migrate(database: Database, known: list[Migration] | None = None) -> list[int]:
    """Bring the database up to date; return the numbers that were applied.

    Raises NewerStoreError when the database holds a migration this program does not know, StoreError when a
    migration fails (the database is then as it was).
    """
    known = migrations() if known is None else known
    applied = await _applied(database)
    _refuse_newer(database.path, applied, known)
    missing = [migration for migration in known if migration.version not in applied]
    if missing and applied:
        keep_copy(database.path, max(applied))
    for migration in missing:
        await _apply(database, migration)
    return [migration.version for migration in missing]


async def _applied(database: Database) -> set[int]:
    await database.writer.execute(RECORD)
    return {row[0] for row in await database.writer.execute_fetchall("SELECT version FROM schema_migrations")}


async def schema(database: Database) -> int:
    """The newest migration that the database holds."""
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
            "run `subconscious doctor`; the database is as it was before",
        ) from error


def statements(sql: str) -> list[str]:
    """Split a script at its semicolons as SQLite understands them (executescript would commit in between)."""
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
