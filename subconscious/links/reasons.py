"""Finds the reasons for a memory: chains of links to memories that explain it. Pure.

Each link type defines the direction to the reason: against the link, to a memory that caused, enabled or
supports this memory; or along the link, to a memory that this memory was derived from, supersedes or requires. A link
type without such a direction ends a chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from subconscious.domain.link_types import LINK_TYPES, directed_name
from subconscious.domain.model import Link
from subconscious.links.graph import Neighbours

MOST = 50
"""The most memories that are searched for reasons."""
MOST_CHAINS = 12
"""The most chains of reasons that are returned."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a chain: the link from the memory ``since`` to the memory ``memory_id``."""

    since: int
    memory_id: int
    link: Link

    @property
    def name(self) -> str:
        """The name of the link's type as seen from the start of the step."""
        return directed_name(self.link.type, source=self.link.source_id == self.since)


Chain = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Reasons:
    """The chains of reasons that start at a memory. ``cut`` means that more chains exist."""

    root: int
    chains: tuple[Chain, ...] = ()
    cut: bool = False


def step_from(link: Link, memory_id: int) -> Step | None:
    """Return the step along a link from a memory to a reason for it; None if the link does not lead to a reason."""
    row = LINK_TYPES.get(link.type)
    begin = {"in": link.target_id, "out": link.source_id, "": None}[row.why if row else ""]
    return Step(memory_id, link.other(memory_id), link) if begin == memory_id else None


async def reasons(root: int, neighbours: Neighbours, depth: int = 3) -> Reasons:
    """Return the reasons for a memory, at most ``depth`` links away; no chain contains a memory twice."""
    steps: dict[int, list[Step]] = {root: []}
    reached, full = [root], False
    for _ in range(depth):
        previous, reached = reached, []
        links = await neighbours(previous) if previous else ()
        for step in (step for link in links for step in _steps(link, previous)):
            if step.memory_id not in steps and len(steps) >= MOST:
                full = True
                continue
            steps[step.since].append(step)
            if step.memory_id not in steps:
                steps[step.memory_id] = []
                reached.append(step.memory_id)
    chains = list(islice(_chains(root, steps, depth, ()), MOST_CHAINS + 1))
    return Reasons(root, tuple(chains[:MOST_CHAINS]), full or len(chains) > MOST_CHAINS)


def _steps(link: Link, reached: Sequence[int]) -> Iterator[Step]:
    for end in (link.source_id, link.target_id):
        step = step_from(link, end) if end in reached else None
        if step is not None:
            yield step


def _chains(memory_id: int, steps: Mapping[int, Sequence[Step]], left: int, chain: Chain) -> Iterator[Chain]:
    """Yield the chains that continue from a memory, each up to its end."""
    seen = {step.since for step in chain}
    further = [step for step in steps[memory_id] if step.memory_id not in seen] if left else []
    for step in further:
        yield from _chains(step.memory_id, steps, left - 1, (*chain, step))
    if not further and chain:
        yield chain
