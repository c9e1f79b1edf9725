"""What is told beside a memory because the world has moved on. It marks, and never hides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from subconscious.model import Memory
from subconscious.quoting import word

MOST_FILES = 3

CLAUDES_OWN = "a note of Claude's own"


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known, at the moment, of the files and branches that memories are bound to.

    ``outdated`` are the files of a memory that have changed since. ``merged`` are pairs of a memory and a branch that
    has what it was said about, ``apart`` those of a branch that has not; of others nothing is known yet.
    """

    outdated: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    apart: frozenset[tuple[int, str]] = frozenset()
    merged: frozenset[tuple[int, str]] = frozenset()


UNKNOWN = Standing()


def marks_of(memory: Memory, branch: str, standing: Standing = UNKNOWN) -> tuple[str, ...]:
    """The marks of a memory for somebody who works on ``branch``."""
    marks = [CLAUDES_OWN] if memory.is_claude_note else []
    if memory.branch and branch and memory.branch != branch and (memory.id, branch) not in standing.merged:
        known = (memory.id, branch) in standing.apart
        marks.append(f"on branch {word(memory.branch)}{', which is not merged here' if known else ''}")
    changed = [word(file) for file in standing.outdated.get(memory.id, ())[:MOST_FILES]]
    if changed:
        marks.append(f"may be outdated: {', '.join(changed)} changed since")
    return tuple(marks)


def lean(memory: Memory, branch: str, standing: Standing = UNKNOWN) -> float:
    """How much a branch prefers a memory: its own a little, one of a branch that is not merged a little less."""
    if not memory.branch or not branch:
        return 1.0
    if memory.branch == branch:
        return 1.1
    return 0.9 if (memory.id, branch) in standing.apart else 1.0
