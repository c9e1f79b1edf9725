"""Requests that walk along links: what surrounds a memory (SPEC A11), and why something is so (SPEC B15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import time
from typing import Any

from subconscious import graph, surfacing
from subconscious.errors import RequestError
from subconscious.flow import recall
from subconscious.model import Hit, Memory, Origin
from subconscious.projects import head
from subconscious.quoting import within_quotes, word
from subconscious.reasons import Reasons, Step, reasons
from subconscious.standing import of_hits
from subconscious.store import memories

from .. import linking
from ..acts import refuse_held
from ..linking import Surroundings
from .links import LinkArgs
from .room import Room, stood

ANSWERS = 3
"""Memories that a question is answered with, each with its reasons."""
LONGEST_EVIDENCE = 200
"""Characters of what states a link, or of a memory's own quote, in a frame."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A memory that answers a question, and its reasons."""

    hit: Hit
    found: Reasons


class Graphs(Room):
    """Requests that walk along links: what surrounds a memory (SPEC A11), and why something is so (SPEC B15)."""

    arguments = LinkArgs

    async def cmd_graph(self, args: LinkArgs) -> dict[str, Any]:
        """What surrounds a memory, both ways, as values, as a tree and as a drawing."""
        root = await self._root(args)
        types = [linking.type_of(name)[0].name for name in args.types]
        around = await self._around(args, root, types)
        found = await graph.walk(root.id, around.neighbours, args.depth)
        met = around.met | {root.id: root}
        told = await stood(self.core, [met[number] for number in found.distances], await self._place(args, root))
        return {
            "root": root.id,
            "memories": [one | {"distance": found.distances[one["id"]]} for one in told],
            "links": [linking.row(link, met) for link in found.links],
            "tree": [asdict(branch) for branch in graph.tree(found)],
            "mermaid": graph.mermaid(found, {number: met[number].summary for number in found.distances}),
            "left_out": found.left_out,
        }

    async def cmd_why(self, args: LinkArgs) -> dict[str, Any]:
        """Why something is so: the chains of reasons of one memory, or of those that answer a question."""
        if args.id is None and not args.query.strip():
            raise RequestError("say what is to be explained", 'subconscious why ID, or subconscious why "QUESTION"')
        hits = await self._asked(args) if args.id is None else [Hit(await self._root(args), 1.0, 1.0, rank=1.0)]
        met: dict[int, Memory] = {hit.memory.id: hit.memory for hit in hits}
        answers = []
        for hit in hits:
            around = await self._around(args, hit.memory)
            answers.append(Answer(hit, await reasons(hit.memory.id, around.neighbours, args.depth)))
            met = around.met | met
        told = await self._stood(args, answers, met)
        text = _framed(answers, told, args.tokens, head(args.cwd)[0] if args.cwd else "")
        return {"answers": [_told(answer, told, met) for answer in answers], "text": text}

    async def _asked(self, args: LinkArgs) -> list[Hit]:
        hits = await recall(self.core.mind(asked=True), args.query, (await self.here(args)).id, ANSWERS)
        async with self.core.database.write() as tx:
            await memories.touch(tx, [hit.memory.id for hit in hits], time())
        return hits

    async def _root(self, args: LinkArgs) -> Memory:
        memory = await memories.get(self.core.database, args.id or 0)
        if args.origin is not Origin.USER:
            await refuse_held(self.core, [memory.id])
        return memory

    async def _around(self, args: LinkArgs, root: Memory, types: Sequence[str] = ()) -> Surroundings:
        place = await self._place(args, root)
        return Surroundings(self.core.database, place, types, args.everywhere)

    async def _place(self, args: LinkArgs, root: Memory) -> str | None:
        """The project that a memory is looked at from: its own, else where the question was asked."""
        here = None if root.project_id else await self.project(args)
        return here.id if here else root.project_id

    async def _stood(self, args: LinkArgs, answers: Sequence[Answer], met: dict[int, Memory]) -> dict[int, Hit]:
        """All memories that stand in answers, in their order, and how they stand."""
        hits = {answer.hit.memory.id: answer.hit for answer in answers}
        for step in (step for answer in answers for chain in answer.found.chains for step in chain):
            hits.setdefault(step.memory_id, Hit(met[step.memory_id], 0.0, 1.0))
        here = await self.project(args)
        settings = self.core.mind().settings
        stand = await of_hits(self.core.database, list(hits.values()), settings, time(), here.id if here else None)
        return {hit.memory.id: hit for hit in stand}


def _told(answer: Answer, hits: dict[int, Hit], met: dict[int, Memory]) -> dict[str, Any]:
    chains = [
        [
            {"name": step.name, "link": linking.row(step.link, met), "memory": _reason(hits[step.memory_id])}
            for step in chain
        ]
        for chain in answer.found.chains
    ]
    return {"memory": _reason(hits[answer.hit.memory.id]), "chains": chains, "cut": answer.found.cut}


def _reason(hit: Hit) -> dict[str, Any]:
    """A memory as a reason: its words, its own quote, its date and origin, and how it stands."""
    names = (*linking.BRIEF, "content", "rationale", "evidence", "session_id", "branch", "scope", "pinned", "verified")
    stand = asdict(hit.standing) if hit.standing else {}
    return {name: getattr(hit.memory, name) for name in names} | stand


def _framed(answers: Sequence[Answer], hits: dict[int, Hit], tokens: int, branch: str) -> str:
    """The answers as a model is given them: the memories quoted, then how one leads to the other (SPEC N5)."""
    given = list(hits.values())[: surfacing.MOST]
    known = {hit.memory.id for hit in given}
    steps = dict.fromkeys(step for answer in answers for chain in answer.found.chains for step in chain)
    lines = [
        *(_step(step) for step in steps if {step.since, step.memory_id} <= known),
        *(line for hit in given for line in _quote(hit.memory)),
    ]
    budget = surfacing.Budget(tokens, tokens * surfacing.CHARACTERS_A_TOKEN, surfacing.MOST)
    return surfacing.compose(given, budget, branch, lines).text


def _step(step: Step) -> str:
    link = step.link
    sure = "" if link.status == "active" else "proposed, not confirmed; "
    stated = f": {within_quotes(link.evidence, LONGEST_EVIDENCE)}" if link.evidence else ""
    by = f"{sure}confidence {link.confidence:.2f}, found by {word(link.created_by)}"
    return f"[{step.since}] {word(step.name)} [{step.memory_id}] ({by}){stated}"


def _quote(memory: Memory) -> Iterator[str]:
    if memory.evidence and memory.evidence not in memory.content:
        yield f"[{memory.id}] was said so: {within_quotes(memory.evidence, LONGEST_EVIDENCE)}"
