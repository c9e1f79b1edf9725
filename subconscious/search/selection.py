"""Which of the ranked hits are shown: each said once, sure enough, promoted knowledge first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subconscious.model import Hit, Memory
from subconscious.search.depths import BALANCED
from subconscious.search.modes import ANY

if TYPE_CHECKING:
    import numpy

SYSTEM = "meta"
"""The kind of what sums up several memories."""

AS_WELL = 0.8
"""Share of a memory's relevance from which what sums it up fits as well: it is longer, and says other things too."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The number of hits, their minimum relevance, and the relevance from which promoted knowledge comes first.

    ``alone``: if promoted knowledge answers, nothing else is shown. ``summed``: a summary replaces its sources.
    ``mode`` is the chosen mode, ``tokens`` the length of an answer.
    """

    hits: int = 1000
    relevance: float = 0.0
    first: float = 1.0
    alone: bool = False
    summed: bool = False
    mode: str = ANY.name
    tokens: int = BALANCED.tokens


EVERYTHING = Selection()


def distinct(
    ranked: Sequence[Hit],
    vectors: Mapping[int, numpy.ndarray],
    alike: float,
    differ: Callable[[Memory, Memory], bool],
) -> list[Hit]:
    """The hits less those whose cosine to a better one is above ``alike``, unless the two differ in what they state."""
    kept: list[Hit] = []
    for hit in ranked:
        own = vectors.get(hit.memory.id)
        same = own is not None and any(
            float(own @ vectors[better.memory.id]) > alike and not differ(hit.memory, better.memory)
            for better in kept
            if better.memory.id in vectors
        )
        if not same:
            kept.append(hit)
    return kept


def selected(ranked: Sequence[Hit], wanted: Selection, known: Collection[int] = ()) -> list[Hit]:
    """Select from the ranked hits. Promoted knowledge comes first if it answers the query.

    ``known`` are the ids of those that have become project knowledge.
    """
    sure = [hit for hit in ranked if hit.relevance >= wanted.relevance]
    first = [hit for hit in sure if hit.relevance >= wanted.first and (hit.memory.id in known or promoted(hit.memory))]
    rest = [] if first and wanted.alone else [hit for hit in sure if hit not in first]
    return [*first, *rest][: wanted.hits]


def stand_ins(hits: Sequence[Hit], sums: Mapping[int, Collection[int]], first: float) -> dict[int, int]:
    """Map hits to the summary that replaces them: if the summary answers, or matches about as well.

    ``sums`` are the sources of summaries. Pinned memories are not replaced.
    """
    relevance = {hit.memory.id: hit.relevance for hit in hits}
    own = {hit.memory.id for hit in hits if hit.memory.pinned}
    return {
        source: made
        for made in sorted(sums, key=lambda made: relevance[made])
        for source in sums[made]
        if source in relevance and source not in own and relevance[made] >= min(first, AS_WELL * relevance[source])
    }


def in_place(hits: Sequence[Hit], instead: Mapping[int, int]) -> list[Hit]:
    """The same hits, with each summary once, at the position of its first source."""
    found = {hit.memory.id: hit for hit in hits}
    return list({number: found[number] for number in (instead.get(one, one) for one in found)}.values())


def successors_first(hits: Sequence[Hit]) -> list[Hit]:
    """The same hits, with each memory before the one that it supersedes, at any relevance."""
    found = {hit.memory.id: hit for hit in hits}
    placed: dict[int, Hit] = {}
    for hit in hits:
        begun, waiting = set(placed), [hit.memory.id]
        while waiting:
            number = waiting[-1]
            begun.add(number)  # two that took each other's place wait for one another only once
            newer = next((one for one in _successors(found[number]) if one in found and one not in begun), None)
            if newer is None:
                placed.setdefault(waiting.pop(), found[number])
            else:
                waiting.append(newer)
    return list(placed.values())


def _successors(hit: Hit) -> Collection[int]:
    return hit.repute.superseded_by if hit.repute else ()


def promoted(memory: Memory) -> bool:
    """Whether a memory is backed: a person approved or pinned it, or it is a summary."""
    return memory.pinned or memory.verified or memory.kind == SYSTEM
