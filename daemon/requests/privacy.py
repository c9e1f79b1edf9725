"""Requests about what must not be kept: findings, scans, purges."""

from __future__ import annotations

from typing import Any, ClassVar

from subconscious.store import redactions

from .. import purging, redacting
from ..purging import Choice
from .args import Args
from .room import Room


class Privacy(Room):
    """Requests about what must not be kept: findings, scans, purges."""

    personal: ClassVar[frozenset[str]] = frozenset({"purge", "redact_stored", "allow_finding", "disallow_finding"})

    async def cmd_redactions(self, args: Args) -> dict[str, Any]:
        """What was taken out of texts, without itself."""
        await redacting.write_down(self.core)
        return {"findings": await redactions.listing(self.core.database, args.limit)}

    async def cmd_allow_finding(self, args: Args) -> dict[str, Any]:
        """A person lets a finding pass."""
        await redacting.allow(self.core, args.digest, args.reason)
        return {"hash": args.digest, "allowed": True}

    async def cmd_disallow_finding(self, args: Args) -> dict[str, Any]:
        """A person wants it taken out again."""
        await redacting.disallow(self.core, args.digest)
        return {"hash": args.digest, "allowed": False}

    async def cmd_scan(self, args: Args) -> dict[str, Any]:
        """What today's rules find in what is stored; changes nothing."""
        return {"findings": await redacting.scan(self.core, args.limit)}

    async def cmd_redact_stored(self, args: Args) -> dict[str, Any]:
        """A person wants that taken out, for good."""
        del args
        return await redacting.redact_stored(self.core)

    async def cmd_purge_plan(self, args: Args) -> dict[str, Any]:
        """Say what a purge would delete; changes nothing."""
        return purging.counted(await purging.choose(self.core, await self._choice(args)))

    async def cmd_purge(self, args: Args) -> dict[str, Any]:
        """A person wants something gone for good."""
        return await purging.carry_out(self.core, await self._choice(args))

    async def _choice(self, args: Args) -> Choice:
        everything = args.all and args.everywhere
        project = (await self.here(args)).id if args.all and not everything else ""
        return Choice(args.ids, args.session_id or "", project, everything)
