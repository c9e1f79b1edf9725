"""What surfacing keeps (outcomes, dates, how files looked), how it moves the ranking, and that a purge reaches it."""

from __future__ import annotations

from subconscious.recall.file_binding import Touched
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.store import (
    events,
    memories,
    memory_files,
    purge,
    purge_selection,
    responses,
    surfaces,
    text_columns,
    triggers,
)
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.proactive import Prompt, SurfacingEvent, surface_file, surface_prompt
from subconscious.text import due_dates
from tests.support.minds import make_mind, store
from tests.support.values import NOON

SAID = "The retries in upload/worker.py stop after two until 2030-03-01."


async def touched(ctx: RecallContext, project: Project, session: str) -> list[int]:
    occasion = SurfacingEvent(session, project.id, "file")
    context = await surface_file(ctx, occasion, Touched("upload/worker.py", "/shop"))
    return [hit.memory.id for hit in context.hits]


async def judged(database: Database, session: str, *, used: bool) -> int:
    waiting = await surfaces.unjudged(database, session)
    async with database.write() as tx:
        return sum([await surfaces.judge(tx, one, session, used, "", "act") for one in waiting])


async def test_a_surface_is_judged_once_and_that_is_an_event(database: Database, project: Project) -> None:
    number = await store(database, project, SAID, files=("upload/worker.py",))
    assert await touched(make_mind(database), project, "s") == [number]
    (waiting,) = await surfaces.unjudged(database, "s")
    async with database.write() as tx:
        assert await surfaces.judge(tx, waiting, "s", True, "named", "act")
        assert not await surfaces.judge(tx, waiting, "s", False, "", "act")
    assert (await responses.of_memories(database, [number]))[number].used == 1
    kept = await memories.get(database, number)
    assert (kept.uses, kept.last_used_at is not None) == (1, True)  # an answer drew on it: that is a use
    (event,) = await events.history(database, "surface_outcome", 1)
    assert (event["action"], event["before"], event["act"]) == ("echo", None, "act")
    assert event["after"]["memory_id"] == number


async def test_priority_moves_the_rank_and_no_confidence(database: Database, project: Project) -> None:
    ctx = make_mind(database)
    first, second = [await store(database, project, f"Upload retries, case {name}.") for name in ("one", "two")]
    for session in range(8):
        async with database.write() as tx:
            await tx.execute(
                "INSERT INTO surfaces (session_id, project_id, event, at, memory_id, content_hash, position, reason,"
                " relevance, decay) VALUES (?, ?, 'prompt', ?, ?, 'x', 1, '', 1, 1)",
                (f"s{session}", project.id, NOON, second),
            )
        await judged(database, f"s{session}", used=True)
    before = {number: (await memories.get(database, number)).confidence for number in (first, second)}
    found = await recall(ctx, "upload retries", project.id, 5)
    assert [hit.memory.id for hit in found] == [second, first]
    assert [round(hit.priority, 2) for hit in found] == [0.8, 0.0]
    assert {number: (await memories.get(database, number)).confidence for number in (first, second)} == before
    off = await recall(make_mind(database, feedback=False), "upload retries", project.id, 5)
    assert [hit.priority for hit in off] == [0.0, 0.0]


async def test_what_a_memory_says_of_its_time_is_read_anew_when_it_changes(
    database: Database, project: Project
) -> None:
    await store(database, project, SAID)
    (memory,) = await triggers.unsearched(database, due_dates.VERSION, 10)
    found = [(one.words, one.due_at) for one in due_dates.triggers_of(memory.content, memory.said_at)]
    async with database.write() as tx:
        await triggers.replace(tx, memory, due_dates.VERSION, found)
    assert await triggers.unsearched(database, due_dates.VERSION, 10) == []
    assert len(await triggers.due(database, project.id, 0.0, 5e9)) == 1
    async with database.write() as tx:
        await tx.execute("UPDATE memories SET content_hash = 'another'")
    (again,) = await triggers.unsearched(database, due_dates.VERSION, 10)
    async with database.write() as tx:
        await triggers.replace(tx, again, due_dates.VERSION, [])
    assert await triggers.due(database, project.id, 0.0, 5e9) == []


async def test_a_milestone_is_told_once(database: Database, project: Project) -> None:
    number = await store(database, project, "When we upgrade to Python 3.13, the backport goes.")
    (memory,) = await triggers.unsearched(database, due_dates.VERSION, 10)
    async with database.write() as tx:
        await triggers.replace(tx, memory, due_dates.VERSION, [("when we upgrade to Python 3.13", None)])
    ctx = make_mind(database)
    quiet = await surface_prompt(ctx, Prompt("a", project.id, "Thanks for the joke."))
    told = await surface_prompt(ctx, Prompt("b", project.id, "We upgrade to Python 3.13!"))
    again = await surface_prompt(ctx, Prompt("c", project.id, "Upgrade to 3.13 of Python."))
    assert quiet.hits == ()
    assert [hit.memory.id for hit in told.hits] == [number]
    assert "due now" in told.text
    assert "due now" not in again.text


async def test_a_milestone_is_told_of_by_a_commit_that_came_after_it(database: Database, project: Project) -> None:
    number = await store(database, project, "When we upgrade to Python 3.13, the backport goes.")
    (memory,) = await triggers.unsearched(database, due_dates.VERSION, 10)
    async with database.write() as tx:
        await triggers.replace(tx, memory, due_dates.VERSION, [("when we upgrade to Python 3.13", None)])

    async def given(session: str, at: float) -> list[int]:
        commits = ((at, "Upgrade CI to Python 3.13"),)
        told = await surface_prompt(make_mind(database), Prompt(session, project.id, "Go on.", commits=commits))
        return [hit.memory.id for hit in told.hits]

    assert await given("before", NOON - 60) == []
    assert await given("after", NOON + 60) == [number]
    assert await given("again", NOON + 60) == []


async def test_a_purge_reaches_all_of_it(database: Database, project: Project) -> None:
    number = await store(database, project, SAID, files=("upload/worker.py",))
    kept = await store(database, project, "Amounts are cents.")
    memory = await memories.get(database, number)
    async with database.write() as tx:
        await triggers.replace(tx, memory, due_dates.VERSION, [("until 2030-03-01", 4e9)])
        await memory_files.save_digests(tx, {(number, "upload/worker.py"): "d", (kept, "a.py"): "d"})
    await touched(make_mind(database), project, "s")
    async with database.write() as tx:
        await tx.execute("UPDATE surfaces SET trigger_id = 1")
    await judged(database, "s", used=True)
    doomed = await purge_selection.of_memories(database, [number])
    async with database.write() as tx:
        await purge.purge(tx, database, doomed, "memories")
    for table in ("surface_outcomes", "memory_triggers", "trigger_searches", "surfaces"):
        assert await database.rows(f"SELECT * FROM {table}") == [], table
    assert [row["memory_id"] for row in await database.rows("SELECT * FROM memory_files")] == [kept]


async def test_words_of_the_new_tables_are_redacted_and_hashes_are_not(database: Database) -> None:
    words = {table.name: table.words for table in await text_columns.tables(database)}
    assert words["memory_triggers"] == ("words",)
    assert words["memory_files"] == ("file",)
    assert {"about", "reason"} <= set(words["surfaces"])
    assert "limits" not in words["surfaces"]
