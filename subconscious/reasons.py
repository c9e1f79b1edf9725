"""Why something is so: chains of links that lead from a memory to its reasons. Pure.

The registry says for each type which way reasons lie: inwards, to what caused, enabled or supports it, or outwards, to
what it was derived from, supersedes or requires. Types without a direction lead nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from subconscious.graph import Neighbours
from subconscious.link_types import LINK_TYPES, told_from
from subconscious.model import Link

MOST = 50
"""Memories that are looked at for reasons."""
MOST_CHAINS = 12
"""Chains that an answer may have."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a chain: memory ``since`` NAME memory ``memory_id``, by a link."""

    since: int
    memory_id: int
    link: Link

    @property
    def name(self) -> str:
        """The link's type as it reads from where the step begins."""
        return told_from(self.link.type, source=self.link.source_id == self.since)


Chain = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Reasons:
    """The chains that begin at a memory, none if nothing is linked; ``cut``: there are more."""

    root: int
    chains: tuple[Chain, ...] = ()
    cut: bool = False


def step_from(link: Link, memory_id: int) -> Step | None:
    """Where a link leads a chain of reasons that has come to a memory; None if it leads nowhere from there."""
    row = LINK_TYPES.get(link.type)
    begin = {"in": link.target_id, "out": link.source_id, "": None}[row.why if row else ""]
    return Step(memory_id, link.other(memory_id), link) if begin == memory_id else None


async def reasons(root: int, neighbours: Neighbours, depth: int = 3) -> Reasons:
    """Follow the reasons of a memory, at most ``depth`` links far; no chain meets a memory twice."""
    steps: dict[int, list[Step]] = {root: []}
    reached, full = [root], False
    for _ in range(depth):
        met, reached = reached, []
        links = await neighbours(met) if met else ()
        for step in (step for link in links for step in _steps(link, met)):
            if step.memory_id not in steps and len(steps) >= MOST:
                full = True
                continue
            steps[step.since].append(step)
            if step.memory_id not in steps:
                steps[step.memory_id] = []
                reached.append(step.memory_id)
    chains = list(islice(_chains(root, steps, depth, ()), MOST_CHAINS + 1))
    return Reasons(root, tuple(chains[:MOST_CHAINS]), full or len(chains) > MOST_CHAINS)


def _steps(link: Link, met: Sequence[int]) -> Iterator[Step]:
    for end in (link.source_id, link.target_id):
        step = step_from(link, end) if end in met else None
        if step is not None:
            yield step


def _chains(memory_id: int, steps: Mapping[int, Sequence[Step]], left: int, chain: Chain) -> Iterator[Chain]:
    """The chains that go on from a memory, each as far as it goes."""
    seen = {step.since for step in chain}
    further = [step for step in steps[memory_id] if step.memory_id not in seen] if left else []
    for step in further:
        yield from _chains(step.memory_id, steps, left - 1, (*chain, step))
    if not further and chain:
        yield chain
