"""Prepares a server for migrations: roles, pgvector, and the privileges of an administrator who may be no superuser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg import errors, sql
from psycopg.rows import TupleRow

from subconscious.domain.errors import TeamError

Connection = psycopg.AsyncConnection[TupleRow]

OWNERS = ["subconscious_owner", "subconscious_functions"]
"""The roles that own everything in the schema."""

LOWEST_PGVECTOR = (0, 8)

AGAIN = "then run this again: docs/team.md"


@asynccontextmanager
async def owning(connection: Connection, roles: str) -> AsyncIterator[None]:
    """Run the SQL that creates the roles, and give the administrator what the owners may do until the block ends.

    A superuser has that already. Others who may create roles have the ADMIN OPTION on these, and no more. An exception
    in the block rolls back the transaction, and with it the membership.
    """
    await _created(connection, roles)
    lacked = await _lacked(connection)
    if lacked:
        await _granted(connection, lacked)
    yield
    if lacked:
        await connection.execute(sql.SQL("REVOKE {} FROM CURRENT_USER").format(_names(lacked)))


async def require_pgvector(connection: Connection) -> None:
    """Create pgvector where it is missing, and load it. Raises TeamError, with the remedy, if it can't be used."""
    if not await _pgvector(connection):
        await _create_pgvector(connection)
    ((schema, version),) = await _pgvector(connection)
    if schema != "public":
        message, remedy = f"the extension vector is in the schema {schema}", "ALTER EXTENSION vector SET SCHEMA public"
        raise _unusable(connection, message, remedy)
    if tuple(int(part) for part in version.split(".")[:2]) < LOWEST_PGVECTOR:
        message, remedy = f"the extension vector is version {version}, not 0.8", "ALTER EXTENSION vector UPDATE"
        raise _unusable(connection, message, remedy)
    # Loads its library. Until then only a superuser may create a function that sets one of its parameters (hnsw.*).
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
    """Return the owners that the administrator can't act as."""
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
            f"run setup as that one, or let them run: GRANT {', '.join(OWNERS)}, subconscious_member"
            f" TO {_quoted(connection)} WITH ADMIN TRUE, SET FALSE, INHERIT FALSE",
        ) from error


async def _pgvector(connection: Connection) -> list[tuple[str, str]]:
    """Return the schema and the version of pgvector, if this database has it."""
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
            f"the extension vector can't be created: {error.diag.message_primary}",
            "the server needs pgvector 0.8, which a managed server may have to allow in its settings. Let a superuser"
            f" run in the database {connection.info.dbname}: CREATE EXTENSION vector SCHEMA public; {AGAIN}",
        ) from error


def _unusable(connection: Connection, message: str, remedy: str) -> TeamError:
    return TeamError(message, f"let its owner run in the database {connection.info.dbname}: {remedy}; {AGAIN}")


def _names(roles: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, roles))


def _quoted(connection: Connection) -> str:
    return sql.Identifier(connection.info.user).as_string(connection)
