"""Migration 0007 adds to what is there and changes none of it."""

from __future__ import annotations

from subconscious.settings.home import Home
from subconscious.store import captures
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate, migrations

ADDED = {"level", "verdict", "rules", "quarantined", "released_at", "seconded_with"}
ROW = (
    "INSERT INTO implicit_captures (capture_key, project_id, status, decision, scope, kind, summary, content,"
    " content_hash, evidence, turn_id, transcript, byte_start, byte_end, origin, strength, raw_confidence, confidence,"
    " extractor, said_at, created_at) VALUES (?, 'p', ?, 'review', 'project', 'learning', 's', 'c', 'h', 'e', 't', 'f',"
    " 0, 1, 'user', 'explicit', .9, .9, 'test', 1, 1)"
)
STATUSES = ("captured", "review", "discarded", "approved", "rejected", "expired")


async def test_captures_of_before_stay_as_they_were(home: Home) -> None:
    database = await open_database(home.database)
    await migrate(database, [migration for migration in migrations() if migration.version < 3])
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects VALUES ('p', 'old', '/', '', '', 0)")
        for status in STATUSES:
            await tx.execute(ROW, (status, status))
    before = [dict(row) for row in await database.rows("SELECT * FROM implicit_captures ORDER BY id")]
    names = {row[0] for row in await database.rows("SELECT name FROM sqlite_master")}
    await migrate(database)
    after = [dict(row) for row in await database.rows("SELECT * FROM implicit_captures ORDER BY id")]
    assert [{name: row[name] for name in before[0]} for row in after] == before
    assert set(after[0]) >= set(before[0]) | ADDED
    assert names <= {row[0] for row in await database.rows("SELECT name FROM sqlite_master")}
    told = await captures.listing(database, project_id="p")
    assert [(row["status"], row["level"], row["verdict"]) for row in told] == [(name, "none", []) for name in STATUSES]
    await database.close()
