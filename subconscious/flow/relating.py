"""What a typed statement does to what is stored, judged by meaning (``capture/relation.py``) where rules see nothing.

Only the few nearest are compared, of the same project and of all projects. Without a local embedder nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.capture.relation import Relation
from subconscious.flow import succession
from subconscious.flow.mind import Mind
from subconscious.model import Candidate, Memory, Origin, Scope
from subconscious.store import full_text, memories
from subconscious.store.waiting import Waiting

NEAREST = 4
"""Memories, and captures that wait, with which a statement is compared."""

LOOKED_AT = 12
"""Nearest memories among which those that a person typed, and that hold, are sought."""

FAR = 0.25
"""Cosine below which two statements are not compared."""

FEWEST_WORDS = 3
"""Words of a statement that are compared without what it answers."""

_OCCASION = re.compile(r" \((?:asked|replying to|plan): .*\)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Related:
    """The memory and the capture that a statement says again, and those that it replaces."""

    memory: tuple[int, float] | None = None
    replaced: int | None = None
    capture: int | None = None
    replaced_capture: int | None = None


async def related(mind: Mind, candidate: Candidate, project_id: str, queue: Sequence[Waiting]) -> Related:
    """Compare a typed statement with the nearest memories, and with the nearest captures of the same project."""
    if candidate.origin is not Origin.USER:
        return Related()
    near = await _near(mind, candidate, project_id)
    waits = await _near_waiting(mind, candidate, queue)
    known = await mind.relate(bare(candidate.content), [bare(memory.content) for memory, _ in near])
    queued = await mind.relate(bare(candidate.content), [bare(capture.content) for capture in waits])
    same = [
        (memory.id, cosine)
        for (memory, cosine), found in zip(near, known, strict=False)
        if found is Relation.SAME and memory.scope is candidate.scope
    ]
    replaced = [memory.id for (memory, _), found in zip(near, known, strict=False) if found is Relation.REPLACES]
    return Related(
        next(iter(same), None),
        None if same or not mind.settings.links else next(iter(replaced), None),
        _first(waits, queued, Relation.SAME),
        None if same else _first(waits, queued, Relation.REPLACES),
    )


def _first(waits: Sequence[Waiting], found: Sequence[Relation], wanted: Relation) -> int | None:
    return next((one.id for one, relation in zip(waits, found, strict=False) if relation is wanted), None)


def bare(content: str) -> str:
    """Return a statement without the question, proposal or plan that it answers, unless it says too little alone."""
    alone = _OCCASION.sub("", content)
    return alone if len(alone.split()) >= FEWEST_WORDS or not alone.isascii() else content


async def _near(mind: Mind, candidate: Candidate, project_id: str) -> list[tuple[Memory, float]]:
    """The nearest memories that a person typed and that hold."""
    places = (project_id, full_text.USER_WIDE) if candidate.scope is Scope.PROJECT else (full_text.USER_WIDE,)
    vector = await mind.at_hand(bare(candidate.content)) if mind.index is not None else None
    if vector is None or mind.index is None:
        return []
    near = {one: cosine for one, cosine in await mind.index.search(places, vector, LOOKED_AT) if cosine >= FAR}
    known = await memories.get_many(mind.database, list(near))
    typed = [one for one in known.values() if one.origin is Origin.USER and one.kind != "meta"]
    held = await succession.still_in_force(mind.database, typed, project_id)
    ranked = sorted(held, key=lambda memory: -near[memory.id])
    return [(memory, near[memory.id]) for memory in ranked[:NEAREST]]


async def _near_waiting(mind: Mind, candidate: Candidate, queue: Sequence[Waiting]) -> list[Waiting]:
    """The nearest of the latest captures that wait."""
    latest = [one for one in queue if one.scope == candidate.scope][:LOOKED_AT]
    mine = await mind.at_hand(bare(candidate.content)) if latest else None
    if mine is None:
        return []
    weighed = []
    for place, one in enumerate(latest):
        vector = await mind.at_hand(bare(one.content))
        weighed += [(-float(mine @ vector), place)] if vector is not None else []
    return [latest[place] for cosine, place in sorted(weighed)[:NEAREST] if -cosine >= FAR]
