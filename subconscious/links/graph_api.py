"""Requests that follow links: the neighbourhood of a memory, and the reasons for a memory."""

from __future__ import annotations

import asyncio
from time import time

from subconscious.app.request import Handler, hit_results, memory_results
from subconscious.domain.errors import RequestError
from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory, Origin
from subconscious.framing import rules
from subconscious.links import graph, link_commands, reasoning
from subconscious.links.api import LinkArgs
from subconscious.links.link_commands import VisibleLinks
from subconscious.links.reason_wording import worded
from subconscious.poisoning.quarantine import refuse_held
from subconscious.poisoning.suspicions import noted, of_memories
from subconscious.recall.pipeline import recall
from subconscious.recall.selection import matches
from subconscious.store import memories
from subconscious.system.projects import head
from subconscious.wire import links as wire
from subconscious.wire.fields import list_of


class Graphs(Handler):
    """Requests that follow links: the neighbourhood of a memory, and the reasons for a memory."""

    arguments = LinkArgs

    async def cmd_graph(self, args: LinkArgs) -> wire.GraphResult:
        """Return the neighbourhood of a memory as lists of memories and links, as a tree, and as a Mermaid drawing."""
        root = await self._root(args)
        here = await self.project(args)
        place = root.project_id or (here.id if here else None)
        types = [link_commands.type_of(name)[0].name for name in args.types]
        visible = VisibleLinks(self.app.database, place, types, args.everywhere, replaced=True)
        found = await graph.walk(root.id, visible.neighbours, args.depth)
        known = visible.memories | {root.id: root}
        rows = await memory_results(self.app, [known[number] for number in found.distances], place)
        return {
            "root": root.id,
            "memories": [{**one, "distance": found.distances[one["id"]]} for one in rows],
            "links": await link_commands.as_rows(self.app.database, found.links),
            "tree": list_of(wire.Branch, graph.tree(found)),
            "mermaid": graph.mermaid(found, {number: known[number].summary for number in found.distances}),
            "left_out": found.left_out,
        }

    async def cmd_why(self, args: LinkArgs) -> wire.WhyResult:
        """Return the chains of reasons of one memory, or of the memories that answer a question."""
        if args.id is None and not args.query.strip():
            raise RequestError(
                "there is nothing to explain", 'run: subconscious why ID, or: subconscious why "QUESTION"'
            )
        here = await self.project(args)
        hits = await self._asked(args) if args.id is None else [Hit(await self._root(args), 1.0, 1.0, rank=1.0)]
        ctx, place = self.app.recall_context(asked=True), here.id if here else None
        found = await reasoning.explain(ctx, hits, place, args.depth, everywhere=args.everywhere)
        budget = rules.Budget(args.tokens, args.tokens * rules.CHARACTERS_A_TOKEN, rules.MOST)
        branch, _ = await asyncio.to_thread(head, args.cwd) if args.cwd else ("", "")
        context = found.framed(budget, branch)
        async with self.app.database.write() as tx:
            await memories.touch(tx, [hit.memory.id for hit in context.hits], time())
        suspected = await of_memories(self.app.database, list(found.memories.values()))
        rows = [hit["memory"] for hit in hit_results(list(found.hits.values()))]
        return {
            "answers": found.as_rows(suspected),
            "worded": await self._worded(args, found, place or ""),
            "links": [link_commands.as_row(link, found.memories, suspected=suspected) for link in found.links],
            "memories": [{**row, **noted(suspected.get(row["id"]))} for row in rows],
            "text": context.text,
        }

    async def _worded(self, args: LinkArgs, found: reasoning.Explanation, project_id: str) -> str:
        """Return an explanation in a model's words if a person requests it; otherwise "".

        The question is the query of the request; failing that, the summary of the requested memory.
        """
        if not args.worded or args.origin is not Origin.USER:
            return ""
        root = found.memories.get(args.id or 0)
        return await worded(self.app, args.query or (root.summary if root else ""), found, project_id)

    async def _asked(self, args: LinkArgs) -> list[Hit]:
        here = await self.here(args)
        found = await recall(self.app.recall_context(asked=True), args.query, here.id, reasoning.ANSWERS)
        return matches(found, args.query)

    async def _root(self, args: LinkArgs) -> Memory:
        memory = await memories.get(self.app.database, args.id or 0)
        if args.origin is not Origin.USER:
            await refuse_held(self.app.database, [memory.id])
        return memory
