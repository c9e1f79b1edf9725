"""A database as each earlier version left it, every table filled, is brought up to date with all that it held."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from subconscious.domain.errors import NewerStoreError
from subconscious.settings.home import Home
from subconscious.store import backups
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import Migration, migrate, migrations
from subconscious.store.rows import LIST_COLUMNS

VERSIONS = [migration.version for migration in migrations()]
CHOICE = re.compile(r'"?(\w+)"?\s+IN\s*\(([^)]*)\)', re.IGNORECASE)
RECORD = "schema_migrations"
ROWS = 2
"""Rows that the test puts into each table. Triggers may add more, to ``team_outbox`` for example."""
FOLLOWING = Migration(VERSIONS[-1] + 1, "following", "CREATE TABLE following (value TEXT NOT NULL) STRICT")
"""Follows the newest migration, so that the newest version is upgraded in the test, too."""


async def tables(database: Database) -> list[str]:
    """Ordinary tables, those first that others refer to."""
    found = await database.rows(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " AND sql NOT LIKE '%VIRTUAL%' AND name NOT LIKE '%\\_fts\\_%' ESCAPE '\\'"
    )
    names = [row["name"] for row in found if row["name"] != RECORD]
    refers = {}
    for name in names:
        rows = await database.rows('SELECT "table" FROM pragma_foreign_key_list(?)', (name,))
        refers[name] = {row[0] for row in rows} - {name}
    ordered: list[str] = []
    while left := [name for name in names if name not in ordered]:
        ordered += [name for name in left if refers[name] <= set(ordered)]
    return ordered


async def fill(database: Database) -> None:
    """Put rows into every table, with a value in every column that its checks and references allow."""
    for table in await tables(database):
        sql = (await database.rows("SELECT sql FROM sqlite_master WHERE name = ?", (table,)))[0][0]
        choices = {match[1]: match[2].split(",")[0].strip(" '") for match in CHOICE.finditer(sql)}
        refers = await database.rows('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table,))
        columns = await database.rows("SELECT name, type FROM pragma_table_info(?)", (table,))
        for number in range(1, ROWS + 1):
            values = {column["name"]: value_of(table, column, choices, number) for column in columns}
            for reference in refers:
                other = await database.rows(f'SELECT "{reference["to"] or "id"}" FROM {reference["table"]}')
                # Two columns of one row may not refer to the same: take them in turn.
                place = [each["from"] for each in refers].index(reference["from"])
                values[reference["from"]] = other[(number + place) % len(other)][0]
            names = ", ".join(f'"{name}"' for name in values)
            holders = ", ".join("?" for _ in values)
            async with database.write() as tx:
                await tx.execute(f"INSERT INTO {table} ({names}) VALUES ({holders})", tuple(values.values()))


def value_of(table: str, column: Any, choices: dict[str, str], number: int) -> Any:
    name, sort = column["name"], column["type"]
    if name in choices:
        return "project" if (table, name) == ("memories", "scope") else choices[name]
    if name in LIST_COLUMNS:
        return f'["{name} {number}"]'
    if name == "serving":
        return int(number == 1)
    return {"INTEGER": number, "REAL": number / 4, "BLOB": bytes([number] * 4)}.get(sort, f"{name} {number}")


async def held(database: Database) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for table in await tables(database):
        rows = [dict(row) for row in await database.rows(f"SELECT * FROM {table}")]
        found[table] = sorted(rows, key=lambda row: str(list(row.values())))
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.slow
async def test_all_that_was_held_is_held(home: Home, version: int) -> None:
    database = await open_database(home.database)
    known = [*migrations(), FOLLOWING]
    await migrate(database, [migration for migration in known if migration.version <= version])
    await fill(database)
    before = await held(database)
    assert all(len(rows) >= ROWS for rows in before.values()), {name: len(rows) for name, rows in before.items()}
    applied = await migrate(database, known)
    assert applied == [migration.version for migration in known if migration.version > version]
    after = await held(database)
    for table, rows in before.items():
        kept = [{name: row[name] for name in rows[0]} for row in after[table]]
        assert sorted(kept, key=str) == sorted(rows, key=str), table
    assert not await database.rows("PRAGMA foreign_key_check")
    (copy,) = backups.listing(database.path)
    assert copy.schema == version
    await database.close()


async def test_a_newer_one_is_refused_untouched(home: Home) -> None:
    database = await open_database(home.database)
    await migrate(database, [*migrations(), Migration(999, "future", "CREATE TABLE future (a)")])
    await database.close()
    before = Path(home.database).read_bytes()
    database = await open_database(home.database)
    with pytest.raises(NewerStoreError, match="newer version"):
        await migrate(database)
    await database.close()
    assert Path(home.database).read_bytes() == before
    assert not backups.listing(home.database)
