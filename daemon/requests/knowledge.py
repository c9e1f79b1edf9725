"""Requests about what a project knows: how memories stand, what is rendered, what keeps coming back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from time import time
from typing import Any, ClassVar, Literal

from subconscious import rendering
from subconscious.errors import RequestError
from subconscious.model import Origin
from subconscious.promote import FLAGGED, OBSERVED, PROMOTED
from subconscious.standings import standings
from subconscious.store import renderable, sessions
from subconscious.store.projects import Project

from .. import friction
from .. import rendering as rendered
from .args import Args
from .room import Room

Mode = Literal["summarize", "tag", "patterns", "synthesize"]
RECENT = 86_400.0
"""Seconds within which a session is what somebody most likely asks about."""


class KnowledgeArgs(Args):
    """``mode`` is what `memory` shall do; left out, it follows from what there is."""

    mode: Mode | None = None


class Knowledge(Room):
    """Requests about what a project knows: how memories stand, what is rendered, what keeps coming back."""

    arguments: ClassVar[type[Args]] = KnowledgeArgs

    async def cmd_standings(self, args: KnowledgeArgs) -> dict[str, Any]:
        """How a project's memories stand, the best first; what is flagged is not among them. Changes nothing."""
        project = await self.here(args)
        found = await renderable.memories(self.core.database, project.id, rendered.LOOKED_AT)
        known = await standings(self.core.database, found, self.core.mind().settings)
        sound = [memory for memory in found if known[memory.id].status != FLAGGED]
        ranked = sorted(sound, key=lambda memory: (-known[memory.id].score, -memory.said_at))
        return {
            "memories": [
                asdict(memory) | {"standing": asdict(known[memory.id])}
                for memory in ranked[args.offset :][: args.limit]
            ],
            "counts": Counter(one.status for one in known.values()),
        }

    async def cmd_pull(self, args: KnowledgeArgs) -> dict[str, Any]:
        """Render a project's files now; say where they lie."""
        project = await self.here(args)
        if not self.core.mind().settings.rendered:
            raise RequestError("nothing is rendered: rendered = false", "take that out of config.toml")
        place = await rendered.refresh(self.core, project, days=rendered.DAYS)
        files = sorted(str(path.relative_to(place)) for path in place.rglob("*.md"))
        return {"folder": str(place), "files": files}

    async def cmd_digest(self, args: KnowledgeArgs) -> dict[str, Any]:
        """What is worth telling of a project now, or what is asked for."""
        project = await self.here(args)
        mode = args.mode or await self._mode(project)
        told = await MODES[mode](self, project)
        if args.origin is not Origin.USER:
            told |= {name: [] for name in told if name == "friction"}  # it quotes what still waits for a person
        return {"mode": mode} | told

    async def _mode(self, project: Project) -> Mode:
        """The latest session, if it is a recent one; what keeps coming back; what is known; what it is about."""
        last = await sessions.before(self.core.database, project.id, "")
        if last is not None and last.summary and time() - last.last_event_at < RECENT:
            return "summarize"
        if await friction.found(self.core, project):
            return "patterns"
        return "synthesize" if (await self._synthesize(project))[PROMOTED] else "tag"

    async def _summarize(self, project: Project) -> dict[str, Any]:
        last = await sessions.before(self.core.database, project.id, "")
        return {"session": None if last is None else asdict(last)}

    async def _tag(self, project: Project) -> dict[str, Any]:
        found = await renderable.memories(self.core.database, project.id, rendered.LOOKED_AT)
        met = await sessions.listing(self.core.database, project.id, rendered.LOOKED_AT)
        counted = Counter(tag for memory in found for tag in memory.tags)
        told = Counter(tag for session in met for tag in session.tags)
        names = sorted({*counted, *told}, key=lambda tag: (-counted[tag] - told[tag], tag))
        return {"tags": [{"tag": tag, "memories": counted[tag], "sessions": told[tag]} for tag in names]}

    async def _patterns(self, project: Project) -> dict[str, Any]:
        found = await renderable.memories(self.core.database, project.id, rendered.LOOKED_AT)
        known = await standings(self.core.database, found, self.core.mind().settings)
        approved = [one for one in found if one.kind == "pattern" and known[one.id].status != FLAGGED]
        again = await friction.found(self.core, project)
        return {
            "patterns": [asdict(memory) for memory in approved],
            "friction": [
                {
                    "kind": one.leader["kind"],
                    "content": one.leader["content"],
                    "origin": one.origin,
                    "times": len(one.captures),
                    "sessions": [{"id": session_id, "at": at} for session_id, at in one.sessions.items()],
                }
                for one in again
            ],
        }

    async def _synthesize(self, project: Project) -> dict[str, Any]:
        settings = self.core.mind().settings
        found = await renderable.memories(self.core.database, project.id, rendered.LOOKED_AT)
        known = await standings(self.core.database, found, settings)
        counts = Counter(one.status for one in known.values())
        kept = sorted(found, key=lambda memory: -known[memory.id].score)[: settings.rendered_memories]
        return {
            "text": rendering.knowledge(project.name, kept, known),
            PROMOTED: counts[PROMOTED],
            OBSERVED: counts[OBSERVED],
        }


MODES: dict[Mode, Callable[[Knowledge, Project], Awaitable[dict[str, Any]]]] = {
    "summarize": Knowledge._summarize,
    "tag": Knowledge._tag,
    "patterns": Knowledge._patterns,
    "synthesize": Knowledge._synthesize,
}
