"""A store in which captures and memories were numbered apart: what waits gets a number that no memory has."""

from __future__ import annotations

from subconscious.settings.home import Home
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.shared_ids import REFERRING, next_id, renumber_duplicates

CAPTURE = (
    "INSERT INTO implicit_captures (id, capture_key, project_id, status, decision, memory_id, scope, kind, summary,"
    " content, content_hash, evidence, turn_id, transcript, byte_start, byte_end, origin, strength, raw_confidence,"
    " confidence, extractor, said_at, created_at) VALUES (?, ?, 'p', ?, 'review', ?, 'project', 'decision', 's', 'c',"
    " 'h', 'e', 't', '', 0, 0, 'user', 'explicit', 0.9, 0.9, 'x', 0, 0)"
)
MEMORY = (
    "INSERT INTO memories (id, project_id, scope, kind, category, summary, content, origin, confidence, raw_confidence,"
    " extractor, created_at, said_at, content_hash) VALUES (?, 'p', 'project', 'decision', 'semantic', 's', 'c',"
    " 'user', 1, 1, 'x', 0, 0, 'h')"
)


async def before(home: Home) -> Database:
    """A store with two memories and captures whose numbers overlap with theirs."""
    database = await open_database(home.database)
    await migrate(database)
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects (id, name, root, created_at) VALUES ('p', 'p', '/p', 0)")
        for number in (1, 2):
            await tx.execute(MEMORY, (number,))
        rows = [(1, "review", None), (2, "discarded", None), (3, "captured", 1), (4, "review", None)]
        for number, status, memory in rows:
            await tx.execute(CAPTURE, (number, f"key {number}", status, memory))
        await tx.execute("INSERT INTO consolidations (capture_id, memory_id, content_hash) VALUES (1, 2, 'h')")
        await tx.execute(
            "INSERT INTO poison_lessons (capture_id, prints, threat, created_at) VALUES (1, '[]', 'social', 0)"
        )
        await tx.execute("INSERT INTO second_looks (capture_id, session_id, decision) VALUES (1, 's', 'auto')")
        await tx.execute(
            "INSERT INTO events (at, actor, action, subject, subject_id) VALUES (0, 'daemon', 'create', 'capture', '1')"
        )
    return database


async def test_what_waits_gets_a_number_of_its_own(home: Home) -> None:
    database = await before(home)
    try:
        async with database.write() as tx:
            assert await renumber_duplicates(tx) == 1
            assert await renumber_duplicates(tx) == 0
            assert await next_id(tx) == 6
        rows = await database.rows("SELECT capture_key, id FROM implicit_captures ORDER BY 1")
        assert [tuple(row) for row in rows] == [("key 1", 5), ("key 2", 2), ("key 3", 3), ("key 4", 4)]
        assert [row[0] for row in await database.rows("SELECT capture_id FROM consolidations")] == [5]
        assert [row[0] for row in await database.rows("SELECT capture_id FROM poison_lessons")] == [5]
        assert [row[0] for row in await database.rows("SELECT capture_id FROM second_looks")] == [5]
        told = await database.rows("SELECT action, subject_id FROM events WHERE subject = 'capture' ORDER BY id")
        assert [tuple(row) for row in told] == [("create", "1"), ("renumbered", "5")]
        assert await database.rows("PRAGMA foreign_key_check") == []
    finally:
        await database.close()


async def test_every_reference_to_a_capture_is_updated(database: Database) -> None:
    rows = await database.rows(
        'SELECT child.name, reference."from" FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS'
        " reference WHERE child.type = 'table' AND reference.\"table\" = 'implicit_captures' UNION SELECT child.name,"
        " info.name FROM sqlite_master AS child, pragma_table_info(child.name) AS info WHERE info.name = 'capture_id'"
    )
    assert {tuple(row) for row in rows} == {(table, "capture_id") for table in REFERRING}


async def test_an_empty_store_begins_with_one(home: Home) -> None:
    database = await open_database(home.database)
    try:
        await migrate(database)
        async with database.write() as tx:
            assert await next_id(tx) == 1
    finally:
        await database.close()
