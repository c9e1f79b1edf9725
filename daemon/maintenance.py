"""The nightly, weekly and monthly jobs: when they are due, and how they are carried out (SPEC D12, D19).

A job is a row of phases (``phases.PHASES``), a phase a row of small steps. After each step the place is saved, so that a
run that is cut short, by whatever end, is taken up there by the next daemon; a step that was done and not saved is done
again, and is made such that nothing comes of it. Work pauses while somebody speaks to us, and takes but a share of the
processor's time.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic, time
from typing import Any

from subconscious.errors import SubconsciousError
from subconscious.store import maintenance
from subconscious.store.maintenance import Run

from .core import Core
from .phases import PHASES, Phase, Step

log = logging.getLogger("subconscious.daemon")

LOOK_SECONDS = 30.0
"""Pause between two looks at what is due."""

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
        await carry_out(core, job)
        done += 1
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


async def carry_out(core: Core, job: str, *, hurried: bool = False) -> Run:
    """Begin a job, or go on where it was cut short. ``hurried``: somebody asked for it, and waits."""
    async with core.maintaining:
        async with core.database.write() as tx:
            doing = await maintenance.begin(tx, job)
        names = [phase.name for phase in PHASES[job]]
        for phase in PHASES[job][names.index(doing.phase) if doing.phase in names else 0 :]:
            cursor = doing.cursor if phase.name == doing.phase else ""
            doing = await _work_off(core, replace(doing, phase=phase.name, cursor=cursor), phase, hurried=hurried)
        async with core.database.write() as tx:
            await maintenance.finish(tx, doing)
        log.info("%s maintenance done: %s", job, told(doing))
        return replace(doing, state="done", finished_at=time())


async def _work_off(core: Core, doing: Run, phase: Phase, *, hurried: bool) -> Run:
    """Carry one phase out, step by step. One that fails leaves its reason, and the others their turn."""
    while True:
        if not hurried:
            await _calm(core)
        began = monotonic()
        try:
            step = await phase.work(core, doing)
        except (SubconsciousError, sqlite3.Error, OSError) as error:
            log.exception("maintenance: %s failed", phase.name)
            step = Step(None, {"failed": getattr(error, "message", str(error))})
        doing = replace(doing, cursor=step.cursor or "", report=_added(doing.report, phase.name, step.done))
        over = step.cursor is None
        saved = replace(doing, **_behind(doing, phase)) if over else doing
        async with core.database.write() as tx:
            await maintenance.advance(tx, saved)
        if over:
            return saved
        if not hurried:
            share = core.settings.maintenance_share
            await _stopping_within(core, min(LONGEST_PAUSE, (monotonic() - began) * (1 / share - 1)))


def _behind(doing: Run, phase: Phase) -> dict[str, str]:
    """Where a run is when a phase is over: at the next one's beginning, or past them all."""
    names = [each.name for each in PHASES[doing.job]]
    following = names[names.index(phase.name) + 1 :]
    return {"phase": following[0] if following else phase.name, "cursor": "" if following else DONE}


DONE = "done"
"""The cursor of a last phase that is over: a run that was cut short right then has nothing left to do but to end."""


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
    while not core.stopping.is_set() and (left := core.last_heard + quiet - time()) > 0:
        await _stopping_within(core, left)
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
