"""What the nightly, weekly and monthly jobs consist of. To add a phase, write its step and a row in ``PHASES``.

A step does a portion and says how to go on; it may be done twice (the daemon may be killed before its place is saved),
so doing it again must change nothing. What a phase did stands in the run's report, by its name.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import time
from typing import Any

from subconscious.errors import UnsoundStoreError
from subconscious.store import (
    backups,
    captures,
    embedding_queue,
    full_text,
    health,
    maintenance,
    memories,
    migrate,
    renderable,
    verification,
)
from subconscious.store.maintenance import Run

from . import consolidating, damage, fading, friction, merging, rendering, retelling
from .core import Core

log = logging.getLogger("subconscious.daemon")

PORTION = 200
SLACK = 0.2
"""Share of empty pages from which the file is written anew."""


@dataclass(frozen=True, slots=True)
class Step:
    """How to go on (None: the phase is over), and what was done."""

    cursor: str | None
    done: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a job; ``work`` does a portion of it, from the run's cursor on ("" at first)."""

    name: str
    work: Callable[[Core, Run], Awaitable[Step]]


async def orphans(core: Core, run: Run) -> Step:
    """Repair what has drifted apart between tables and indexes: one sort after the other."""
    number = int(run.cursor or 0)
    if number == len(health.CHECKS):
        return Step(None, {"prompts dropped": await _drop_prompts(core)})
    check = health.CHECKS[number]
    async with core.database.write() as tx:
        found = await health.mend(tx, check)
    if not found:
        return Step(str(number + 1))
    await core.embedding.refresh(found)
    core.embedding.wake()
    return Step(str(number), {check.name: len(found)})


async def _drop_prompts(core: Core) -> int:
    async with core.database.write() as tx:
        return await health.forget_prompts(tx)


async def integrity(core: Core, run: Run) -> Step:
    """Verify the whole database and its copies; rebuild the full text where it contradicts itself."""
    del run
    async with core.database.write() as tx:
        rebuilt = await health.mend_full_text(tx)
    found = await asyncio.to_thread(damage.verify, core.database.path)
    await damage.note(core.home, core.damage, found)
    for problem in found:
        log.error("the database may be damaged: %s", problem)
    verdict = "; ".join(found) or "ok"
    return Step(None, {"verdict": verdict} | ({"full text": "made anew"} if rebuilt else {}))


async def backup(core: Core, run: Run) -> Step:
    """Keep a copy of this run's day, unless it was made before the run was cut short; let old ones go."""
    known = await asyncio.to_thread(backups.listing, core.database.path)
    if known and int(run.started_at) <= known[0].at <= time() + backups.SKEW:
        return Step(None, {"copy": known[0].path.name})
    return Step(None, await copy(core))


async def copy(core: Core, *, as_is: bool = False) -> dict[str, Any]:
    """Keep a verified copy now, and remove old ones; ``as_is`` accepts what differs from the last copy."""
    schema = await migrate.schema(core.database)
    verify = partial(_problems_of_copy, database=core.database.path, as_is=as_is)
    try:
        made = await asyncio.to_thread(backups.keep_copy, core.database.path, schema, backups.SPARE, verify)
    except UnsoundStoreError as error:
        await damage.note(core.home, core.damage, error.problems)
        raise
    if as_is:
        await damage.note(core.home, core.damage, ())
    chosen = core.settings
    gone = await asyncio.to_thread(backups.rotate, core.database.path, chosen.backups_daily, chosen.backups_weekly)
    return {"copy": made.name, "dropped": len(gone)}


def _problems_of_copy(draft: Path, database: Path, *, as_is: bool) -> list[str]:
    return verification.problems(draft, None if as_is else backups.reference(database))


async def stats(core: Core, run: Run) -> Step:
    """Note how large everything is, so that the log tells how it grows."""
    del run
    counted = await memories.counts(core.database, None)
    told = {"active": counted["active"], "archived": counted["archived"]}
    size = await asyncio.to_thread(core.database.path.stat)
    return Step(None, told | {"waiting": await captures.waiting(core.database), "bytes": size.st_size})


async def optimize(core: Core, run: Run) -> Step:
    """Merge what many small writes have scattered."""
    del run
    async with core.database.write() as tx:
        await maintenance.optimize(tx)
    return Step(None)


async def compact(core: Core, run: Run) -> Step:
    """Write the file anew where much of it is empty."""
    del run
    slack = await maintenance.slack(core.database)
    if slack < SLACK:
        return Step(None)
    await core.database.compact()
    return Step(None, {"freed": f"{slack:.0%}"})


async def reembed(core: Core, run: Run) -> Step:
    """Let what has a vector of an older model alone, or could not be given one, wait for one of today's."""
    del run
    if core.embedding.sense.model:
        from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

        async with core.database.write() as tx:
            await vectors.requeue(tx, core.embedding.sense.model)
    return Step(None, {"pending": await core.embedding.retry()})


async def reindex(core: Core, run: Run) -> Step:
    """Make the full text of every memory anew, then the file of vectors."""
    ids = await maintenance.ids_after(core.database, int(run.cursor or 0), PORTION)
    if not ids:
        if core.embedding.sense.model:
            await core.embedding.rebuild()
        return Step(None)
    async with core.database.write() as tx:
        for memory_id in ids:
            await full_text.reindex(tx, await memories.held(tx, memory_id))
    return Step(str(ids[-1]), {"memories": len(ids)})


async def report(core: Core, run: Run) -> Step:
    """Say how healthy all of it is."""
    del run
    wrong = await asyncio.to_thread(health.drift, core.database.path)
    backlog = await embedding_queue.backlog(core.database)
    verdict = await asyncio.to_thread(health.verdict, core.database.path)
    copies = await asyncio.to_thread(backups.listing, core.database.path)
    return Step(
        None, {"verdict": verdict, "copies": len(copies)} | wrong | {f"embedding {k}": v for k, v in backlog.items()}
    )


async def merge(core: Core, run: Run) -> Step:
    """Merge what was said twice: so many memories a night, each compared once."""
    before, _, after = run.cursor.partition(" ")
    done = await merging.portion(core, int(after or 0))
    so_far = int(before or 0) + done.compared
    over = done.compared == 0 or so_far >= merging.A_NIGHT
    told = {"compared": done.compared, "merged": done.merged}
    return Step(None if over else f"{so_far} {done.last}", {name: count for name, count in told.items() if count})


async def decay(core: Core, run: Run) -> Step:
    """Archive what has faded; a run that dies midway leaves the rest to the next."""
    del run
    done = await fading.daily(core)
    return Step(None, {} if done is None else {"archived": len(done.archived), "left": done.left})


async def clusters(core: Core, run: Run) -> Step:
    """Sum up what says much of the same, a project after the other."""
    if not core.in_force(core.settings).consolidation:
        return Step(None)
    if not run.cursor:
        await consolidating.tidy(core)
    project = await consolidating.following(core, run.cursor)
    if project is None:
        return Step(None)
    done = await consolidating.consolidate(core, project or None)
    told = {"made": len(done.made), "proposed": len(done.proposed), "asked": done.asked, "left": done.left}
    return Step(consolidating.cursor_of(project), {name: count for name, count in told.items() if count})


async def summaries(core: Core, run: Run) -> Step:
    """Tell the sessions that were never read or never told, read on those that grew: one a step."""
    done = await retelling.following(core, run.cursor)
    if done is None:
        return Step(None)
    return Step(done.session_id, {name: 1 for name in ("read", "told") if getattr(done, name)})


async def recurring(core: Core, run: Run) -> Step:
    """Propose as patterns what keeps coming back: one project after the other."""
    number = int(run.cursor or 0)
    projects = await renderable.projects(core.database)
    if number >= len(projects):
        return Step(None)
    made = await friction.propose(core, projects[number])
    return Step(str(number + 1), {"proposed": len(made)} if made else {})


async def render(core: Core, run: Run) -> Step:
    """Render every project anew: what nobody works on gets its date, and its days go by."""
    del run
    return Step(None, {"projects": await rendering.anew(core)})


PHASES: dict[str, tuple[Phase, ...]] = {
    "nightly": (
        Phase("orphans", orphans),
        Phase("integrity", integrity),
        Phase("backup", backup),
        Phase("merge", merge),
        Phase("decay", decay),
        Phase("friction", recurring),
        Phase("render", render),
        Phase("stats", stats),
    ),
    "weekly": (
        Phase("summaries", summaries),
        Phase("optimize", optimize),
        Phase("compact", compact),
        Phase("clusters", clusters),
    ),
    "monthly": (
        Phase("reembed", reembed),
        Phase("reindex", reindex),
        Phase("health", report),
    ),
}
"""The jobs, in the order in which those that are due are done, each with its phases in theirs."""
