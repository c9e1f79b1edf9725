from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy
import pytest

from bench.tuned import tuned
from daemon import schedule, worker
from daemon.events import EVENTS
from daemon.spool import Spool
from daemon.worker import Workers
from subconscious.app import App
from subconscious.app.work import Work
from subconscious.capture.transcript_source import Source
from subconscious.domain.errors import TranscriptError
from subconscious.embeddings import batches, embedder_fallback
from subconscious.embeddings.background import Embedding
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.home import Home
from subconscious.store import jobs, memories, sessions
from subconscious.store.connect import Database
from subconscious.store.projects import find_or_create
from subconscious.system.projects import Identity
from tests.support.values import make_memory

NAME = "00000000000000000001-1-aa.entry"


@pytest.fixture
def app(home: Home, database: Database) -> App:
    return App(home, tuned(embedder="none", job_attempts=3), database, Embedding("none", database))


def entry(app: App, name: str = NAME) -> Path:
    path = app.home.spool / name
    path.write_bytes(b'subconscious 1\tStop\t1790000000000000000\t/\t\t0.1.0\t\n{"session_id": "s"}')
    return path


@asynccontextmanager
async def working(app: App) -> AsyncIterator[Spool]:
    spool = Spool(app)
    task = asyncio.create_task(Workers(app, spool).run())
    try:
        await spool.sweep()
        yield spool
    finally:
        app.signals.stopping.set()
        app.signals.queued.set()
        await asyncio.wait_for(task, 10)


async def until(state: str, database: Database) -> sqlite3.Row:
    for _ in range(500):
        rows = await database.rows("SELECT * FROM jobs WHERE name = ? AND state = ?", (NAME, state))
        if rows:
            return rows[0]
        await asyncio.sleep(0.01)
    raise AssertionError(f"no job became {state}")


async def test_a_job_that_fails_is_tried_again_and_then_buried_with_its_reason(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    async def fail(work: Work) -> None:
        tries.append(work.job.attempts)
        raise OSError("disk full")

    monkeypatch.setitem(EVENTS, "Stop", fail)
    monkeypatch.setattr(worker, "LONGEST_PAUSE", 0.01)
    path = entry(app)
    async with working(app):
        buried = await until("buried", app.database)
    assert tries == [1, 2, 3]
    assert "disk full" in buried["reason"]
    assert (app.home.buried / path.name).exists()
    assert not path.exists()


async def test_a_job_that_hangs_is_cut_off_and_does_not_hold_up_others(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(work: Work) -> None:
        await asyncio.sleep(60)

    monkeypatch.setitem(EVENTS, "Stop", hang)
    monkeypatch.setattr(worker, "LONGEST_PAUSE", 0.01)
    app.settings = tuned(embedder="none", job_attempts=1, job_timeout_seconds=0.05)
    entry(app)
    async with working(app):
        buried = await until("buried", app.database)
    assert "TimeoutError" in buried["reason"]


async def test_effects_and_end_of_a_job_are_one_transaction(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    async def half(work: Work) -> None:
        async with work.commit() as tx:
            await memories.insert(tx, make_memory())
            if work.job.attempts == 1:
                raise OSError("killed in the middle")

    monkeypatch.setitem(EVENTS, "Stop", half)
    monkeypatch.setattr(worker, "LONGEST_PAUSE", 0.01)
    path = entry(app)
    async with working(app):
        await until("done", app.database)
    assert (await memories.counts(app.database, None))["active"] == 1
    assert not path.exists()


async def test_a_full_disk_buries_nothing_and_is_survived(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LONGEST_PAUSE", 0.01)
    monkeypatch.setattr(worker, "DATABASE_PAUSE", 0.01)
    monkeypatch.setattr(worker, "LEASE_MARGIN", 0.0)
    app.settings = tuned(embedder="none", job_attempts=1, job_timeout_seconds=0.2)

    async def grow(work: Work) -> None:
        async with work.commit() as tx:
            await memories.insert(tx, make_memory("x" * 200_000))

    monkeypatch.setitem(EVENTS, "Stop", grow)
    path = entry(app)
    (pages,) = await app.database.rows("PRAGMA page_count")
    await app.database.writer.execute(f"PRAGMA max_page_count = {pages[0]}")
    async with working(app):
        await asyncio.sleep(0.5)
        assert path.exists()
        assert (await jobs.counts(app.database))["buried"] == 0
        await app.database.writer.execute("PRAGMA max_page_count = 100000")
        app.signals.queued.set()
        await until("done", app.database)
    assert (await memories.counts(app.database, None))["active"] == 1


async def test_a_cancelled_transaction_leaves_none_open(database: Database) -> None:
    async def slow() -> None:
        async with database.write() as tx:
            await memories.insert(tx, make_memory())
            await asyncio.sleep(60)

    for pause in (0.0, 0.0001, 0.001, 0.01, 0.05):
        task = asyncio.create_task(slow())
        await asyncio.sleep(pause)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with database.write() as tx:
            await tx.execute("SELECT 1")
    assert (await memories.counts(database, None))["active"] == 0


async def test_workers_that_step_aside_when_the_daemon_stops_keep_nobody_waiting(app: App) -> None:
    work = asyncio.create_task(Workers(app, Spool(app)).run())
    async with app.signals.answering["session"]:  # an answer is under way: they step aside
        await asyncio.sleep(0.2)
        app.signals.stopping.set()
        app.signals.queued.set()  # as the daemon does, once
        await asyncio.wait_for(work, 10)


async def test_an_entry_whose_job_is_done_goes_at_the_next_sweep(app: App) -> None:
    path = entry(app)
    async with app.database.write() as tx:
        await jobs.enqueue(tx, NAME, "Stop", "s", 0.0)
    async with app.database.write() as tx:
        job = await jobs.lease(tx, 1.0, 60)
        assert job
        await jobs.finish(tx, job, 1.0)
    assert await Spool(app).sweep() == 1
    assert not path.exists()


async def test_half_written_entries_are_left_alone(app: App) -> None:
    (app.home.spool / f".{NAME}.tmp").write_bytes(b"subcons")
    assert await Spool(app).sweep() == 0


async def test_the_spool_keeps_to_its_cap_oldest_first_and_says_so(app: App) -> None:
    for number in range(4):
        (app.home.spool / f"0000000000000000000{number}-1-aa.entry").write_bytes(b"x" * 400_000)
    app.settings = tuned(embedder="none", spool_max_mb=1)
    assert await Spool(app).hold_cap() == 2
    assert sorted(file.name[19] for file in app.home.spool.glob("*.entry")) == ["2", "3"]
    rows = await app.database.rows("SELECT reason FROM events WHERE subject = 'spool'")
    assert "2 entries" in rows[0]["reason"]


async def test_age_deletes_no_unread_entry_and_nothing_that_was_set_aside(app: App) -> None:
    paths = [entry(app), app.home.buried / NAME, app.home.buried / "00000000000000000001-1-aa.entry"]
    for path in paths[1:]:
        path.write_bytes(b"a person's words")
    for path in paths:
        os.utime(path, (1, 1))
    spool = Spool(app)
    for _ in range(3):
        assert await spool.keep_within_cap() == 0
    assert all(path.exists() for path in paths)


async def test_what_was_set_aside_keeps_to_a_cap_of_its_own(app: App) -> None:
    for number in range(4):
        (app.home.buried / f"0000000000000000000{number}-1-aa.entry").write_bytes(b"x" * 400_000)
    app.settings = tuned(embedder="none", spool_max_mb=1)
    assert await Spool(app).hold_cap() == 2
    assert sorted(file.name[19] for file in app.home.buried.iterdir()) == ["2", "3"]
    rows = await app.database.rows("SELECT reason FROM events WHERE subject = 'spool'")
    assert rows[0]["reason"] == "2 set aside earlier"


async def test_a_spool_that_is_worked_off_drops_nothing(app: App) -> None:
    """A daemon that comes back after weeks finds more than the cap allows, and reads it."""
    paths = [app.home.spool / f"0000000000000000000{number}-1-aa.entry" for number in range(5)]
    for path in paths:
        path.write_bytes(b"x" * 400_000)
    app.settings = tuned(embedder="none", spool_max_mb=1)
    spool = Spool(app)
    assert await spool.keep_within_cap() == 0  # the first look
    paths.pop().unlink()
    assert await spool.keep_within_cap() == 0  # it shrank
    assert await spool.keep_within_cap() == 2  # nobody reads it any more
    assert [path.exists() for path in paths] == [False, False, True, True]


async def test_a_dropped_entry_leaves_no_job_behind(app: App) -> None:
    app.settings = tuned(embedder="none", spool_max_mb=1)
    spool = Spool(app)
    entry(app)
    await spool.sweep()
    assert await jobs.states(app.database, [NAME]) == {NAME: "ready"}
    (app.home.spool / f"9{NAME}").write_bytes(b"x" * 1_100_000)
    assert await spool.hold_cap() == 2
    assert await jobs.states(app.database, [NAME]) == {}


async def test_a_whole_entry_of_a_killed_hook_is_read_and_the_words_of_half_a_one_are_kept(app: App) -> None:
    whole = entry(app).rename(app.home.spool / f".{NAME}.tmp")
    half = app.home.spool / ".00000000000000000002-1-aa.entry.tmp"
    half.write_bytes(whole.read_bytes()[:-3])
    spool = Spool(app)
    await spool.keep_within_cap()
    assert whole.exists()  # its hook may still be writing
    await spool.keep_within_cap()
    assert (whole.exists(), half.exists()) == (False, False)
    assert (app.home.spool / NAME).exists()
    assert (app.home.buried / "00000000000000000002-1-aa.entry").exists()


async def test_an_entry_that_is_still_written_is_left_to_its_hook(app: App) -> None:
    draft = app.home.spool / f".{NAME}.tmp"
    spool = Spool(app)
    for size in (1, 2, 3):
        draft.write_bytes(b"x" * size)
        await spool.keep_within_cap()
        assert draft.exists()


async def test_a_session_that_can_not_be_closed_keeps_no_other_open(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = await find_or_create(app.database, Identity(root=str(tmp_path), name="demo"))
    async with app.database.write() as tx:
        for name in ("bad", "good"):
            await sessions.record_activity(tx, name, project.id, 1.0, transcript=str(tmp_path / name), cwd="/")

    async def learn(app: App, ctx: RecallContext, source: Source, *, final: bool = False) -> list[int]:
        if source.session_id == "bad":
            raise TranscriptError("input/output error")
        return []

    monkeypatch.setattr(schedule, "learn", learn)
    await schedule.Schedule(app, Spool(app)).close_inactive()
    assert (await sessions.counts(app.database))["interrupted"] == 2


class Flaky:
    """An embedder that fails a number of times before it works."""

    name = "flaky"
    dim = 2
    batch = 16
    remote = False

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def embed(self, texts: Sequence[str]) -> Any:
        if self.failures and texts != [embedder_fallback.CANARY]:
            self.failures -= 1
            raise RuntimeError("out of memory")
        return numpy.array([[1.0, 0.0]] * len(texts), numpy.float32)

    def close(self) -> None:
        pass


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(("failures", "status"), [(0, "done"), (2, "done"), (9, "failed")])
async def test_embedding_retries_and_then_gives_up_visibly(
    database: Database, monkeypatch: pytest.MonkeyPatch, failures: int, status: str
) -> None:
    monkeypatch.setattr(batches, "RETRIES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(embedder_fallback, "open_embedder", lambda name, access: Flaky(failures))
    async with database.write() as tx:
        kept = await memories.insert(tx, make_memory())
    loop = Embedding("flaky", database)
    task = asyncio.create_task(loop.run())
    try:
        for _ in range(500):
            if (await memories.get(database, kept.id)).embedding_status != "pending":
                break
            await asyncio.sleep(0.01)
    finally:
        await ended(task)
        await loop.close()
    assert (await memories.get(database, kept.id)).embedding_status == status


async def test_without_an_embedder_recall_goes_by_words(database: Database) -> None:
    loop = Embedding("no such embedder", database)
    task = asyncio.create_task(loop.run())
    assert await loop.current.search_vector("anything") is None
    assert loop.state == "failed"
    assert "E051" not in loop.error
    assert "local" in loop.error
    await ended(task)
    await loop.close()
