"""Runs the nightly, weekly and monthly jobs when they are due.

A job is a series of phases (``phases.PHASES``), a phase a series of small steps. The position is saved after each step,
so that the next daemon continues an interrupted run there. A step whose position was not saved is repeated, so steps
are idempotent. The work pauses while the user is active, and takes only a share of the processor's time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic, time
from typing import Any

from subconscious.app import App
from subconscious.store import maintenance
from subconscious.store.maintenance import Run
from subconscious.upkeep.phases import PHASES, Phase, Step

log = logging.getLogger("subconscious.upkeep")

CHECK_SECONDS = 30.0
"""Seconds between two checks for due jobs."""

QUIET_CHECK_SECONDS = 1.0
"""Seconds between two checks of whether the user has become idle."""

MAX_PAUSE_SECONDS = 5.0
"""The maximum pause between two steps, in seconds."""


async def run(app: App) -> None:
    """Run due jobs until the daemon stops."""
    while not app.signals.stopping.is_set():
        await run_due_jobs(app)
        await _wait(app, CHECK_SECONDS)


async def run_due_jobs(app: App) -> int:
    """Run interrupted and due jobs while the user is not active; return how many were run."""
    done = 0
    for job in await waiting(app):
        if app.signals.stopping.is_set():
            break
        done += await run_if_due(app, job) is not None
    return done


async def waiting(app: App) -> list[str]:
    """Return the jobs that were interrupted, or that have become due since their last start."""
    if not app.settings.maintenance:
        return []
    begun = await maintenance.unfinished(app.database)
    now = time()
    due = [
        job
        for job in PHASES
        if job not in begun
        and await maintenance.last_begun(app.database, job) < due_since(job, now, app.settings.maintenance_hour)
    ]
    return [job for job in PHASES if job in begun or job in due]


def due_since(job: str, now: float, hour: int) -> float:
    """Return the latest time at which a job became due: at ``hour`` local time, daily, on Sundays or on the first."""
    local = datetime.fromtimestamp(now).astimezone()
    at = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if job == "monthly":
        at = at.replace(day=1)
        if at > local:
            at = (at - timedelta(days=1)).replace(day=1)
    elif job == "weekly":
        at -= timedelta(days=(at.weekday() + 1) % 7)
        if at > local:
            at -= timedelta(days=7)
    elif at > local:
        at -= timedelta(days=1)
    return at.timestamp()


async def run_if_due(app: App, job: str) -> Run | None:
    """Run a due job, or continue an interrupted one; return None if it was run in the meantime."""
    async with app.signals.maintaining:
        return await _run_job(app, job) if job in await waiting(app) else None


async def run_now(app: App, job: str) -> Run:
    """Run a job now, due or not, without pauses, because a user waits for it."""
    app.signals.hurrying += 1
    try:
        async with app.signals.maintaining:
            return await _run_job(app, job)
    finally:
        app.signals.hurrying -= 1


async def _run_job(app: App, job: str) -> Run:
    async with app.database.write() as tx:
        current = await maintenance.begin(tx, job, PHASES[job][0].name)
    names = [phase.name for phase in PHASES[job]]
    for phase in PHASES[job][names.index(current.phase) if current.phase in names else 0 :]:
        cursor = current.cursor if phase.name == current.phase else ""
        current = await _run_phase(app, replace(current, phase=phase.name, cursor=cursor), phase)
    log.info("%s maintenance done: %s", job, summary(current))
    return current


async def _run_phase(app: App, current: Run, phase: Phase) -> Run:
    """Run a phase step by step."""
    while True:
        await _wait_for_quiet(app)
        began = monotonic()
        step = await _step(app, current, phase)
        current = replace(
            current, cursor=step.cursor or "", report=_merged_report(current.report, phase.name, step.done)
        )
        if step.cursor is None:
            return await _finish_phase(app, current)
        async with app.database.write() as tx:
            await maintenance.advance(tx, current)
        if not app.signals.hurrying:
            rest = (monotonic() - began) * (1 / app.settings.maintenance_share - 1)
            await _wait(app, min(MAX_PAUSE_SECONDS, rest))


async def _step(app: App, current: Run, phase: Phase) -> Step:
    try:
        return await phase.work(app, current)
    except Exception as error:
        # An error in one phase must not stop the other phases or the daemon.
        log.exception("maintenance: %s failed", phase.name)
        return Step(None, {"failed": getattr(error, "message", str(error))})


async def _finish_phase(app: App, current: Run) -> Run:
    """Save the start of the next phase as the run's position; after the last phase, finish the run."""
    names = [each.name for each in PHASES[current.job]]
    following = names[names.index(current.phase) + 1 :]
    saved = replace(current, phase=following[0], cursor="") if following else replace(current, cursor="")
    async with app.database.write() as tx:
        await maintenance.advance(tx, saved)
        return saved if following else await maintenance.finish(tx, saved)


def _merged_report(report: dict[str, dict[str, Any]], name: str, done: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the report with the results of a further step: numbers are added, texts replaced."""
    before = report.get(name, {})
    sums = {
        key: value + before[key] if isinstance(value, int) and isinstance(before.get(key), int) else value
        for key, value in done.items()
    }
    return report | {name: before | sums}


async def _wait_for_quiet(app: App) -> None:
    """Wait until no session has been active for a while, because sessions take priority."""
    quiet = app.settings.maintenance_quiet_seconds
    # A negative time means that the clock was set back; do not wait for the old time.
    while (
        not app.signals.stopping.is_set()
        and not app.signals.hurrying
        and 0 <= (idle := time() - app.signals.last_heard) < quiet
    ):
        await _wait(app, min(quiet - idle, QUIET_CHECK_SECONDS))
    if app.signals.stopping.is_set():
        raise asyncio.CancelledError  # the daemon is about to stop; the next one continues the run


async def _wait(app: App, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(app.signals.stopping.wait(), seconds)


def summary(current: Run) -> str:
    """Return the results of a run in one line."""
    parts = []
    for name, done in current.report.items():
        values = ", ".join(f"{key} {value}" for key, value in done.items() if value)
        parts.append(f"{name}: {values}" if values else name)
    return "; ".join(parts) or "nothing to do"
