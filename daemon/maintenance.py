"""The nightly, weekly and monthly jobs: when they are due, and how they are carried out.

A job is a row of phases (``phases.PHASES``), a phase a row of small steps. After each step the place is saved, so that
a run that is cut short, by whatever end, is taken up there by the next daemon; a step that was done and not saved is
done again, and is made such that nothing comes of it. Work pauses while somebody speaks to us, and takes but a share
of the processor's time.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic, time
from typing import Any

from subconscious.store import maintenance
from subconscious.store.maintenance import Run

from .core import Core
from .phases import PHASES, Phase, Step

log = logging.getLogger("subconscious.daemon")

LOOK_SECONDS = 30.0
"""Pause between two looks at what is due."""

LONGEST_CALM = 1.0
"""Seconds after which it is looked at whether somebody waits for the job."""

LONGEST_PAUSE = 5.0
"""Seconds between two steps at the most."""


async def run(core: Core) -> None:
    """See to it that what is due is done, until the daemon stops."""
    while not core.stopping.is_set():
        await catch_up(core)
        await _stopping_within(core, LOOK_SECONDS)


async def catch_up(core: Core) -> int:
    """Carry out what was cut short, and what is due, while nobody is at work; how many jobs that were."""
    done = 0
    for job in await waiting(core):
        if core.stopping.is_set():
            break
        done += await carry_out(core, job) is not None
    return done


async def waiting(core: Core) -> list[str]:
    """The jobs that were cut short, or whose time has come since they were begun last."""
    if not core.settings.maintenance:
        return []
    begun = await maintenance.unfinished(core.database)
    now = time()
    due = [
        job
        for job in PHASES
        if job not in begun
        and await maintenance.last_begun(core.database, job) < due_since(job, now, core.settings.maintenance_hour)
    ]
    return [job for job in PHASES if job in begun or job in due]


def due_since(job: str, now: float, hour: int) -> float:
    """When a job's time was last: at that hour of a day, of a Sunday, of the first of a month, as clocks are here."""
    there = datetime.fromtimestamp(now).astimezone()
    at = there.replace(hour=hour, minute=0, second=0, microsecond=0)
    if job == "monthly":
        at = at.replace(day=1)
        if at > there:
            at = (at - timedelta(days=1)).replace(day=1)
    elif job == "weekly":
        at -= timedelta(days=(at.weekday() + 1) % 7)
        if at > there:
            at -= timedelta(days=7)
    elif at > there:
        at -= timedelta(days=1)
    return at.timestamp()


async def carry_out(core: Core, job: str) -> Run | None:
    """Begin a job that is due, or go on where it was cut short; None where another did it meanwhile."""
    async with core.maintaining:
        return await _carry_out(core, job) if job in await waiting(core) else None


async def carry_out_now(core: Core, job: str) -> Run:
    """Carry a job out, due or not, for somebody who waits for it; as fast as can be."""
    core.hurrying += 1
    try:
        async with core.maintaining:
            return await _carry_out(core, job)
    finally:
        core.hurrying -= 1


async def _carry_out(core: Core, job: str) -> Run:
    async with core.database.write() as tx:
        doing = await maintenance.begin(tx, job, PHASES[job][0].name)
    names = [phase.name for phase in PHASES[job]]
    for phase in PHASES[job][names.index(doing.phase) if doing.phase in names else 0 :]:
        cursor = doing.cursor if phase.name == doing.phase else ""
        doing = await _work_off(core, replace(doing, phase=phase.name, cursor=cursor), phase)
    log.info("%s maintenance done: %s", job, told(doing))
    return doing


async def _work_off(core: Core, doing: Run, phase: Phase) -> Run:
    """Carry one phase out, step by step."""
    while True:
        await _calm(core)
        began = monotonic()
        step = await _step(core, doing, phase)
        doing = replace(doing, cursor=step.cursor or "", report=_added(doing.report, phase.name, step.done))
        if step.cursor is None:
            return await _over(core, doing)
        async with core.database.write() as tx:
            await maintenance.advance(tx, doing)
        if not core.hurrying:
            rest = (monotonic() - began) * (1 / core.settings.maintenance_share - 1)
            await _stopping_within(core, min(LONGEST_PAUSE, rest))


async def _step(core: Core, doing: Run, phase: Phase) -> Step:
    try:
        return await phase.work(core, doing)
    except Exception as error:
        # No error in one phase may stop the other phases or the daemon.
        log.exception("maintenance: %s failed", phase.name)
        return Step(None, {"failed": getattr(error, "message", str(error))})


async def _over(core: Core, doing: Run) -> Run:
    """A phase is over: the next one's beginning is the place to go on from, or the run is over too."""
    names = [each.name for each in PHASES[doing.job]]
    following = names[names.index(doing.phase) + 1 :]
    saved = replace(doing, phase=following[0], cursor="") if following else replace(doing, cursor="")
    async with core.database.write() as tx:
        await maintenance.advance(tx, saved)
        return saved if following else await maintenance.finish(tx, saved)


def _added(report: dict[str, dict[str, Any]], name: str, done: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A report with what a further step did: numbers add up, words replace those of before."""
    before = report.get(name, {})
    sums = {
        key: value + before[key] if isinstance(value, int) and isinstance(before.get(key), int) else value
        for key, value in done.items()
    }
    return report | {name: before | sums}


async def _calm(core: Core) -> None:
    """Wait until nobody has spoken to us for a while: a person who types comes first."""
    quiet = core.settings.maintenance_quiet_seconds
    # A clock that was set back since must not make it wait until that time has come again.
    while not core.stopping.is_set() and not core.hurrying and 0 <= (silent := time() - core.last_heard) < quiet:
        await _stopping_within(core, min(quiet - silent, LONGEST_CALM))
    if core.stopping.is_set():
        raise asyncio.CancelledError  # broken off as if by the daemon's end, which is near; the next one goes on


async def _stopping_within(core: Core, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(core.stopping.wait(), seconds)


def told(doing: Run) -> str:
    """What a run did, in one line."""
    parts = []
    for name, done in doing.report.items():
        said = ", ".join(f"{key} {value}" for key, value in done.items() if value)
        parts.append(f"{name}: {said}" if said else name)
    return "; ".join(parts) or "nothing to do"
