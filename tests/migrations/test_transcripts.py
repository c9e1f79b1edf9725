"""Migration 0019 adds an index, and does so again without harm; a number that is missing before it is no obstacle."""

from __future__ import annotations

from subconscious.settings.home import Home
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate, migrations, statements

OF_SESSION = "EXPLAIN QUERY PLAN SELECT path, position FROM transcripts WHERE session_id = 's'"


async def plan(database: Database) -> str:
    # A plan does not look at whether the schema has changed; only who has changed it knows.
    return " ".join(str(row[3]) for row in await database.writer.execute_fetchall(OF_SESSION))


async def test_the_files_of_a_session_are_found_without_looking_at_all(home: Home) -> None:
    database = await open_database(home.database)
    try:
        before = [migration for migration in migrations() if migration.version < 18]
        (index,) = [migration for migration in migrations() if migration.version == 19]
        await migrate(database, before)
        assert "SCAN" in await plan(database)
        assert await migrate(database, [*before, index]) == [19]
        assert "INDEX transcripts_session" in await plan(database)
        async with database.write() as tx:
            for statement in statements(index.sql):
                await tx.execute(statement)
        await migrate(database)  # what has a lower number, and came later, is applied after it
        assert await migrate(database) == []
    finally:
        await database.close()
