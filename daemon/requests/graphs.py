"""Requests that walk along links: what surrounds a memory, and why something is so."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from time import time
from typing import Any

from subconscious import graph, surfacing
from subconscious.errors import RequestError
from subconscious.flow.recalling import recall
from subconscious.model import Hit, Memory, Origin
from subconscious.projects import head
from subconscious.store import memories

from .. import bonds, reasoning, why_wording
from ..acts import refuse_held
from ..bonds import Surroundings
from .links import LinkArgs
from .room import Room, stood, told


class Graphs(Room):
    """Requests that walk along links: what surrounds a memory, and why something is so."""

    arguments = LinkArgs

    async def cmd_graph(self, args: LinkArgs) -> dict[str, Any]:
        """What surrounds a memory, both ways, as values, as a tree and as a drawing."""
        root = await self._root(args)
        here = await self.project(args)
        place = root.project_id or (here.id if here else None)
        types = [bonds.type_of(name)[0].name for name in args.types]
        around = Surroundings(self.core.database, place, types, args.everywhere)
        found = await graph.walk(root.id, around.neighbours, args.depth)
        met = around.met | {root.id: root}
        stand = await stood(self.core, [met[number] for number in found.distances], place)
        return {
            "root": root.id,
            "memories": [one | {"distance": found.distances[one["id"]]} for one in stand],
            "links": [bonds.row(link, met) for link in found.links],
            "tree": [asdict(branch) for branch in graph.tree(found)],
            "mermaid": graph.mermaid(found, {number: met[number].summary for number in found.distances}),
            "left_out": found.left_out,
        }

    async def cmd_why(self, args: LinkArgs) -> dict[str, Any]:
        """Why something is so: the chains of reasons of one memory, or of those that answer a question."""
        if args.id is None and not args.query.strip():
            raise RequestError("say what is to be explained", 'subconscious why ID, or subconscious why "QUESTION"')
        here = await self.project(args)
        hits = await self._asked(args) if args.id is None else [Hit(await self._root(args), 1.0, 1.0, rank=1.0)]
        mind, place = self.core.mind(asked=True), here.id if here else None
        found = await reasoning.explain(mind, hits, place, args.depth, everywhere=args.everywhere)
        budget = surfacing.Budget(args.tokens, args.tokens * surfacing.CHARACTERS_A_TOKEN, surfacing.MOST)
        branch, _ = await asyncio.to_thread(head, args.cwd) if args.cwd else ("", "")
        context = found.framed(budget, branch)
        async with self.core.database.write() as tx:
            await memories.touch(tx, [hit.memory.id for hit in context.hits], time())
        return {
            "answers": found.told(),
            "worded": await self._worded(args, found, place or ""),
            "links": [bonds.row(link, found.memories) for link in found.links],
            "memories": [hit["memory"] for hit in told(list(found.hits.values()))],
            "text": context.text,
        }

    async def _worded(self, args: LinkArgs, found: reasoning.Explanation, project_id: str) -> str:
        """Return the answer in a model's words where a person wants it; for a memory its summary is the question."""
        if not args.worded or args.origin is not Origin.USER:
            return ""
        root = found.memories.get(args.id or 0)
        return await why_wording.worded(self.core, args.query or (root.summary if root else ""), found, project_id)

    async def _asked(self, args: LinkArgs) -> list[Hit]:
        return await recall(self.core.mind(asked=True), args.query, (await self.here(args)).id, reasoning.ANSWERS)

    async def _root(self, args: LinkArgs) -> Memory:
        memory = await memories.get(self.core.database, args.id or 0)
        if args.origin is not Origin.USER:
            await refuse_held(self.core, [memory.id])
        return memory
