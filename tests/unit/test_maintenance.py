"""When maintenance is due, what it repairs, and what it leaves on record."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from time import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.tuned import tuned
from subconscious.app import App
from subconscious.embeddings.background import Embedding
from subconscious.embeddings.embedder import Access
from subconscious.settings.home import Home
from subconscious.store import backups, full_text, health, maintenance, memories
from subconscious.store.connect import Database
from subconscious.upkeep import maintenance as upkeep
from subconscious.upkeep.phases import PHASES, Step
from tests.support.values import make_memory

JOBS = sorted(PHASES)


@pytest.fixture
async def app(home: Home, database: Database) -> AsyncIterator[App]:
    settings = tuned(embedder="none", maintenance_quiet_seconds=0, maintenance_share=1)
    embedding = Embedding("none", database, Access())
    yield App(home, settings, database, embedding)
    await embedding.close()


async def remember(database: Database, *texts: str) -> list[int]:
    async with database.write() as tx:
        return [(await memories.insert(tx, make_memory(text))).id for text in texts]


async def long_ago(database: Database) -> None:
    async with database.write() as tx:
        await tx.execute("UPDATE schema_migrations SET applied_at = 1000")


@given(now=st.floats(1e9, 4e9), hour=st.integers(0, 23), job=st.sampled_from(JOBS))
def test_a_job_was_due_at_its_hour_and_not_long_ago(now: float, hour: int, job: str) -> None:
    longest = {"nightly": 1, "weekly": 7, "monthly": 31}[job] + 0.1
    since = upkeep.due_since(job, now, hour)
    assert since <= now < since + longest * 86_400
    there = datetime.fromtimestamp(since).astimezone()
    assert job != "weekly" or there.weekday() in (5, 6, 0)  # a clock that is put forward or back in between
    assert upkeep.due_since(job, since + 1, hour) <= since + 1


async def test_a_new_store_waits_for_its_first_night(app: App) -> None:
    assert await upkeep.waiting(app) == []
    assert await upkeep.run_due_jobs(app) == 0


async def test_missed_runs_are_made_up_for_once(app: App) -> None:
    await remember(app.database, "Amounts are integer cents.")
    await long_ago(app.database)
    assert await upkeep.waiting(app) == ["nightly", "weekly", "monthly"]
    assert await upkeep.run_due_jobs(app) == 3
    assert await upkeep.waiting(app) == []
    assert await upkeep.run_due_jobs(app) == 0
    runs = {run.job: run for run in await maintenance.listing(app.database, 9)}
    for job, phases in PHASES.items():
        assert runs[job].state == "done"
        assert list(runs[job].report) == [phase.name for phase in phases]
        assert not any("failed" in done for done in runs[job].report.values())
    assert runs["nightly"].report["integrity"]["verdict"] == "ok"
    assert runs["nightly"].report["stats"]["active"] == 1
    (copy,) = backups.listing(app.database.path)
    assert copy.path.stat().st_mode & 0o077 == 0


async def test_it_is_off_if_a_person_wants_that(app: App) -> None:
    await long_ago(app.database)
    app.settings = app.settings.model_copy(update={"maintenance": False})
    assert await upkeep.waiting(app) == []


async def test_it_waits_during_a_session(app: App) -> None:
    await long_ago(app.database)
    app.settings = app.settings.model_copy(update={"maintenance_quiet_seconds": 3600})
    app.signals.heard()
    doing = asyncio.create_task(upkeep.run_due_jobs(app))
    while not await maintenance.unfinished(app.database):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert not doing.done()
    app.signals.last_heard = time() - 7200  # it fell silent
    app.signals.stopping.set()
    await asyncio.gather(doing, return_exceptions=True)
    (run,) = await maintenance.listing(app.database, 9)
    assert (run.state, run.report) == ("running", {})


@pytest.mark.slow
async def test_a_requested_run_does_not_wait_for_silence(app: App) -> None:
    await long_ago(app.database)
    app.settings = app.settings.model_copy(update={"maintenance_quiet_seconds": 3600})
    app.signals.heard()
    doing = asyncio.create_task(upkeep.run_due_jobs(app))
    while not await maintenance.unfinished(app.database):
        await asyncio.sleep(0.01)
    async with asyncio.timeout(20):
        assert (await upkeep.run_now(app, "nightly")).state == "done"
    app.signals.stopping.set()
    await asyncio.gather(doing, return_exceptions=True)


async def test_a_phase_that_fails_leaves_its_reason_and_the_others_their_turn(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(app: App, run: maintenance.Run) -> Step:
        raise RuntimeError("the disk is full")

    broken = [
        phase.__class__(phase.name, fails if phase.name == "backup" else phase.work) for phase in PHASES["nightly"]
    ]
    monkeypatch.setitem(PHASES, "nightly", tuple(broken))
    done = await upkeep.run_now(app, "nightly")
    assert done.report["backup"] == {"failed": "the disk is full"}
    assert "stats" in done.report
    assert "backup: failed the disk is full" in upkeep.summary(done)


BREAKS = {
    "memories that are missing from the search index": "DELETE FROM memories_fts WHERE rowid = 1",
    "search index entries that differ from their memory": "UPDATE memories_fts SET content = 'stale' WHERE rowid = 1",
    "search index entries without an active memory": "UPDATE memories SET archived_at = 5 WHERE id = 1",
    "vectors with a wrong active flag": "UPDATE embeddings SET active = 0 WHERE memory_id = 1",
    "memories that are marked as embedded but have no vector": "DELETE FROM embeddings WHERE memory_id = 1",
}


@pytest.mark.parametrize("name", [check.name for check in health.CHECKS])
async def test_drift_is_reported_and_repaired(app: App, name: str) -> None:
    await remember(app.database, "Amounts are integer cents.", "The worker retries twice.")
    async with app.database.write() as tx:
        await tx.execute(
            "INSERT INTO embeddings (memory_id, project, model, dim, vector, stamp) SELECT id, '', 'm', 1, x'00', 1"
            " FROM memories"
        )
        await tx.execute("UPDATE memories SET embedding_status = 'done'")
    assert health.count_inconsistencies(app.database.path) == {}
    async with app.database.write() as tx:
        await tx.execute(BREAKS[name])
    assert health.count_inconsistencies(app.database.path)[name] == 1
    done = await upkeep.run_now(app, "nightly")
    assert done.report["orphans"][name] == 1
    assert health.count_inconsistencies(app.database.path) == {}


async def test_an_index_of_words_that_contradicts_itself_is_made_anew(app: App) -> None:
    await remember(app.database, "Amounts are integer cents.")
    async with app.database.write() as tx:
        await tx.execute("UPDATE memories_fts_content SET c2 = 'other words' WHERE id = 1")
    done = await upkeep.run_now(app, "nightly")
    assert done.report["integrity"]["full text"] == "rebuilt"
    assert await full_text.search(app.database, ["cents"], [], 9)


@pytest.mark.parametrize("folder", ["plain", "my #1 folder"])
async def test_missing_vectors_are_reported(app: App, tmp_path: Path, folder: str) -> None:
    from subconscious.store.vectors.vec0 import index_path

    await remember(app.database, "Amounts are integer cents.")
    async with app.database.write() as tx:
        await tx.execute("INSERT INTO embedding_models (name, base, dim, serving) VALUES ('m', 'm', 1, 1)")
        await tx.execute(
            "INSERT INTO embeddings (memory_id, project, model, dim, vector, stamp) VALUES (1, '', 'm', 1, x'00', 7)"
        )
    (tmp_path / folder).mkdir()
    database = tmp_path / folder / "memory.db"
    backups.copy_database(app.database.path, database)
    with sqlite3.connect(index_path(database, "m")) as index:
        index.execute("CREATE TABLE held (memory_id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL)")
        index.execute("INSERT INTO held VALUES (1, 7)")
        index.commit()
        assert health.count_inconsistencies(database) == {}
        index.execute("UPDATE held SET stamp = 6")
        index.commit()
    index.close()
    assert health.count_inconsistencies(database) == {"vectors missing or outdated in the index": 1}
    assert not (tmp_path / "my ").exists()


async def test_a_file_that_is_mostly_empty_is_written_anew(app: App) -> None:
    ids = await remember(app.database, *(f"Fact {number}: {'x' * 3000}" for number in range(200)))
    async with app.database.write() as tx:
        await tx.execute("DELETE FROM memories WHERE id > ?", (ids[3],))
        await tx.execute("DELETE FROM events WHERE id > 3")
    before = await maintenance.slack(app.database)
    done = await upkeep.run_now(app, "weekly")
    assert before > 0.2
    assert "freed" in done.report["compact"]
    assert await maintenance.slack(app.database) < 0.05
