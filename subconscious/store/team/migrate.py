"""Applies the numbered SQL migrations of a team's store, at an administrator's request."""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from subconscious.domain.errors import NewerStoreError, TeamError
from subconscious.store.migrate import Migration
from subconscious.store.team.address import parse
from subconscious.store.team.administrator import owning, require_pgvector

LOWEST_SERVER = 160_000
"""PostgreSQL 16."""


def _folder() -> Traversable:
    installed = resources.files("subconscious") / "migrations" / "team"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "migrations" / "team"


def migrations() -> list[Migration]:
    """Return all migrations of a team's store, ordered by number."""
    found = [
        Migration(int(file.name[:4]), file.name[5:-4], file.read_text(encoding="utf-8"))
        for file in _folder().iterdir()
        if re.fullmatch(r"\d{4}_\w+\.sql", file.name)
    ]
    return sorted(found, key=lambda migration: migration.version)


def newest() -> int:
    """Return the number of the newest migration that this program knows."""
    return max(migration.version for migration in migrations())


async def migrate(store: str, password: str) -> list[int]:
    """Apply missing migrations to the database at an address; return their numbers.

    Raises TeamError if the server is too old or refuses, NewerStoreError if a newer program has changed it.
    """
    address = parse(store)
    parameters = address.parameters(password) | {"options": "-c statement_timeout=600000"}
    try:
        async with await psycopg.AsyncConnection.connect(make_conninfo(**parameters)) as connection:
            return await _apply(connection)
    except psycopg.Error as error:
        why = " ".join((error.diag.message_primary or str(error)).split())[:500]
        why = why.replace(password, "…") if password else why
        raise TeamError(
            f"the database can't be prepared: {why}",
            "it takes PostgreSQL 16 with pgvector 0.8, and a role with CREATEROLE and with CREATE on the database:"
            " docs/team.md",
        ) from error


async def _apply(connection: psycopg.AsyncConnection[psycopg.rows.TupleRow]) -> list[int]:
    if connection.info.server_version < LOWEST_SERVER:
        raise TeamError(f"the server is PostgreSQL {connection.info.server_version // 10_000}", "use 16 or newer")
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('subconscious.migrations'))")
    await require_pgvector(connection)
    async with owning(connection, (_folder() / "roles.sql").read_text(encoding="utf-8")):
        done = await _apply_missing(connection)
    await connection.commit()
    return done


async def _apply_missing(connection: psycopg.AsyncConnection[psycopg.rows.TupleRow]) -> list[int]:
    applied = await _applied(connection)
    if max(applied, default=0) > newest():
        raise NewerStoreError(
            f"a newer version has prepared the team's store (schema {max(applied)}, this program knows {newest()})",
            "update the plugin; nothing was changed",
        )
    missing = [migration for migration in migrations() if migration.version not in applied]
    for migration in missing:
        await connection.execute(migration.sql.encode())
        await connection.execute(
            "INSERT INTO subconscious.migrations (version, name) VALUES (%s, %s)", (migration.version, migration.name)
        )
    return [migration.version for migration in missing]


async def _applied(connection: psycopg.AsyncConnection[psycopg.rows.TupleRow]) -> set[int]:
    found = await connection.execute("SELECT to_regclass('subconscious.migrations') IS NOT NULL")
    row = await found.fetchone()
    if row is None or not row[0]:
        return set()
    return {number async for (number,) in await connection.execute("SELECT version FROM subconscious.migrations")}
