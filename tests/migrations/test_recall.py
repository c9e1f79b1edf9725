"""Migration 0012: what was archived before it is found afterwards, among the archived alone."""

from __future__ import annotations

from subconscious.settings.home import Home
from subconscious.store import full_text
from subconscious.store.connect import open_database
from subconscious.store.filters import Filter
from subconscious.store.migrate import migrate, migrations

ROW = (
    "INSERT INTO memories (scope, kind, category, summary, content, origin, confidence, raw_confidence, extractor,"
    " created_at, said_at, content_hash, archived_at, tags)"
    " VALUES ('user', 'decision', 'semantic', 's', ?, 'user', 1, 1, 'test', 0, 0, ?, ?, '[\"style\"]')"
)


async def test_what_was_archived_before_is_found(home: Home) -> None:
    database = await open_database(home.database)
    try:
        await migrate(database, [one for one in migrations() if one.version < 12])
        async with database.write() as tx:
            await tx.execute(ROW, ("tabs in Makefiles", "a", 7.0))
            await tx.execute(ROW, ("tabs everywhere", "b", None))
        await migrate(database)
        assert [one for one, _ in await full_text.search(database, ["tabs"], [], 9, Filter(archived=True))] == [1]
        assert [one for one, _ in await full_text.search(database, ["style"], [], 9, Filter(archived=True))] == [1]
    finally:
        await database.close()
