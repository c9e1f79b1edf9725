from __future__ import annotations

from subconscious.store import full_text, llm_requests, memories, purge, purge_selection
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from tests.support.values import make_memory

ROW = (
    "INSERT INTO llm_requests"
    " (purpose, key, system, text, max_tokens, payload, session_id, project_id, state, created_at)"
    " VALUES ('capture', ?, 'told', 'said', 9, '{\"a\": 1}', ?, '', ?, 0)"
)


async def test_what_a_model_has_still_to_read_of_a_purged_session_is_not_asked(
    database: Database, project: Project
) -> None:
    async with database.write() as tx:
        for key, session, state in (("1", "gone", "waiting"), ("2", "gone", "sent"), ("3", "kept", "waiting")):
            await tx.execute(ROW, (key, session, state))
        await tx.execute(
            "INSERT INTO model_readings (path, session_id, project_id, begin, until, anchor, state)"
            " VALUES ('/t', 'gone', ?, 0, 9, 0, '{}')",
            (project.id,),
        )
    doomed = await purge_selection.of_sessions(database, ["gone"])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, "session gone")
    rows = await database.rows("SELECT key, text, payload, state FROM llm_requests ORDER BY key")
    assert [tuple(row) for row in rows] == [
        ("1", "", "{}", "buried"),
        ("2", "", "{}", "buried"),
        ("3", "said", '{"a": 1}', "waiting"),
    ]
    assert not await database.rows("SELECT 1 FROM model_readings")
    async with database.write() as tx:
        assert not await llm_requests.claim(tx, 2, 1.0)  # its answer, coming late, is not used


async def test_an_archived_memory_is_purged_from_its_full_text_too(database: Database) -> None:
    async with database.write() as tx:
        memory = await memories.insert(tx, make_memory("The retry queue."))
        await memories.archive(tx, memory, "user", "")
    assert await full_text.search(database, ["queue"], [], 9, Filter(archived=True))
    doomed = await purge_selection.of_memories(database, [memory.id])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, "memory")
    assert not await full_text.search(database, ["queue"], [], 9, Filter(archived=True))


async def test_an_archived_memory_stays_archived_after_a_reindex(database: Database) -> None:
    """Redaction changes words of archived memories as well."""
    async with database.write() as tx:
        memory = await memories.insert(tx, make_memory("The retry queue.", archived_at=5.0))
        await full_text.reindex(tx, memory)
    assert await full_text.search(database, ["queue"], [], 9) == []
    assert [one for one, _ in await full_text.search(database, ["queue"], [], 9, Filter(archived=True))] == [1]
