"""Chooses the memories that a session starts with: a few of each group, not the top of one ranking. Does no I/O.

The groups, in order of priority: memories with a date that has come; pinned and promoted memories and lasting rules of
the user; ways out of recurring failures (what then worked); decisions about the branch's work; one or two others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory, Origin

RULE_KINDS = frozenset({"preference", "lesson", "pattern"})
"""The kinds of memories that say how to work."""

WAY_OUT = "observed-1"
"""The extractor of memories about ways out of failures."""

OF_ONE_SESSION = 2
"""The most memories from one session that a start may contain."""

MOST_UNHEEDED = 3
"""The number of sessions without a response after which a memory is no longer shown at session starts."""

Alike = Callable[[Memory, Memory], bool]


@dataclass(frozen=True, slots=True)
class Group:
    """Hits of one group, best first, and how many of them may be shown. ``name`` is in the singular."""

    name: str
    hits: Sequence[Hit]
    most: int
    free: bool = False
    """Whether a person or a date chose the hits: then the limit for memories of one session does not apply."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A chosen hit, its group, and the reason why it is shown."""

    hit: Hit
    group: str
    reason: str = ""


def is_rule(memory: Memory) -> bool:
    """Whether a memory is a user's rule about how to work."""
    return memory.origin is Origin.USER and memory.kind in RULE_KINDS


def choose(groups: Sequence[Group], most: int, alike: Alike) -> list[Pick]:
    """Return at most ``most`` hits, group by group. Only the first of several memories that say the same is chosen."""
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
