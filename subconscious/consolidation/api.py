"""Requests about consolidation: preview it, run it."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from subconscious.app.request import Handler
from subconscious.consolidation import consolidating, gate, summary_text
from subconscious.context.arguments import Args
from subconscious.poisoning.gate import apply_verdict, screen
from subconscious.poisoning.suspicions import noted, of_verdict, with_suspicions
from subconscious.wire.fields import fields_of
from subconscious.wire.upkeep import Cluster, ClustersResult, ConsolidateResult


class Consolidating(Handler):
    """Requests about consolidation: preview it, run it."""

    personal: ClassVar[frozenset[str]] = frozenset({"consolidate"})
    decides: ClassVar[str] = "what is summarized"

    async def cmd_clusters(self, args: Args) -> ClustersResult:
        """Return the groups that would be summarized, and their summaries. Read-only."""
        project = None if args.everywhere else (await self.here(args)).id
        found = await consolidating.find(self.app, project)
        settings = self.app.config.current
        clusters: list[Cluster] = []
        for one in found[: args.limit]:
            candidate = summary_text.draft(one.sources, summary_text.compose(one.sources), one.cohesion)
            admission = gate.admit(candidate, one.sources, one.cohesion, settings)
            if settings.poisoning:  # the same check as when the summary is stored
                admission = apply_verdict(admission, await asyncio.to_thread(screen, candidate))
            clusters.append(
                {
                    "memories": await with_suspicions(self.app.database, one.sources),
                    "cohesion": one.cohesion,
                    "summary": candidate.summary,
                    "content": candidate.content,
                    "decision": admission.decision.value,
                    "reason": admission.reason,
                    **noted(of_verdict(admission.verdict)),
                }
            )
        return {"clusters": clusters, "total": len(found), "vectors": self.app.embedding.index is not None}

    async def cmd_consolidate(self, args: Args) -> ConsolidateResult:
        """Run consolidation now; only a person may request this."""
        project = None if args.everywhere else (await self.here(args)).id
        await consolidating.tidy(self.app)
        return fields_of(ConsolidateResult, await consolidating.consolidate(self.app, project))
