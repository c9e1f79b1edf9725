"""Requests for maintenance, backups and repairs."""

from __future__ import annotations

import asyncio
from time import time
from typing import Literal

from subconscious.app.request import Handler
from subconscious.context import bulk_limit
from subconscious.context.arguments import Args
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Origin
from subconscious.store import backups, health, maintenance
from subconscious.supersession import nightly_merging
from subconscious.upkeep import phases
from subconscious.upkeep.maintenance import due_since, run_now, summary, waiting
from subconscious.wire import upkeep as wire
from subconscious.wire.fields import fields_of
from subconscious.wire.memories import memory_fields

DAY = 86_400.0


class UpkeepArgs(Args):
    """``job`` is the maintenance job to run; ``as_is`` skips the comparison with the last copy."""

    job: Literal["nightly", "weekly", "monthly"] = "nightly"
    as_is: bool = False


class Upkeep(Handler):
    """Requests for maintenance, backups and repairs."""

    arguments = UpkeepArgs

    async def cmd_maintenance_run(self, args: UpkeepArgs) -> wire.RunResult:
        """Run a job now, without waiting for an idle moment, and even if it would change unusually many rows."""
        if args.origin is not Origin.USER:  # a job archives and summarizes memories, which needs a person
            raise RequestError(
                "only a person may run maintenance, not the assistant", "maintenance runs automatically every night"
            )
        await bulk_limit.allow(self.app.database)
        return {"run": _run_fields(await run_now(self.app, args.job))}

    async def cmd_repeats(self, args: UpkeepArgs) -> wire.RepeatsResult:
        """Return the duplicates that the next nightly run would merge, each with the memory that stays. Read-only."""
        project = None if args.everywhere else (await self.here(args)).id
        found = await nightly_merging.preview(self.app, project, args.limit)
        return {
            "pairs": [
                {"gone": memory_fields(one.gone), "stays": memory_fields(one.stays), "cosine": one.cosine}
                for one in found
            ]
        }

    async def cmd_maintenance_log(self, args: UpkeepArgs) -> wire.RunsResult:
        """Return the latest runs, with a summary of each."""
        runs = await maintenance.listing(self.app.database, args.limit)
        return {"runs": [_run_fields(run) for run in runs]}

    async def cmd_maintenance_status(self, args: UpkeepArgs) -> wire.MaintenanceStatusResult:
        """Return each job with its phases, its last run, and whether it is waiting to run."""
        del args
        database, hour = self.app.database, self.app.settings.maintenance_hour
        due = await waiting(self.app)
        ends = {run.job: run for run in reversed(await maintenance.listing(database, maintenance.KEPT))}
        jobs: list[wire.Job] = [
            {
                "job": job,
                "phases": [phase.name for phase in parts],
                "due_since": due_since(job, time(), hour),
                "waits": job in due,
                "last": _run_fields(ends[job]) if job in ends else None,
            }
            for job, parts in phases.PHASES.items()
        ]
        return {"on": self.app.settings.maintenance, "jobs": jobs}

    async def cmd_backup(self, args: UpkeepArgs) -> wire.BackupResult:
        """Make a verified copy of the database; return all copies. ``as_is`` skips comparing it with the last copy."""
        if args.as_is and args.origin is not Origin.USER:
            raise RequestError(
                "only a person may accept (--as-is) a database that differs unexpectedly from its last copy",
                "if the differences are intended, run `subconscious backup --as-is` in your own terminal",
            )
        made = await phases.copy(self.app, as_is=args.as_is)
        copies = await asyncio.to_thread(backups.listing, self.app.database.path)
        return {**made, "copies": [{"name": c.path.name, "at": c.at, "schema": c.schema} for c in copies]}

    async def cmd_mend(self, args: UpkeepArgs) -> wire.MendResult:
        """Repair derived data that does not match its source."""
        del args
        app = self.app
        wrong = await asyncio.to_thread(health.count_inconsistencies, app.database.path)
        async with app.database.write() as tx:
            repaired = {"full-text index rebuilt": int(await health.repair_full_text(tx))}
            for check in health.CHECKS:
                while found := await health.repair(tx, check):
                    repaired[check.name] = repaired.get(check.name, 0) + len(found)
        if wrong and app.embedding.current.model:
            await app.embedding.rebuild()
        app.embedding.wake()
        return {"mended": {name: wrong.get(name, count) for name, count in (wrong | repaired).items() if count}}


def _run_fields(run: maintenance.Run) -> wire.Run:
    return fields_of(wire.Run, run, told=summary(run))
