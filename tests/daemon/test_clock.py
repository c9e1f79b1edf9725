"""A clock that jumps, ahead or back, does nothing that can't be undone."""

from __future__ import annotations

import sys
import time as clock

import pytest

from daemon.schedule import Schedule
from daemon.spool import Spool
from subconscious import doctor
from subconscious.app import App
from subconscious.context import bulk_limit
from subconscious.domain.model import Admission, Decision, Origin, Session
from subconscious.memories import fading
from subconscious.settings.settings import Settings
from subconscious.store import backups, captures, events, maintenance, memories, sessions, spend
from subconscious.store.capture_rows import SessionRef
from subconscious.store.projects import Project
from subconscious.upkeep import maintenance as upkeep
from subconscious.upkeep import phases
from tests.support.candidates import make_candidate
from tests.support.values import make_memory

DAY = 86_400.0
TEN_YEARS = 3650 * DAY


class Clock:
    """Replaces time.time() in every module of ours that took it by name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        real = clock.time
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in ("daemon", "subconscious") and getattr(module, "time", None) is real:
                monkeypatch.setattr(module, "time", lambda: real() + self.ahead)


@pytest.fixture
def jump(app: App, monkeypatch: pytest.MonkeyPatch) -> Clock:
    del app  # its modules are loaded
    return Clock(monkeypatch)


async def store_memories(app: App, project: Project, count: int) -> None:
    async with app.database.write() as tx:
        for number in range(count):
            now = clock.time()
            text = f"Service {number} listens on port {8000 + number}."
            await memories.insert(tx, make_memory(text, project_id=project.id, said_at=now, created_at=now))


async def begin_sessions(app: App, project: Project, at: float, count: int, name: str) -> None:
    async with app.database.write() as tx:
        for number in range(count):
            await sessions.record_activity(tx, f"{name}-{number}", project.id, at + number, transcript="", cwd="/")


async def active(app: App) -> int:
    return (await memories.counts(app.database, None))["active"]


async def test_one_night_ten_years_ahead_archives_nothing(app: App, project: Project, jump: Clock) -> None:
    await store_memories(app, project, 40)
    await begin_sessions(app, project, clock.time() - 60, 5, "before")
    jump.ahead = TEN_YEARS
    assert await fading.daily(app) is None
    (found,) = [one for one in doctor.examine({"SUBCONSCIOUS_HOME": str(app.home.root)}, "") if one.name == "upkeep"]
    assert "40 of 40 memories would be archived at once" in found.detail
    assert "subconscious maintenance run" in found.remedy
    jump.ahead = 0.0
    assert not [one for one in doctor.examine({"SUBCONSCIOUS_HOME": str(app.home.root)}, "") if one.name == "upkeep"]
    report = await fading.daily(app)
    assert report is not None
    assert report.archived == ()
    assert not await app.database.rows("SELECT 1 FROM postponed_upkeep")
    assert await active(app) == 40


async def test_three_sessions_confirm_a_clock(app: App, project: Project, jump: Clock) -> None:
    await store_memories(app, project, 40)
    jump.ahead = TEN_YEARS
    assert await fading.daily(app) is None
    await begin_sessions(app, project, clock.time() + TEN_YEARS, 2, "after")
    jump.ahead = TEN_YEARS + 60
    assert await fading.daily(app) is None
    await begin_sessions(app, project, clock.time() + TEN_YEARS, 3, "after")
    report = await fading.daily(app)
    assert report is not None
    assert len(report.archived) == 40


async def test_a_person_has_it_done_anyway(app: App, project: Project, jump: Clock) -> None:
    await store_memories(app, project, 40)
    jump.ahead = TEN_YEARS
    assert await fading.daily(app) is None
    await bulk_limit.allow(app.database)
    report = await fading.daily(app)
    assert report is not None
    assert len(report.archived) == 40


async def test_a_few_memories_fade_as_ever(app: App, project: Project, jump: Clock) -> None:
    await store_memories(app, project, 20)
    jump.ahead = TEN_YEARS
    report = await fading.daily(app)
    assert report is not None
    assert len(report.archived) == 20


@pytest.mark.parametrize(("count", "left"), [(21, 21), (20, 0)])
async def test_one_night_ten_years_ahead_expires_no_large_queue(
    app: App, project: Project, jump: Clock, count: int, left: int
) -> None:
    place = SessionRef(project.id, None)
    async with app.database.write() as tx:
        for number in range(count):
            said = make_candidate(f"Service {number} listens on port {8000 + number}.", origin=Origin.ASSISTANT)
            await captures.insert(tx, said, Admission(Decision.REVIEW, 0.8, "waits"), place, 7)
    schedule = Schedule(app, Spool(app))
    jump.ahead = TEN_YEARS
    await schedule.expire()
    assert await captures.waiting(app.database) == left
    jump.ahead = 0.0
    await schedule.expire()
    assert await captures.waiting(app.database) == left
    assert not await app.database.rows("SELECT 1 FROM postponed_upkeep")


async def test_a_job_that_ran_under_a_clock_ahead_runs_again_when_the_clock_is_right(app: App, jump: Clock) -> None:
    async with app.database.write() as tx:
        await tx.execute("UPDATE schema_migrations SET applied_at = 0")
    for ahead in (-3 * DAY, TEN_YEARS):
        jump.ahead = ahead
        async with app.database.write() as tx:
            await maintenance.finish(tx, await maintenance.begin(tx, "nightly", "orphans"))
    jump.ahead = 0.0
    assert "nightly" in await upkeep.waiting(app)


async def test_a_copy_with_a_date_ahead_is_not_the_latest_and_keeps_no_new_one_from_being_made(
    app: App, jump: Clock
) -> None:
    jump.ahead = TEN_YEARS
    await phases.copy(app)
    jump.ahead = 0.0
    async with app.database.write() as tx:
        run = await maintenance.begin(tx, "nightly", "backup")
    made = await phases.backup(app, run)
    latest, unknown = backups.listing(app.database.path)
    assert latest.path.name == made.done["copy"]
    assert unknown.at > clock.time() + DAY
    assert abs(latest.at - clock.time()) < 60


async def test_an_event_ahead_of_now_is_not_the_last_one(app: App, jump: Clock) -> None:
    for ahead in (-DAY, TEN_YEARS):
        jump.ahead = ahead
        async with app.database.write() as tx:
            await events.record(tx, "told", "project", "p")
    jump.ahead = 0.0
    assert abs(await events.last_time(app.database, "told", "project", "p") - (clock.time() - DAY)) < 60


async def test_spend_of_a_clock_ahead_does_not_use_up_every_day(app: App, jump: Clock) -> None:
    app.llm.spending.settings = Settings(embedder="none", cost_per_day=1)
    jump.ahead = TEN_YEARS
    call = spend.Call(clock.time() + TEN_YEARS, "p", "m", "test", "", "", 0.9)
    await app.llm.spending.reserve(call)
    assert not await app.llm.spending.allows(0.5)
    jump.ahead = 0.0
    assert await app.llm.spending.allows(0.5)


async def test_a_session_that_ended_ahead_of_now_opens_again_and_is_not_the_latest(
    app: App, project: Project, jump: Clock
) -> None:
    now = clock.time()
    for name, at in (("ahead", now + TEN_YEARS), ("latest", now - 60)):
        jump.ahead = at - now
        await begin_sessions(app, project, at, 1, name)
        async with app.database.write() as tx:
            await sessions.end(tx, f"{name}-0", at, "ended", "exit")
            await tx.execute("UPDATE sessions SET turns = 1")
    jump.ahead = 0.0
    latest = await sessions.latest_other(app.database, project.id, "new")
    assert latest is not None
    assert latest.id == "latest-0"
    assert [one.id for one in await sessions.listing(app.database, None, 9)] == ["latest-0", "ahead-0"]
    await begin_sessions(app, project, now, 1, "ahead")
    reopened = await sessions.get(app.database, "ahead-0")
    assert isinstance(reopened, Session)
    assert (reopened.status, reopened.ended_at) == ("open", None)


async def test_the_record_of_a_job_stays_while_an_entry_is_left(app: App, jump: Clock) -> None:
    """The entry may be that of the job: without its record it would be worked on again."""
    async with app.database.write() as tx:
        await tx.execute(
            "INSERT INTO jobs (name, event, lane, state, created_at, finished_at)"
            " VALUES ('a', 'Stop', 's', 'done', 1, 1)"
        )
    (app.home.spool / "00000000000000000001-1-aa.entry").write_bytes(b"")
    schedule = Schedule(app, Spool(app))
    await schedule.forget_done()
    assert await app.database.rows("SELECT 1 FROM jobs")
    (app.home.spool / "00000000000000000001-1-aa.entry").unlink()
    await schedule.forget_done()
    assert not await app.database.rows("SELECT 1 FROM jobs")
