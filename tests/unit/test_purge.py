from __future__ import annotations

from subconscious.store import asked, purge
from subconscious.store.connect import Database
from subconscious.store.projects import Project

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
    doomed = await purge.of_sessions(database, ["gone"])
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
        assert not await asked.claim(tx, 2, 1.0)  # its answer, coming late, is not used
