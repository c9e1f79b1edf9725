"""Explains memories by chains of reasons: memories that caused, enabled or support them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import time
from typing import cast

from subconscious.domain.hits import Hit
from subconscious.domain.model import Link, Memory
from subconscious.framing import rules
from subconscious.framing.rules import Budget, Context
from subconscious.links import link_commands
from subconscious.links.link_commands import VisibleLinks
from subconscious.links.reasons import Reasons, Step, reasons
from subconscious.poisoning.suspicions import noted
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.trust_notes import of_hits
from subconscious.text.quoting import within_quotes, word
from subconscious.wire import links as wire

ANSWERS = 3
"""The most memories that answer a question, each with its reasons."""
LONGEST_EVIDENCE = 200
"""The most characters of a link's evidence, or of a memory's quote, in the text for a model."""
FIELDS = ("content", "rationale", "evidence", "session_id", "branch", "scope", "pinned", "verified")
"""Fields of a memory in a chain, in addition to those of ``link_commands.link_end``."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reasons for some memories: chains of links, and all memories of these chains in order."""

    found: tuple[Reasons, ...]
    hits: dict[int, Hit]

    @property
    def steps(self) -> list[Step]:
        """All steps in the chains of reasons, each once."""
        return list(dict.fromkeys(step for one in self.found for chain in one.chains for step in chain))

    def as_rows(self, suspected: Mapping[int, str]) -> list[wire.Reasons]:
        """Return each explained memory with its chains of reasons, and a warning for memories that may be poisoned."""
        return [
            {
                "memory": self._memory_row(one.root, suspected),
                "chains": [[self._step_row(step, suspected) for step in chain] for chain in one.chains],
                "cut": one.cut,
            }
            for one in self.found
        ]

    @property
    def links(self) -> list[Link]:
        """All links in the chains of reasons, each once."""
        return list(dict.fromkeys(step.link for step in self.steps))

    @property
    def memories(self) -> dict[int, Memory]:
        """All memories of the chains, and the memories that they explain, by id."""
        return {number: hit.memory for number, hit in self.hits.items()}

    def _step_row(self, step: Step, suspected: Mapping[int, str]) -> wire.ReasonStep:
        link = link_commands.as_row(step.link, self.memories, suspected=suspected)
        return {"name": step.name, "link": link, "memory": self._memory_row(step.memory_id, suspected)}

    def _memory_row(self, memory_id: int, suspected: Mapping[int, str]) -> wire.ReasonMemory:
        """Return a memory of a chain with its text, quote, date, origin, trust and poisoning warning."""
        hit = self.hits[memory_id]
        values = {name: getattr(hit.memory, name) for name in FIELDS} | (asdict(hit.repute) if hit.repute else {})
        row = {**link_commands.link_end(hit.memory), **values, **noted(suspected.get(memory_id))}
        return cast("wire.ReasonMemory", row)

    def framed(self, budget: Budget, branch: str) -> Context:
        """Return the memories as quotes for a model, with a line for each link and for each quote of the original."""
        given = list(self.hits.values())[: budget.memories]
        known = {hit.memory.id for hit in given}
        lines = [_line(step) for step in self.steps if {step.since, step.memory_id} <= known]
        lines += [line for hit in given for line in _quote(hit.memory)]
        return rules.compose(given, budget, branch, lines)


async def explain(
    ctx: RecallContext, asked: Sequence[Hit], project_id: str | None, depth: int = 3, *, everywhere: bool = False
) -> Explanation:
    """Return the reasons for memories, found by following the links that are visible from each memory's project."""
    found: list[Reasons] = []
    hits = {hit.memory.id: hit for hit in asked}
    for hit in asked:
        place = hit.memory.project_id or project_id
        visible = VisibleLinks(ctx.database, place, everywhere=everywhere)
        found.append(await reasons(hit.memory.id, visible.neighbours, depth))
        for step in (step for chain in found[-1].chains for step in chain):
            hits.setdefault(step.memory_id, Hit(visible.memories[step.memory_id], 0.0, 1.0))
    rated = await of_hits(ctx.database, list(hits.values()), ctx.settings, time(), project_id)
    return Explanation(tuple(found), {hit.memory.id: hit for hit in rated})


def _line(step: Step) -> str:
    """Return the line for one step: both memories, the link between them, and the link's evidence."""
    link = step.link
    sure = "" if link.status == "active" else "proposed, not confirmed; "
    stated = f": {within_quotes(link.evidence, LONGEST_EVIDENCE)}" if link.evidence else ""
    by = f"{sure}confidence {link.confidence:.2f}, found by {word(link.created_by)}"
    return f"[{step.since}] {word(step.name)} [{step.memory_id}] ({by}){stated}"


def _quote(memory: Memory) -> Iterator[str]:
    if memory.evidence and memory.evidence not in memory.content:
        yield f"[{memory.id}] in the original words: {within_quotes(memory.evidence, LONGEST_EVIDENCE)}"
