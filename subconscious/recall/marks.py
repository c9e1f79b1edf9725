"""Marks of a memory: its files have changed, it is from another branch, or it is an agent's own note.

Marks never hide a memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from subconscious.domain.model import Memory
from subconscious.text.quoting import word

MOST_FILES = 3

OWN_NOTE = "an agent's own note"


@dataclass(frozen=True, slots=True)
class WorktreeState:
    """The current state of the files and branches that memories are bound to.

    ``outdated`` maps memory ids to the files that have changed since the memory was stored. ``merged`` has pairs of a
    memory id and a branch that contains the memory's commit; ``apart`` has pairs with a branch that does not. Other
    pairs were not checked. ``renamed`` has pairs of a memory id and the new name of the branch that the memory names.
    """

    outdated: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    apart: frozenset[tuple[int, str]] = frozenset()
    merged: frozenset[tuple[int, str]] = frozenset()
    renamed: frozenset[tuple[int, str]] = frozenset()


UNKNOWN = WorktreeState()


def marks_of(memory: Memory, branch: str, state: WorktreeState = UNKNOWN) -> tuple[str, ...]:
    """Return the marks of a memory for work on ``branch``."""
    marks = [OWN_NOTE] if memory.is_claude_note else []
    if memory.branch and branch and memory.branch != branch and (memory.id, branch) not in state.merged:
        known = (memory.id, branch) in state.apart
        marks.append(f"on branch {word(memory.branch)}{', which is not merged here' if known else ''}")
    changed = [word(file) for file in state.outdated.get(memory.id, ())[:MOST_FILES]]
    if changed:
        marks.append(f"may be outdated: {', '.join(changed)} changed since")
    return tuple(marks)


def branch_factor(memory: Memory, branch: str, state: WorktreeState = UNKNOWN) -> float:
    """Return a factor for a memory's score: higher on its own branch, lower on a branch that it is not merged into."""
    if not memory.branch or not branch:
        return 1.0
    if memory.branch == branch:
        return 1.1
    return 0.9 if (memory.id, branch) in state.apart else 1.0
