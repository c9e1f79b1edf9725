"""Requests about a project's knowledge: promotion status of memories, rendered files, recurring problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from time import time
from typing import ClassVar, Literal

from subconscious.app.request import Handler
from subconscious.context.arguments import Args
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Origin
from subconscious.domain.promotion import FLAGGED, OBSERVED, PROMOTED
from subconscious.knowledge import friction, rendered_files
from subconscious.knowledge import rendering as rendered
from subconscious.poisoning.suspicions import noted, of_memories, suspicion, with_suspicions
from subconscious.recall.promotion_status import standings
from subconscious.store import renderable, sessions
from subconscious.store.projects import Project
from subconscious.wire import knowledge as wire
from subconscious.wire.fields import fields_of
from subconscious.wire.memories import Memory, PromotionStatus
from subconscious.wire.sessions import Session

Mode = Literal["summarize", "tag", "patterns", "synthesize"]
RECENT = 86_400.0
"""If a project's last session had an event within this many seconds, a digest is about that session by default."""


class KnowledgeArgs(Args):
    """``mode`` is the kind of digest that the command `memory` shows; if it is None, the daemon chooses."""

    mode: Mode | None = None


class Knowledge(Handler):
    """Requests about a project's knowledge: promotion status of memories, rendered files, recurring problems."""

    arguments: ClassVar[type[Args]] = KnowledgeArgs

    async def cmd_standings(self, args: KnowledgeArgs) -> wire.StandingsResult:
        """Return a project's memories with their promotion status, best first, except flagged ones. Read-only."""
        project = await self.here(args)
        found = await renderable.memories(self.app.database, project.id, rendered.COMPARED)
        known = await standings(self.app.database, found, self.app.recall_context().settings)
        sound = [memory for memory in found if known[memory.id].status != FLAGGED]
        ranked = sorted(sound, key=lambda memory: (-known[memory.id].score, -memory.said_at))
        shown = ranked[args.offset :][: args.limit]
        suspected = await of_memories(self.app.database, shown)
        return {
            "memories": [
                fields_of(
                    Memory,
                    memory,
                    standing=fields_of(PromotionStatus, known[memory.id]),
                    **noted(suspected.get(memory.id)),
                )
                for memory in shown
            ],
            "counts": Counter(one.status for one in known.values()),
        }

    async def cmd_pull(self, args: KnowledgeArgs) -> wire.PullResult:
        """Render a project's memories to files now; return the folder and the names of the files."""
        project = await self.here(args)
        if not self.app.recall_context().settings.rendered:
            raise RequestError(
                "no files are written: the setting `rendered` is false", "remove `rendered` from config.toml"
            )
        place = await rendered.refresh(self.app, project, days=rendered.DAYS)
        files = sorted(str(path.relative_to(place)) for path in place.rglob("*.md"))
        return {"folder": str(place), "files": files}

    async def cmd_digest(self, args: KnowledgeArgs) -> wire.Digest:
        """Return a digest of the project in the requested mode, or the most useful one."""
        project = await self.here(args)
        mode = args.mode or await self._mode(project)
        digest = await MODES[mode](self, project)
        if digest["mode"] == "patterns" and args.origin is not Origin.USER:
            digest["friction"] = []  # these problems quote captures that wait for a person
        return digest

    async def _mode(self, project: Project) -> Mode:
        """Return the default mode: the latest session if recent, else recurring problems, else knowledge, else tags."""
        last = await sessions.latest_other(self.app.database, project.id, "")
        if last is not None and last.summary and time() - last.last_event_at < RECENT:
            return "summarize"
        if await friction.find(self.app, project):
            return "patterns"
        return "synthesize" if (await self._synthesize(project))["promoted"] else "tag"

    async def _summarize(self, project: Project) -> wire.SessionDigest:
        last = await sessions.latest_other(self.app.database, project.id, "")
        return {"mode": "summarize", "session": None if last is None else fields_of(Session, last)}

    async def _tag(self, project: Project) -> wire.TagDigest:
        found = await renderable.memories(self.app.database, project.id, rendered.COMPARED)
        recent = await sessions.listing(self.app.database, project.id, rendered.COMPARED)
        by_memory = Counter(tag for memory in found for tag in memory.tags)
        by_session = Counter(tag for session in recent for tag in session.tags)
        names = sorted({*by_memory, *by_session}, key=lambda tag: (-by_memory[tag] - by_session[tag], tag))
        return {
            "mode": "tag",
            "tags": [{"tag": tag, "memories": by_memory[tag], "sessions": by_session[tag]} for tag in names],
        }

    async def _patterns(self, project: Project) -> wire.PatternDigest:
        found = await renderable.memories(self.app.database, project.id, rendered.COMPARED)
        known = await standings(self.app.database, found, self.app.recall_context().settings)
        approved = [one for one in found if one.kind == "pattern" and known[one.id].status != FLAGGED]
        again = await friction.find(self.app, project)
        return {
            "mode": "patterns",
            "patterns": await with_suspicions(self.app.database, approved),
            "friction": [
                {
                    "kind": one.leader["kind"],
                    "content": one.leader["content"],
                    "origin": one.origin,
                    "extractor": one.leader["extractor"],
                    "times": len(one.captures),
                    "sessions": [{"id": session_id, "at": at} for session_id, at in one.sessions.items()],
                    **noted(suspicion(one.leader)),
                }
                for one in again
            ],
        }

    async def _synthesize(self, project: Project) -> wire.KnowledgeDigest:
        settings = self.app.recall_context().settings
        found = await renderable.memories(self.app.database, project.id, rendered.COMPARED)
        known = await standings(self.app.database, found, settings)
        counts = Counter(one.status for one in known.values())
        kept = sorted(found, key=lambda memory: -known[memory.id].score)[: settings.rendered_memories]
        return {
            "mode": "synthesize",
            "text": rendered_files.knowledge(project.name, kept, known),
            "promoted": counts[PROMOTED],
            "observed": counts[OBSERVED],
        }


MODES: dict[Mode, Callable[[Knowledge, Project], Awaitable[wire.Digest]]] = {
    "summarize": Knowledge._summarize,
    "tag": Knowledge._tag,
    "patterns": Knowledge._patterns,
    "synthesize": Knowledge._synthesize,
}
