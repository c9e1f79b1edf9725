"""Requests about the store's upkeep: maintenance, copies, repairs."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from time import time
from typing import Any, Literal

from subconscious.errors import RequestError
from subconscious.model import Origin
from subconscious.store import backups, health, maintenance

from .. import bulk_upkeep, merging, phases
from ..maintenance import carry_out_now, due_since, told, waiting
from .args import Args
from .room import Room

DAY = 86_400.0


class UpkeepArgs(Args):
    """``job`` is the maintenance that is meant."""

    job: Literal["nightly", "weekly", "monthly"] = "nightly"
    as_is: bool = False


class Upkeep(Room):
    """Requests about the store's upkeep: maintenance, copies, repairs."""

    arguments = UpkeepArgs

    async def cmd_maintenance_run(self, args: UpkeepArgs) -> dict[str, Any]:
        """Carry a job out now, without regard for who works here."""
        if args.origin is not Origin.USER:  # it archives and sums up, which a person decides on
            raise RequestError("a person has upkeep done, not the assistant", "it is done by itself every night")
        await bulk_upkeep.allow(self.core)
        done = await carry_out_now(self.core, args.job)
        return {"run": asdict(done) | {"told": told(done)}}

    async def cmd_repeats(self, args: UpkeepArgs) -> dict[str, Any]:
        """What the next night would merge, and into what. Changes nothing."""
        project = None if args.everywhere else (await self.here(args)).id
        found = await merging.preview(self.core, project, args.limit)
        return {
            "pairs": [{"gone": asdict(one.gone), "stays": asdict(one.stays), "cosine": one.cosine} for one in found]
        }

    async def cmd_maintenance_log(self, args: UpkeepArgs) -> dict[str, Any]:
        """What the latest runs did."""
        runs = await maintenance.listing(self.core.database, args.limit)
        return {"runs": [asdict(run) | {"told": told(run)} for run in runs]}

    async def cmd_maintenance_status(self, args: UpkeepArgs) -> dict[str, Any]:
        """When each job was begun last, which wait, and what each consists of."""
        del args
        database, hour = self.core.database, self.core.settings.maintenance_hour
        due = await waiting(self.core)
        ends = {run.job: run for run in reversed(await maintenance.listing(database, maintenance.KEPT))}
        jobs = [
            {
                "job": job,
                "phases": [phase.name for phase in parts],
                "due_since": due_since(job, time(), hour),
                "waits": job in due,
                "last": asdict(ends[job]) | {"told": told(ends[job])} if job in ends else None,
            }
            for job, parts in phases.PHASES.items()
        ]
        return {"on": self.core.settings.maintenance, "jobs": jobs}

    async def cmd_backup(self, args: UpkeepArgs) -> dict[str, Any]:
        """Keep a verified copy now; say which there are. ``as_is`` is a person's word that the database is right."""
        if args.as_is and args.origin is not Origin.USER:
            raise RequestError("a person decides that the database is right as it is", "subconscious backup --as-is")
        made = await phases.copy(self.core, as_is=args.as_is)
        copies = await asyncio.to_thread(backups.listing, self.core.database.path)
        return made | {"copies": [{"name": c.path.name, "at": c.at, "schema": c.schema} for c in copies]}

    async def cmd_mend(self, args: UpkeepArgs) -> dict[str, Any]:
        """Repair whatever is derived and has drifted from what it is derived from."""
        del args
        core = self.core
        wrong = await asyncio.to_thread(health.drift, core.database.path)
        async with core.database.write() as tx:
            mended = {"full text made anew": int(await health.mend_full_text(tx))}
            for check in health.CHECKS:
                while found := await health.mend(tx, check):
                    mended[check.name] = mended.get(check.name, 0) + len(found)
        if wrong and core.embedding.sense.model:
            await core.embedding.rebuild()
        core.embedding.wake()
        return {"mended": {name: wrong.get(name, count) for name, count in (wrong | mended).items() if count}}
