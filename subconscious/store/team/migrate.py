"""Applies the numbered SQL migrations of a team's store, at an administrator's request.

They need the extension pgvector and the privileges of an administrator, who need not be a superuser.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from subconscious.domain.errors import NewerStoreError, TeamError
from subconscious.store.migrate import Migration
from subconscious.store.team.address import parse

LOWEST_SERVER = 160_000
"""The lowest server version that is supported: PostgreSQL 16."""


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
    """Apply the migrations that the database at the address ``store`` lacks; return their numbers.

    Raises TeamError if the server is too old or rejects a step, NewerStoreError if a newer version of this program has
    migrated the database.
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
            "a team's store needs PostgreSQL 16 with pgvector 0.8, and a role with CREATEROLE and with CREATE on the"
            " database: see docs/team.md",
        ) from error


async def _apply(connection: psycopg.AsyncConnection[psycopg.rows.TupleRow]) -> list[int]:
    if connection.info.server_version < LOWEST_SERVER:
        raise TeamError(
            f"the server runs PostgreSQL {connection.info.server_version // 10_000}", "use version 16 or newer"
        )
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


Connection = psycopg.AsyncConnection[TupleRow]

OWNERS = ["subconscious_owner", "subconscious_functions"]
"""The roles that own all objects in the schema."""

LOWEST_PGVECTOR = (0, 8)

AGAIN = "then repeat the setup (see docs/team.md)"


@asynccontextmanager
async def owning(connection: Connection, roles: str) -> AsyncIterator[None]:
    """Run the SQL that creates the roles, and make the administrator a member of the owners until the block ends.

    A superuser needs no membership. Another administrator who may create roles has only the ADMIN OPTION on the created
    roles. An exception in the block rolls back the transaction, and so the membership.
    """
    await _created(connection, roles)
    lacked = await _lacked(connection)
    if lacked:
        await _granted(connection, lacked)
    yield
    if lacked:
        await connection.execute(sql.SQL("REVOKE {} FROM CURRENT_USER").format(_names(lacked)))


async def require_pgvector(connection: Connection) -> None:
    """Create the extension pgvector if it is missing, and load it. Raises TeamError if it can't be created or used."""
    if not await _pgvector(connection):
        await _create_pgvector(connection)
    ((schema, version),) = await _pgvector(connection)
    if schema != "public":
        message, remedy = (
            f'the PostgreSQL extension "vector" is in the schema {schema}',
            "ALTER EXTENSION vector SET SCHEMA public",
        )
        raise _unusable(connection, message, remedy)
    if tuple(int(part) for part in version.split(".")[:2]) < LOWEST_PGVECTOR:
        message, remedy = (
            f'the PostgreSQL extension "vector" has version {version}; 0.8 is needed',
            "ALTER EXTENSION vector UPDATE",
        )
        raise _unusable(connection, message, remedy)
    # Loads the extension's library: before, only a superuser may create a function that sets an hnsw.* parameter.
    await connection.execute("SELECT '[1]'::public.vector")


async def _created(connection: Connection, roles: str) -> None:
    try:
        await connection.execute(roles.encode())
    except errors.InsufficientPrivilege as error:
        raise TeamError(
            f"{connection.info.user} may not create roles on this server",
            f"run setup as another role, or let an administrator run: ALTER ROLE {_quoted(connection)} CREATEROLE",
        ) from error


async def _lacked(connection: Connection) -> list[str]:
    """Return the owner roles that the administrator can't act as."""
    found = await connection.execute(
        "SELECT name FROM unnest(%s::name[]) AS name"
        " WHERE NOT (pg_has_role(name, 'SET') AND pg_has_role(name, 'USAGE'))",
        (OWNERS,),
    )
    return [name async for (name,) in found]


async def _granted(connection: Connection, owners: list[str]) -> None:
    grant = sql.SQL("GRANT {} TO CURRENT_USER WITH SET TRUE, INHERIT TRUE").format(_names(owners))
    try:
        await connection.execute(grant)
    except errors.InsufficientPrivilege as error:
        raise TeamError(
            f"{connection.info.user} may not administer the roles subconscious_*, which another administrator created",
            f"run setup as that administrator, or let them run: GRANT {', '.join(OWNERS)}, subconscious_member"
            f" TO {_quoted(connection)} WITH ADMIN TRUE, SET FALSE, INHERIT FALSE",
        ) from error


async def _pgvector(connection: Connection) -> list[tuple[str, str]]:
    """Return the schema and the version of pgvector; an empty list if this database does not have it."""
    found = await connection.execute(
        "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace"
        " WHERE extname = 'vector'"
    )
    return [(schema, version) async for schema, version in found]


async def _create_pgvector(connection: Connection) -> None:
    try:
        await connection.execute("CREATE EXTENSION vector SCHEMA public")
    except psycopg.OperationalError:  # the connection is lost
        raise
    except psycopg.Error as error:
        raise TeamError(
            f'the PostgreSQL extension "vector" can\'t be created: {error.diag.message_primary}',
            "the server needs pgvector 0.8, which a managed server may have to allow in its settings. Let a superuser"
            f" run in the database {connection.info.dbname}: CREATE EXTENSION vector SCHEMA public; {AGAIN}",
        ) from error


def _unusable(connection: Connection, message: str, remedy: str) -> TeamError:
    return TeamError(message, f"let the extension's owner run in database {connection.info.dbname}: {remedy}; {AGAIN}")


def _names(roles: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, roles))


def _quoted(connection: Connection) -> str:
    return sql.Identifier(connection.info.user).as_string(connection)
