from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from subconscious.domain.errors import NewerStoreError, StoreError
from subconscious.settings.home import Home
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import Migration, migrate, migrations, statements


async def opened(home: Home) -> Database:
    return await open_database(home.database)


async def test_applies_each_once_with_its_record(home: Home) -> None:
    database = await opened(home)
    assert await migrate(database) == [migration.version for migration in migrations()]
    assert await migrate(database) == []
    await database.close()


def test_numbers_are_unique() -> None:
    numbers = [migration.version for migration in migrations()]
    assert numbers == sorted(set(numbers))


async def test_a_failing_migration_leaves_everything_as_it_was(home: Home) -> None:
    database = await opened(home)
    await migrate(database)
    bad = Migration(99, "bad", "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(StoreError, match="0099"):
        await migrate(database, [*migrations(), bad])
    assert not await database.rows("SELECT 1 FROM sqlite_master WHERE name = 'half'")
    await database.close()


async def test_keeps_a_copy_before_it_changes_a_database(home: Home) -> None:
    database = await opened(home)
    await migrate(database)
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects VALUES ('p', 'kept', '/', '', '', 0)")
    await migrate(database, [*migrations(), Migration(99, "more", "CREATE TABLE more (a)")])
    await database.close()
    (copy,) = home.root.glob("backups/memory-*.db")
    assert copy.stat().st_mode & 0o077 == 0
    with sqlite3.connect(copy) as old:
        assert old.execute("SELECT name FROM projects").fetchall() == [("kept",)]
        assert not old.execute("SELECT 1 FROM sqlite_master WHERE name = 'more'").fetchall()
    old.close()


async def test_refuses_a_newer_database_and_says_what_to_do(home: Home) -> None:
    database = await opened(home)
    await migrate(database, [*migrations(), Migration(99, "future", "CREATE TABLE future (a)")])
    with pytest.raises(NewerStoreError) as caught:
        await migrate(database)
    assert "claude plugin update" in caught.value.remedy
    await database.close()


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"certainly not a database" * 100)
    with pytest.raises(StoreError, match="can't be opened"):
        await open_database(path)


def test_statements_end_where_sqlite_says() -> None:
    script = (
        "CREATE TABLE a (t TEXT DEFAULT ';'); -- one;\nCREATE TRIGGER b AFTER INSERT ON a BEGIN\n SELECT 1;\nEND;\n"
    )
    assert len(statements(script)) == 2
    assert statements("-- only words\n") == []
