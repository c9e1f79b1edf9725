"""The phases of the nightly, weekly and monthly jobs. To add a phase, write its step and a row in ``PHASES``.

A step does a part of the work and returns where to continue. It must be idempotent, because it is repeated if the
daemon is killed before the position is saved. The run's report has the results of each phase, by its name.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import time
from typing import Any

from subconscious.app import App
from subconscious.capture import resummarize
from subconscious.consolidation import consolidating
from subconscious.context import damage
from subconscious.domain.errors import UnsoundStoreError
from subconscious.knowledge import friction, rendering
from subconscious.memories import fading
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
from subconscious.supersession import nightly_merging
from subconscious.wire.upkeep import MadeCopy

log = logging.getLogger("subconscious.upkeep")

BATCH_SIZE = 200
COMPACT_SHARE = 0.2
"""The database file is compacted if at least this share (0 to 1) of its pages is empty."""


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one step: where to continue (None: the phase is over), and what was done."""

    cursor: str | None
    done: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a job; ``work`` does one step, beginning at the run's cursor ("" at first)."""

    name: str
    work: Callable[[App, Run], Awaitable[Step]]


async def orphans(app: App, run: Run) -> Step:
    """Repair inconsistencies between tables and indexes, one check per step; finally, delete old prompts."""
    number = int(run.cursor or 0)
    if number == len(health.CHECKS):
        return Step(None, {"prompts dropped": await _drop_prompts(app)})
    check = health.CHECKS[number]
    async with app.database.write() as tx:
        found = await health.repair(tx, check)
    if not found:
        return Step(str(number + 1))
    await app.embedding.refresh(found)
    app.embedding.wake()
    return Step(str(number), {check.name: len(found)})


async def _drop_prompts(app: App) -> int:
    async with app.database.write() as tx:
        return await health.delete_old_prompts(tx)


async def integrity(app: App, run: Run) -> Step:
    """Verify the database and its copies; rebuild the full-text index if it is inconsistent."""
    del run
    async with app.database.write() as tx:
        rebuilt = await health.repair_full_text(tx)
    found = await asyncio.to_thread(damage.verify, app.database.path)
    await damage.note(app.home, app.damage, found)
    for problem in found:
        log.error("the database may be damaged: %s", problem)
    verdict = "; ".join(found) or "ok"
    return Step(None, {"verdict": verdict} | ({"full text": "rebuilt"} if rebuilt else {}))


async def backup(app: App, run: Run) -> Step:
    """Make a copy, unless this run made one before it was interrupted; remove old copies."""
    known = await asyncio.to_thread(backups.listing, app.database.path)
    if known and int(run.started_at) <= known[0].at <= time() + backups.SKEW:
        return Step(None, {"copy": known[0].path.name})
    return Step(None, await copy(app))


async def copy(app: App, *, as_is: bool = False) -> MadeCopy:
    """Make a verified copy of the database now; remove old copies. ``as_is`` accepts differences from the last copy."""
    schema = await migrate.schema(app.database)
    verify = partial(_problems_of_copy, database=app.database.path, as_is=as_is)
    try:
        made = await asyncio.to_thread(backups.create_copy, app.database.path, schema, backups.SPARE, verify)
    except UnsoundStoreError as error:
        await damage.note(app.home, app.damage, error.problems)
        raise
    if as_is:
        await damage.note(app.home, app.damage, ())
    settings = app.settings
    removed = await asyncio.to_thread(
        backups.rotate, app.database.path, settings.backups_daily, settings.backups_weekly
    )
    return {"copy": made.name, "dropped": len(removed)}


def _problems_of_copy(draft: Path, database: Path, *, as_is: bool) -> list[str]:
    return verification.problems(draft, None if as_is else backups.comparison_copy(database))


async def stats(app: App, run: Run) -> Step:
    """Report how many memories and waiting captures there are, and the size of the database, for the log."""
    del run
    counted = await memories.counts(app.database, None)
    counts = {"active": counted["active"], "archived": counted["archived"]}
    size = await asyncio.to_thread(app.database.path.stat)
    return Step(None, counts | {"waiting": await captures.waiting(app.database), "bytes": size.st_size})


async def optimize(app: App, run: Run) -> Step:
    """Optimize the indexes after many small writes."""
    del run
    async with app.database.write() as tx:
        await maintenance.optimize(tx)
    return Step(None)


async def compact(app: App, run: Run) -> Step:
    """Compact the database file if much of it is empty."""
    del run
    slack = await maintenance.slack(app.database)
    if slack < COMPACT_SHARE:
        return Step(None)
    await app.database.compact()
    return Step(None, {"freed": f"{slack:.0%}"})


async def reembed(app: App, run: Run) -> Step:
    """Queue memories for embedding if they have only an older model's vector, or if their embedding failed."""
    del run
    if app.embedding.current.model:
        from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

        async with app.database.write() as tx:
            await vectors.requeue(tx, app.embedding.current.model)
    return Step(None, {"pending": await app.embedding.retry()})


async def reindex(app: App, run: Run) -> Step:
    """Rebuild the full-text index of all memories, then the file of vectors."""
    ids = await maintenance.ids_after(app.database, int(run.cursor or 0), BATCH_SIZE)
    if not ids:
        if app.embedding.current.model:
            await app.embedding.rebuild()
        return Step(None)
    async with app.database.write() as tx:
        for memory_id in ids:
            await full_text.reindex(tx, await memories.require(tx, memory_id))
    return Step(str(ids[-1]), {"memories": len(ids)})


async def report(app: App, run: Run) -> Step:
    """Report the state of database, indexes, embeddings and copies."""
    del run
    wrong = await asyncio.to_thread(health.count_inconsistencies, app.database.path)
    backlog = await embedding_queue.counts(app.database)
    verdict = await asyncio.to_thread(health.verdict, app.database.path)
    copies = await asyncio.to_thread(backups.listing, app.database.path)
    return Step(
        None, {"verdict": verdict, "copies": len(copies)} | wrong | {f"embedding {k}": v for k, v in backlog.items()}
    )


async def merge(app: App, run: Run) -> Step:
    """Merge duplicates: a limited number of memories per night, each compared once."""
    before, _, after = run.cursor.partition(" ")
    done = await nightly_merging.portion(app, int(after or 0))
    so_far = int(before or 0) + done.compared
    over = done.compared == 0 or so_far >= nightly_merging.A_NIGHT
    counts = {"compared": done.compared, "merged": done.merged}
    return Step(None if over else f"{so_far} {done.last}", {name: count for name, count in counts.items() if count})


async def decay(app: App, run: Run) -> Step:
    """Archive faded memories, if that is switched on; after an interruption, the next run archives the rest."""
    del run
    done = await fading.daily(app)
    return Step(None, {} if done is None else {"archived": len(done.archived), "left": done.left})


async def clusters(app: App, run: Run) -> Step:
    """Summarize groups of similar memories, one project per step."""
    if not app.config.current.consolidation:
        return Step(None)
    if not run.cursor:
        await consolidating.tidy(app)
    project = await consolidating.following(app, run.cursor)
    if project is None:
        return Step(None)
    done = await consolidating.consolidate(app, project or None)
    counts = {"made": len(done.made), "proposed": len(done.proposed), "asked": done.asked, "left": done.left}
    return Step(consolidating.cursor_of(project), {name: count for name, count in counts.items() if count})


async def summaries(app: App, run: Run) -> Step:
    """Read and summarize sessions that have not been read to their end yet, one session per step."""
    done = await resummarize.following(app, run.cursor)
    if done is None:
        return Step(None)
    return Step(done.session_id, {name: 1 for name in ("read", "told") if getattr(done, name)})


async def recurring(app: App, run: Run) -> Step:
    """Propose problems that recur across sessions as patterns, one project per step."""
    number = int(run.cursor or 0)
    projects = await renderable.projects(app.database)
    if number >= len(projects):
        return Step(None)
    made = await friction.propose(app, projects[number])
    return Step(str(number + 1), {"proposed": len(made)} if made else {})


async def render(app: App, run: Run) -> Step:
    """Render the files of all projects: in projects without activity, dates and decay change as well."""
    del run
    return Step(None, {"projects": await rendering.render_everything(app)})


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
"""The jobs and their phases, both in the order in which they are run."""
