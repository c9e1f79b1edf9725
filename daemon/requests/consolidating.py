"""Requests about summing up: what would be, and doing it now."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from subconscious.consolidate import gate, telling

from .. import consolidating
from ..suspicions import noted, of_memories
from .args import Args
from .room import Room


class Consolidating(Room):
    """Requests about summing up: what would be, and doing it now."""

    personal: ClassVar[frozenset[str]] = frozenset({"consolidate"})
    decides_on: ClassVar[str] = "what is summed up"

    async def cmd_clusters(self, args: Args) -> dict[str, Any]:
        """What says much of the same, and how it would be summed up. Changes nothing."""
        project = None if args.everywhere else (await self.here(args)).id
        found = await consolidating.find(self.core, project)
        settings = self.core.in_force(self.core.settings)
        shown = [source for one in found[: args.limit] for source in one.sources]
        suspected = await of_memories(self.core, shown)
        told = []
        for one in found[: args.limit]:
            candidate = telling.draft(one.sources, telling.tell(one.sources), one.cohesion)
            admission = gate.admit(candidate, one.sources, one.cohesion, settings)
            told.append(
                {
                    "memories": [asdict(source) | noted(suspected.get(source.id)) for source in one.sources],
                    "cohesion": one.cohesion,
                    "summary": candidate.summary,
                    "content": candidate.content,
                    "decision": admission.decision.value,
                    "reason": admission.reason,
                }
            )
        return {"clusters": told, "total": len(found), "vectors": self.core.embedding.index is not None}

    async def cmd_consolidate(self, args: Args) -> dict[str, Any]:
        """A person has it summed up now."""
        project = None if args.everywhere else (await self.here(args)).id
        await consolidating.tidy(self.core)
        return asdict(await consolidating.consolidate(self.core, project))
