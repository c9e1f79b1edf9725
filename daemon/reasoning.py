"""Why something is so: the reasons of memories, as values and as a model is given them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import time
from typing import Any

from subconscious import surfacing
from subconscious.flow.mind import Mind
from subconscious.model import Hit, Link, Memory
from subconscious.quoting import within_quotes, word
from subconscious.reasons import Reasons, Step, reasons
from subconscious.repute import of_hits
from subconscious.surfacing import Budget, Context

from . import bonds
from .bonds import Surroundings

ANSWERS = 3
"""Memories that a question is answered with, each with its reasons."""
LONGEST_EVIDENCE = 200
"""Characters of what states a link, or of a memory's own quote, in a frame."""
TOLD = ("content", "rationale", "evidence", "session_id", "branch", "scope", "pinned", "verified")
"""What is told of a memory in a chain, besides what every link tells of its ends."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reasons of some memories, one after the other, and all memories that stand in them, in their order."""

    found: tuple[Reasons, ...]
    hits: dict[int, Hit]

    @property
    def steps(self) -> list[Step]:
        """All steps of the chains, each once."""
        return list(dict.fromkeys(step for one in self.found for chain in one.chains for step in chain))

    def told(self) -> list[dict[str, Any]]:
        """Each memory that was asked about, with the chains of its reasons."""
        return [
            {
                "memory": self._reason(one.root),
                "chains": [[self._told(step) for step in chain] for chain in one.chains],
                "cut": one.cut,
            }
            for one in self.found
        ]

    @property
    def links(self) -> list[Link]:
        """All links that stand in a chain, each once."""
        return list(dict.fromkeys(step.link for step in self.steps))

    @property
    def memories(self) -> dict[int, Memory]:
        """All memories that stand in a chain or were asked about."""
        return {number: hit.memory for number, hit in self.hits.items()}

    def _told(self, step: Step) -> dict[str, Any]:
        link = bonds.row(step.link, self.memories)
        return {"name": step.name, "link": link, "memory": self._reason(step.memory_id)}

    def _reason(self, memory_id: int) -> dict[str, Any]:
        """A memory as a reason: its words, its own quote, its date and origin, and how it stands."""
        hit = self.hits[memory_id]
        stand = asdict(hit.repute) if hit.repute else {}
        return bonds.brief(hit.memory) | {name: getattr(hit.memory, name) for name in TOLD} | stand

    def framed(self, budget: Budget, branch: str) -> Context:
        """The memories quoted, then how one leads to the other."""
        given = list(self.hits.values())[: budget.memories]
        known = {hit.memory.id for hit in given}
        lines = [_line(step) for step in self.steps if {step.since, step.memory_id} <= known]
        lines += [line for hit in given for line in _quote(hit.memory)]
        return surfacing.compose(given, budget, branch, lines)


async def explain(
    mind: Mind, asked: Sequence[Hit], project_id: str | None, depth: int = 3, *, everywhere: bool = False
) -> Explanation:
    """Follow the reasons of memories, as far as they may be seen from where each stands."""
    found: list[Reasons] = []
    hits = {hit.memory.id: hit for hit in asked}
    for hit in asked:
        place = hit.memory.project_id or project_id
        around = Surroundings(mind.database, place, everywhere=everywhere)
        found.append(await reasons(hit.memory.id, around.neighbours, depth))
        for step in (step for chain in found[-1].chains for step in chain):
            hits.setdefault(step.memory_id, Hit(around.met[step.memory_id], 0.0, 1.0))
    stand = await of_hits(mind.database, list(hits.values()), mind.settings, time(), project_id)
    return Explanation(tuple(found), {hit.memory.id: hit for hit in stand})


def _line(step: Step) -> str:
    """How one memory leads to the next, by which link, and what states that."""
    link = step.link
    sure = "" if link.status == "active" else "proposed, not confirmed; "
    stated = f": {within_quotes(link.evidence, LONGEST_EVIDENCE)}" if link.evidence else ""
    by = f"{sure}confidence {link.confidence:.2f}, found by {word(link.created_by)}"
    return f"[{step.since}] {word(step.name)} [{step.memory_id}] ({by}){stated}"


def _quote(memory: Memory) -> Iterator[str]:
    if memory.evidence and memory.evidence not in memory.content:
        yield f"[{memory.id}] was said so: {within_quotes(memory.evidence, LONGEST_EVIDENCE)}"
