from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from subconscious.domain.errors import NotFoundError
from subconscious.domain.hits import EngineHit, Surface
from subconscious.domain.model import Admission, Decision, Scope
from subconscious.settings.home import Home
from subconscious.store import captures, decisions, events, full_text, jobs, memories, review_queue, sessions, surfaces
from subconscious.store.capture_rows import SessionRef, candidate_from
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.text.terms import terms
from tests.support.candidates import make_candidate
from tests.support.values import NOON, make_memory


async def stored(database: Database, **changes: Any) -> int:
    async with database.write() as tx:
        return (await memories.insert(tx, make_memory(**changes))).id


async def test_a_memory_comes_back_as_it_was_stored(database: Database, project: Project) -> None:
    memory = make_memory(project_id=project.id, tags=("a", "b"), files=("x.py",), commit="c0ffee", verified=True)
    async with database.write() as tx:
        kept = await memories.insert(tx, memory)
    assert await memories.get(database, kept.id) == replace(memory, id=kept.id)


async def test_a_missing_memory_is_reported(database: Database) -> None:
    with pytest.raises(NotFoundError) as caught:
        await memories.get(database, 99)
    assert "subconscious list" in caught.value.remedy


async def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    async def fail() -> None:
        async with database.write() as tx:
            await memories.insert(tx, make_memory())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert (await memories.counts(database, None))["active"] == 0


async def test_text_search_is_limited_to_the_project_and_the_user(database: Database, project: Project) -> None:
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects VALUES ('pother', 'other', '/o', '', '', 0)")
    here = await stored(database, content="retry with backoff", project_id=project.id)
    user = await stored(database, content="always retry twice")
    other = await stored(database, content="retry forever", project_id="pother")
    found = await full_text.search(database, ["retry"], [project.id, full_text.USER_WIDE], 10)
    assert {memory_id for memory_id, _ in found} == {here, user}
    everywhere = await full_text.search(database, ["retry"], [], 10)
    assert {memory_id for memory_id, _ in everywhere} == {here, user, other}
    assert all(score > 0 for _, score in everywhere)


@pytest.mark.parametrize(
    "text", ['"; DROP TABLE', "NEAR(a b)", "a* -b", "project : x", "ä\x00ö", "((", "", "OR AND NOT"]
)
async def test_any_words_can_be_searched(database: Database, text: str) -> None:
    assert await full_text.search(database, terms(text), ["p1"], 10) == []


async def test_archived_memories_leave_the_index_and_come_back_whole(database: Database) -> None:
    memory = await memories.get(database, await stored(database, content="use tabs in Makefiles"))
    async with database.write() as tx:
        await memories.archive(tx, memory, "user", "test")
    assert await full_text.search(database, ["tabs"], [], 10) == []
    archived = await memories.get(database, memory.id)
    assert archived.archived_at is not None
    async with database.write() as tx:
        await memories.unarchive(tx, archived, "user", "test")
    assert await memories.get(database, memory.id) == memory
    assert [found for found, _ in await full_text.search(database, ["tabs"], [], 10)] == [memory.id]
    told = await events.history(database, "memory", memory.id)
    assert [event["action"] for event in told] == ["create", "archive", "unarchive"]


async def test_archived_memories_rank_by_their_words_apart_from_the_active(database: Database) -> None:
    both = await memories.get(database, await stored(database, content="use tabs in Makefiles"))
    one = await memories.get(database, await stored(database, content="Makefiles are generated"))
    await stored(database, content="tabs in Makefiles stay active")
    async with database.write() as tx:
        for memory in (one, both):
            await memories.archive(tx, memory, "user", "")
    found = await full_text.search(database, ["tabs", "makefile"], [], 10, Filter(archived=True))
    assert [memory_id for memory_id, _ in found] == [both.id, one.id]


async def test_a_capture_read_twice_is_kept_once(database: Database, project: Project) -> None:
    admission = Admission(Decision.REVIEW, 0.8, "softly said")
    place = SessionRef(project.id, "s1")
    async with database.write() as tx:
        first = await captures.insert(tx, make_candidate(), admission, place, 7)
        again = await captures.insert(tx, make_candidate(), admission, place, 7)
    assert first is not None
    assert again is None
    assert await captures.waiting(database) == 1
    assert candidate_from(await captures.get(database, first)) == make_candidate()


async def test_undecided_captures_expire_and_stay_readable(database: Database, project: Project) -> None:
    async with database.write() as tx:
        kept = await captures.insert(
            tx, make_candidate(), Admission(Decision.REVIEW, 0.8, ""), SessionRef(project.id, None), 7
        )
        await review_queue.record_shown(tx, [kept or 0], NOON, 7)  # own words don't expire unseen
        assert await decisions.expire(tx, NOON) == 0
        assert await decisions.expire(tx, 4e9) == 1
    assert (await captures.get(database, kept or 0))["status"] == "expired"


async def test_a_session_reopens_on_activity_and_not_for_a_late_event(database: Database, project: Project) -> None:
    async def note(at: float) -> str:
        async with database.write() as tx:
            await sessions.record_activity(tx, "s", project.id, at, transcript="/t", cwd="/p")
        session = await sessions.get(database, "s")
        assert session
        return session.status

    assert await note(NOON) == "open"
    async with database.write() as tx:
        await sessions.end(tx, "s", NOON + 10, "ended", "other")
    assert await note(NOON + 5) == "ended"
    assert await note(NOON + 20) == "open"


async def test_a_late_end_event_does_not_close_an_active_session(database: Database, project: Project) -> None:
    async with database.write() as tx:
        await sessions.record_activity(tx, "s", project.id, NOON + 20, transcript="/t", cwd="/p")
        await sessions.end(tx, "s", NOON + 10, "ended", "other")
    session = await sessions.get(database, "s")
    assert session
    assert session.status == "open"


async def test_the_ledger_forgets_at_a_compaction_and_the_record_does_not(database: Database, project: Project) -> None:
    memory_id = await stored(database)
    surface = Surface(
        "s", "start/startup", NOON, memory_id, "hash", 1, "pinned", 1.0, 1.0, (EngineHit("text", 1, 2.0),)
    )
    async with database.write() as tx:
        await surfaces.record(tx, project.id, [surface])
    assert await surfaces.hashes_in_context(database, "s") == {"hash"}
    async with database.write() as tx:
        await surfaces.reset(tx, "s")
    assert await surfaces.hashes_in_context(database, "s") == set()
    assert await surfaces.given_hashes(database, "s") == {"hash"}
    assert await surfaces.listing(database, memory_id=memory_id) == [surface]


async def leased(database: Database, now: float = NOON) -> jobs.Job | None:
    async with database.write() as tx:
        return await jobs.lease(tx, now, 60)


async def enqueued(database: Database, *names: str, lane: str = "a") -> None:
    async with database.write() as tx:
        for name in names:
            await jobs.enqueue(tx, name, "Stop", lane, NOON)


async def test_jobs_of_a_lane_run_one_after_the_other(database: Database) -> None:
    await enqueued(database, "1", "2")
    await enqueued(database, "3", lane="b")
    first, second = await leased(database), await leased(database)
    assert first
    assert second
    assert [first.name, second.name] == ["1", "3"]
    assert await leased(database) is None
    async with database.write() as tx:
        await jobs.finish(tx, first, NOON)
    third = await leased(database)
    assert third
    assert third.name == "2"


async def test_an_entry_swept_twice_makes_one_job(database: Database) -> None:
    await enqueued(database, "1", "1")
    assert (await jobs.counts(database))["ready"] == 1


async def test_the_job_of_a_dead_daemon_is_retried_and_counted(database: Database) -> None:
    await enqueued(database, "1")
    await leased(database)
    async with database.write() as tx:
        assert await jobs.release(tx) == 1
    again = await leased(database)
    assert again
    assert again.attempts == 2


async def test_a_retry_waits_its_time_and_a_buried_job_keeps_its_reason(database: Database) -> None:
    await enqueued(database, "1")
    job = await leased(database)
    assert job
    async with database.write() as tx:
        await jobs.retry(tx, job, NOON + 10, "disk full")
    assert await leased(database, NOON + 9) is None
    assert await jobs.next_due(database) == NOON + 10
    job = await leased(database, NOON + 11)
    assert job
    async with database.write() as tx:
        await jobs.bury(tx, job.name, job.event, "hopeless", NOON)
    rows = await database.rows("SELECT reason FROM jobs WHERE state = 'buried'")
    assert [row["reason"] for row in rows] == ["hopeless"]


async def test_done_jobs_are_forgotten_when_they_are_old(database: Database) -> None:
    await enqueued(database, "1", "2")
    for at in (NOON, NOON + 10):
        job = await leased(database)
        assert job
        async with database.write() as tx:
            await jobs.finish(tx, job, at)
    async with database.write() as tx:
        assert await jobs.delete_done(tx, NOON + 5) == 1
    assert await jobs.states(database, ["1", "2"]) == {"2": "done"}


async def test_a_clock_that_was_ahead_keeps_no_job_and_no_session(database: Database, project: Project) -> None:
    year = 365 * 86_400.0
    await enqueued(database, "1", "2")
    job = await leased(database, NOON + year)
    assert job
    assert job.name == "1"
    again = await leased(database, NOON)
    assert again
    async with database.write() as tx:
        await jobs.retry(tx, again, NOON + year, "clock")
    assert await leased(database, NOON)
    async with database.write() as tx:
        await sessions.record_activity(tx, "s", project.id, time.time() + year, transcript="", cwd="")
    assert [session.id for session in await sessions.inactive_since(database, NOON)] == ["s"]
    async with database.write() as tx:
        await sessions.record_activity(tx, "s", project.id, time.time() - 10, transcript="", cwd="")
        await sessions.end(tx, "s", time.time(), "ended", "other")
    session = await sessions.get(database, "s")
    assert session
    assert session.status == "ended"


async def test_archiving_twice_at_once_changes_once(database: Database) -> None:
    memory = await memories.get(database, await stored(database))
    async with database.write() as tx:
        assert await memories.archive(tx, memory, "user", "")
        assert not await memories.archive(tx, memory, "user", "")
        assert await memories.unarchive(tx, memory, "user", "")
        assert not await memories.unarchive(tx, memory, "user", "")
    found = await full_text.search(database, ["cents"], [], 10)
    assert [hit for hit, _ in found] == [memory.id]


async def test_the_database_is_its_owners_alone(database: Database, home: Home) -> None:
    await stored(database)
    assert all(file.stat().st_mode & 0o077 == 0 for file in home.root.glob("memory.db*"))


async def test_scope_and_project_can_not_disagree(database: Database) -> None:
    with pytest.raises(Exception, match="CHECK"):
        await stored(database, scope=Scope.PROJECT)
