"""Maintenance by real daemons: killed -9 in each phase, taken up by the next, and nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from subconscious.store import backups, health
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.upkeep import restore
from subconscious.upkeep.phases import PHASES
from tests.support import terminal
from tests.support.daemons import configure, drained, eventually
from tests.support.purging import DECISION, MARK, OTHER, knowing, learned, person
from tests.support.values import NOON, make_memory

ROOT = Path(__file__).resolve().parents[2]
DYING = ROOT / "tests" / "daemon" / "dying.py"
MEMORIES = 450


async def furnish(home: Home, job: str) -> None:
    """A store of which one job is due, with drift that its phases have to mend."""
    from subconscious.store import memories

    database = await open_database(home.database)
    await migrate(database)
    async with database.write() as tx:
        for number in range(MEMORIES):
            await memories.insert(tx, make_memory(f"Fact {number} of the ledger."))
        await tx.execute("DELETE FROM memories_fts WHERE rowid % 2")
        others = [name for name in PHASES if name != job]
        await tx.executemany(
            "INSERT INTO maintenance_runs (job, phase, state, started_at, finished_at) VALUES (?, '', 'done', ?, ?)",
            [(name, time.time(), time.time()) for name in others],
        )
        await tx.execute("UPDATE schema_migrations SET applied_at = 1000")
    await database.close()


def rows(home: Home, sql: str, *values: object) -> list[Any]:
    with closing(sqlite3.connect(home.database)) as connection:
        return connection.execute(sql, values).fetchall()


Killer = Callable[[str, str, str], None]


@pytest.fixture
def kill_in(stopped: Home) -> Iterator[Killer]:
    """Has a daemon killed -9 in a phase of a job: ``before`` its first step is done or ``after``."""
    environment = os.environ | {"SUBCONSCIOUS_HOME": str(stopped.root), "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, str(DYING)], env=environment, stdin=pipe, stdout=pipe, text=True) as dying:
        assert dying.stdin
        assert dying.stdout

        def kill(job: str, phase: str, when: str) -> None:
            assert dying.stdin
            assert dying.stdout
            print(job, phase, when, file=dying.stdin, flush=True)
            assert int(dying.stdout.readline()) == -signal.SIGKILL

        yield kill
        dying.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("job", sorted(PHASES))
def test_a_job_that_is_killed_in_every_phase_is_completed(stopped: Home, kill_in: Killer, job: str) -> None:
    configure(stopped, maintenance_quiet_seconds=0, maintenance_share=1)
    asyncio.run(furnish(stopped, job))
    for phase in PHASES[job]:
        for when in ("before", "after"):
            kill_in(job, phase.name, when)
            assert rows(stopped, "SELECT state, phase FROM maintenance_runs WHERE job = ?", job) == [
                ("running", phase.name)
            ]
    wire.ensure_daemon(stopped)
    assert eventually(lambda: rows(stopped, "SELECT state FROM maintenance_runs WHERE job = ?", job) == [("done",)])
    (run,) = [each for each in wire.call(stopped, "maintenance_log")["runs"] if each["job"] == job]
    assert list(run["report"]) == [phase.name for phase in PHASES[job]]
    assert not any("failed" in done for done in run["report"].values())
    assert rows(stopped, "SELECT count(*), count(DISTINCT content) FROM memories") == [(MEMORIES, MEMORIES)]
    assert rows(stopped, "SELECT count(*) FROM events WHERE subject = 'memory'") == [(MEMORIES,)]
    copies = list((stopped.root / "backups").glob("*"))
    assert len(copies) == (1 if job == "nightly" else 0)
    assert job == "weekly" or health.count_inconsistencies(stopped.database) == {}
    assert wire.call(stopped, "maintenance_status")["jobs"][0]["waits"] is False


TWINS = 30
NAMES = ("owner", "currency", "history", "limit", "address", "colour")
FACT, AGAIN = "The {} of account {} is stored in the ledger.", "We store the {} of account {} in the ledger."


async def furnish_twins(home: Home) -> None:
    """A store in which much was said twice, to be embedded by the daemon."""
    from subconscious.store import memories

    database = await open_database(home.database)
    await migrate(database)
    async with database.write() as tx:
        for number in range(TWINS):
            for at, text in enumerate((FACT, AGAIN)):
                await memories.insert(tx, make_memory(text.format(NAMES[number % 6], number), said_at=NOON + at))
    await database.close()


def begin_night(home: Home) -> None:
    """Let the nightly job be due, at its phase that merges."""
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("UPDATE schema_migrations SET applied_at = ?", (time.time(),))  # the other jobs are not
        connection.execute("INSERT INTO maintenance_runs (job, phase, started_at) VALUES ('nightly', 'merge', 1000)")
        connection.commit()


@pytest.mark.slow
def test_merges_that_are_killed_are_completed_and_none_is_done_twice(stopped: Home, kill_in: Killer) -> None:
    configure(stopped, embedder='"local"', maintenance=False)
    asyncio.run(furnish_twins(stopped))
    wire.ensure_daemon(stopped)
    drained(stopped)
    wire.call(stopped, "stop")
    wire.await_absence(stopped, 20)
    begin_night(stopped)
    configure(stopped, embedder='"local"', maintenance_quiet_seconds=0, maintenance_share=1)
    for when in ("before", "after", "after"):
        kill_in("nightly", "merge", when)
    left = rows(stopped, "SELECT count(*) FROM memories WHERE archived_at IS NULL")[0][0]
    assert TWINS < left < 2 * TWINS  # it died midway
    wire.ensure_daemon(stopped)
    done = "SELECT state FROM maintenance_runs WHERE job = 'nightly'"
    assert eventually(lambda: rows(stopped, done) == [("done",)], 30)
    stays = "SELECT DISTINCT count(*), min(recurrence), max(recurrence) FROM memories WHERE archived_at IS NULL"
    assert rows(stopped, stays) == [(TWINS, 2, 2)]
    assert rows(stopped, "SELECT count(*), count(DISTINCT memory_id) FROM memory_merges") == [(TWINS, TWINS)]
    assert rows(stopped, "SELECT count(*) FROM events WHERE action = 'archive'") == [(TWINS,)]
    assert rows(stopped, "SELECT count(*) FROM memories WHERE content LIKE 'We %' AND archived_at IS NULL") == [
        (TWINS,)
    ]
    assert health.count_inconsistencies(stopped.database) == {}


def test_what_was_missed_is_done_before_an_idle_exit(stopped: Home) -> None:
    # Without links: they are looked for at a tenth of a processor, which keeps it here for as long as that takes.
    configure(stopped, maintenance_quiet_seconds=1, idle_exit_minutes=0.001, maintenance_share=1, links=False)
    asyncio.run(furnish(stopped, "nightly"))
    wire.start(stopped).wait(timeout=40)
    assert rows(stopped, "SELECT state FROM maintenance_runs WHERE job = 'nightly'") == [("done",)]


def test_a_purged_word_is_in_no_copy(running: Home, speaker: Speaker) -> None:
    learned(running, speaker, OTHER)
    gone = learned(running, speaker, DECISION)
    wire.call(running, "maintenance_run", {"job": "nightly", "origin": "user"})
    wire.call(running, "backup")
    aside = running.root / "broken"
    aside.mkdir()
    backups.copy_database(running.database, aside / "memory.db-20260101-000000")
    backups.copy_database(running.database, running.root / "backups" / ".memory-half.db.tmp")
    assert len(knowing(running, MARK)) > 3
    person(running, "purge", ids=[gone])
    assert knowing(running, MARK) == []
    assert len(backups.listing(running.database)) == 1


def test_an_older_database_is_put_back_and_the_newer_is_kept(running: Home, speaker: Speaker) -> None:
    kept = learned(running, speaker, OTHER)
    made = wire.call(running, "backup")["copy"]
    later = learned(running, speaker, DECISION)
    environment = speaker.environment | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "cli", "restore", made, "--yes"]
    with terminal.Terminal(command, environment, speaker.project) as shown:
        assert shown.end() == 0, shown.shown
    wire.ensure_daemon(running)
    assert wire.call(running, "show", {"id": kept})["memory"]["content"] == OTHER
    with pytest.raises(Exception, match=f"no memory {later}"):
        wire.call(running, "show", {"id": later})
    wire.call(running, "stop")
    wire.await_absence(running, 20)
    replaced = [one for one in restore.choices(running) if one.copy.path.name.startswith("memory.db-")]
    assert [one.memories for one in replaced] == [2]
    assert rows(running, "SELECT action, subject_id FROM events WHERE subject = 'store'") == [("restore", made)]
