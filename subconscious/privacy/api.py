"""Requests about data that must not be stored: findings, scans, purges."""

from __future__ import annotations

from typing import ClassVar

from subconscious.app.request import Handler
from subconscious.context.arguments import Args
from subconscious.privacy import purge, redacting
from subconscious.privacy.purge import Choice
from subconscious.redaction.active_policy import record_findings
from subconscious.store import redactions
from subconscious.wire import privacy as wire


class Privacy(Handler):
    """Requests about data that must not be stored: findings, scans, purges."""

    personal: ClassVar[frozenset[str]] = frozenset({"purge", "redact_stored", "allow_finding", "disallow_finding"})

    async def cmd_redactions(self, args: Args) -> wire.RedactionsResult:
        """Return the log of redactions: the rule, length and hash of each redacted value, not the value."""
        await record_findings(self.app.database, self.app.settings.redaction_log)
        return {"findings": await redactions.listing(self.app.database, args.limit)}

    async def cmd_allow_finding(self, args: Args) -> wire.AllowResult:
        """Exclude a value, identified by its hash, from redaction; for a person only."""
        await redacting.allow(self.app, args.digest, args.reason)
        return {"hash": args.digest, "allowed": True}

    async def cmd_disallow_finding(self, args: Args) -> wire.AllowResult:
        """End the exclusion of a value by ``allow_finding``, so that it is redacted again; for a person only."""
        await redacting.disallow(self.app, args.digest)
        return {"hash": args.digest, "allowed": False}

    async def cmd_scan(self, args: Args) -> wire.ScanResult:
        """Return where, and by which rule, stored data would be redacted now; without the values. Read-only."""
        return {"findings": await redacting.scan(self.app, args.limit)}

    async def cmd_redact_stored(self, args: Args) -> wire.RedactStoredResult:
        """Permanently redact, in stored data, the values that ``cmd_scan`` finds; for a person only."""
        del args
        return await redacting.redact_stored(self.app)

    async def cmd_purge_plan(self, args: Args) -> wire.PurgePlanResult:
        """Return how many rows a purge would delete. Read-only."""
        return await purge.counted(self.app, await purge.choose(self.app, await self._choice(args)))

    async def cmd_purge(self, args: Args) -> wire.PurgeResult:
        """Delete data permanently; for a person only."""
        return await purge.carry_out(self.app, await self._choice(args))

    async def _choice(self, args: Args) -> Choice:
        everything = args.all and args.everywhere
        project = (await self.here(args)).id if args.all and not everything else ""
        return Choice(args.ids, args.session_id or "", project, everything)
