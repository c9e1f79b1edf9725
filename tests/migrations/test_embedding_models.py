"""Migration 0005: every vector is carried over, and the model that most are of serves."""

from __future__ import annotations

from subconscious.settings.home import Home
from subconscious.store import embedding_models
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate, migrations


async def test_vectors_and_what_serves_are_carried_over(home: Home) -> None:
    database = await open_database(home.database)
    await migrate(database, [migration for migration in migrations() if migration.version < 5])
    async with database.write() as tx:
        await tx.executemany(
            "INSERT INTO memories (id, scope, kind, category, summary, content, origin, confidence, raw_confidence,"
            " extractor, created_at, said_at, content_hash)"
            " VALUES (?, 'user', 'decision', 'semantic', '', '', 'user', 1, 1, 'x', 0, 0, '')",
            [(number,) for number in range(1, 6)],
        )
        await tx.executemany(
            "INSERT INTO embeddings VALUES (?, 'p', ?, 1, ?, ?, ?)",
            [(n, "old" if n == 1 else "new", bytes([n] * 4), n != 2, n * 10) for n in range(1, 6)],
        )
    columns = "memory_id, project, model, dim, vector, active, stamp"
    before = [tuple(row) for row in await database.rows(f"SELECT {columns} FROM embeddings ORDER BY memory_id")]
    await migrate(database)
    after = [tuple(row) for row in await database.rows(f"SELECT {columns} FROM embeddings ORDER BY memory_id")]
    assert after == before
    assert await embedding_models.in_use(database) == embedding_models.EmbeddingModel("new", "new", 1)
    assert [row[0] for row in await database.rows("SELECT name FROM embedding_models ORDER BY name")] == ["new", "old"]
    await database.close()


async def test_an_empty_store_has_no_model_that_serves(home: Home) -> None:
    database = await open_database(home.database)
    await migrate(database)
    assert await embedding_models.in_use(database) is None
    await database.close()
