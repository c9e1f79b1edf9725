"""Requests about memories: storing, finding, showing, taking out of use."""

from __future__ import annotations

from dataclasses import asdict
from time import time
from typing import Any, ClassVar
from uuid import uuid4

from subconscious import surfacing
from subconscious.errors import RequestError
from subconscious.flow import Provenance, clean, priorities, recall
from subconscious.model import Hit, Origin
from subconscious.projects import head
from subconscious.store import events, memories, surfaces
from subconscious.store.captures import Place
from subconscious.store.memories import Filter
from subconscious.surfacing.marks import marks_of

from .. import acts
from .args import Args
from .room import Room, checked_out, told


class Memories(Room):
    """Requests about memories: storing, finding, showing, taking out of use."""

    at_terminal: ClassVar[frozenset[str]] = frozenset({"remember"})

    async def cmd_remember(self, args: Args) -> dict[str, Any]:
        """Store what a person asks for; queue what the assistant asks for (SPEC N13)."""
        text = " ".join(clean(args.text).split())
        if not text:
            raise RequestError("there is nothing to remember", "say what: subconscious remember TEXT")
        project = await self.here(args)
        branch, commit = head(args.cwd)
        told = acts.Telling(text, args.origin, f"told-{uuid4()}", time(), "", branch, args.kind, args.scope, args.tags)
        user = args.origin is Origin.USER
        where = Provenance(
            Place(project.id, None),
            commit=commit,
            agent="terminal" if user else "claude-code",
            actor="user" if user else "assistant",
            verified=user,
        )
        capture = await acts.remember(self.core, self.core.mind(), told, where)
        found = {name: capture[name] for name in ("decision", "reason", "confidence")}
        if capture["memory_id"] is None:
            return found | {"capture": capture}
        return found | {"memory": asdict(await memories.get(self.core.database, capture["memory_id"]))}

    async def cmd_recall(self, args: Args) -> dict[str, Any]:
        """Answer a question with framed text, as the model is given it."""
        project = await self.here(args)
        mind = self.core.mind(asked=True)
        hits = await recall(mind, args.query, project.id, args.limit)
        budget = surfacing.Budget(args.tokens, args.tokens * surfacing.CHARACTERS_A_TOKEN, args.limit)
        branch, _ = head(args.cwd)
        standing = mind.standing
        context = surfacing.compose(hits, budget, branch, (), lambda memory: marks_of(memory, branch, standing))
        async with mind.database.write() as tx:
            await memories.touch(tx, [hit.memory.id for hit in context.hits], time())
        return {"text": context.text, "hits": told(context.hits)}

    async def cmd_search(self, args: Args) -> dict[str, Any]:
        """Rank memories for a person to look through."""
        if args.archived:
            return {"hits": await self._search_archived(args)}
        project = None if args.everywhere else (await self.here(args)).id
        # The kind is filtered after the engines answered: ask them for everything they would rank.
        mind = self.core.mind(asked=True)
        hits = await recall(mind, args.query, project, args.limit, args.kind)
        branch, _ = head(args.cwd) if args.cwd else ("", "")
        marks = (list(marks_of(hit.memory, branch, mind.standing)) for hit in hits)
        return {"hits": [one | {"marks": beside} for one, beside in zip(told(hits), marks, strict=True)]}

    async def _search_archived(self, args: Args) -> list[dict[str, Any]]:
        """Archived memories stand in no index: every word of the query must stand in the text."""
        which = Filter(None if args.everywhere else (await self.here(args)).id, args.kind, archived=True)
        found = await memories.containing(self.core.database, which, args.query.split(), args.limit)
        return told([Hit(memory, 1.0, 1.0, rank=1.0) for memory in found])

    async def cmd_list(self, args: Args) -> dict[str, Any]:
        """Page through memories."""
        project = None if args.everywhere else (await self.here(args)).id
        branch = "" if args.branch is None else args.branch or checked_out(args.cwd)
        which = Filter(project, args.kind, args.archived, branch)
        found, total = await memories.listing(self.core.database, which, args.limit, args.offset)
        return {"memories": [asdict(memory) for memory in found], "total": total, "branch": branch}

    async def cmd_show(self, args: Args) -> dict[str, Any]:
        """One memory with its history and where it was given."""
        memory = await memories.get(self.core.database, args.id or 0)
        if args.origin is not Origin.USER:
            await acts.refuse_held(self.core, [memory.id])
        given = await surfaces.listing(self.core.database, memory_id=memory.id)
        branch, _ = head(args.cwd) if args.cwd else ("", "")
        return {
            "memory": asdict(memory),
            "marks": list(marks_of(memory, branch, self.core.standings.known)),
            "priority": (await priorities(self.core.mind(), [memory.id])).get(memory.id, 0.0),
            "history": await events.history(self.core.database, "memory", memory.id),
            "surfaces": [asdict(surface) for surface in given],
        }

    async def cmd_archive(self, args: Args) -> dict[str, Any]:
        """Take memories out of use."""
        return {"memories": await self._set_archived(args, True)}

    async def cmd_unarchive(self, args: Args) -> dict[str, Any]:
        """Bring memories back."""
        return {"memories": await self._set_archived(args, False)}

    async def _set_archived(self, args: Args, archived: bool) -> list[dict[str, Any]]:
        actor = "user" if args.origin is Origin.USER else "assistant"
        if actor != "user":
            await acts.refuse_held(self.core, args.ids)  # the answer has the words
        changed = await acts.set_archived(self.core, args.ids, archived, actor, args.reason)
        return [asdict(memory) for memory in changed]
