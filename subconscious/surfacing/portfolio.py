"""Which memories a session starts with: a few of each sort, and none for its place in one ranking alone. Pure.

Groups come in the order of their worth: what is pinned, promoted or a standing rule of the user, ways out of failures
that recur, decisions about what the branch touches, and one or two others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from subconscious.model import Hit, Memory, Origin

RULE_KINDS = frozenset({"preference", "lesson", "pattern"})
"""Kinds in which a user says how things are to be done."""

WAY_OUT = "observed-1"
"""The extractor of memories that tell how a failure was overcome."""

OF_ONE_SESSION = 2
"""Memories of one source session that a start may hold."""

MOST_UNHEEDED = 3
"""Sessions without a response after which a memory is no longer given at starts."""

Alike = Callable[[Memory, Memory], bool]


@dataclass(frozen=True, slots=True)
class Group:
    """Hits of one sort, best first, and how many of them may be given. ``name`` is in the singular."""

    name: str
    hits: Sequence[Hit]
    most: int
    free: bool = False
    """Whether a person or a date has chosen them: then no limit for one source session holds."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One hit that was chosen, and of which group."""

    hit: Hit
    group: str


def is_rule(memory: Memory) -> bool:
    """Whether a memory is a standing rule of the user."""
    return memory.origin is Origin.USER and memory.kind in RULE_KINDS


def choose(groups: Sequence[Group], most: int, alike: Alike) -> list[Pick]:
    """Choose from the groups in their order; of those that say the same, the first."""
    picks: list[Pick] = []
    sources: Counter[str | None] = Counter()
    for group in groups:
        taken = 0
        for hit in group.hits:
            source = hit.memory.session_id
            full = source is not None and sources[source] >= OF_ONE_SESSION and not group.free
            if taken >= group.most or len(picks) >= most:
                break
            if full or any(_same(pick.hit.memory, hit.memory, alike) for pick in picks):
                continue
            picks.append(Pick(hit, group.name))
            sources[source] += 1
            taken += 1
    return picks


def _same(one: Memory, other: Memory, alike: Alike) -> bool:
    return one.id == other.id or one.content_hash == other.content_hash or alike(one, other)
