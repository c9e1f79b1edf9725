"""Results of the requests about decay, as they are sent over the socket."""

from __future__ import annotations

from typing import TypedDict

from subconscious.wire.history import Suspicion
from subconscious.wire.memories import Memory


class Facts(TypedDict):
    """The properties of a memory that decay depends on."""

    kind: str
    alive_at: float
    touched_at: float
    uses: int
    recurrence: int
    citations: int
    superseded: bool
    pinned: bool
    importance: str
    stability: float


class Verdict(TypedDict):
    """The decay value of a memory (1: fresh, 0: gone) and its factors; ``why`` says why there are no factors."""

    value: float
    factors: dict[str, float]
    why: str


class DueMemory(Verdict):
    """A memory that the next run archives."""

    memory: Memory
    unused_days: float


Curve = list[tuple[int, float]]
"""Pairs of a number of days and the decay value after that time. In JSON, each pair is a list."""


class ComingMemory(TypedDict):
    """A memory that a later run will archive if nobody uses it before."""

    memory: Memory
    due_in_days: int


class Preview(TypedDict):
    """Memories that a run would archive now, memories that a later run would archive, and counts by state."""

    next: list[ComingMemory]
    due: list[DueMemory]
    total: int
    active: int
    states: dict[str, int]
    curve: Curve


class DecayPreview(Preview):
    """Response to the request ``decay`` without an id. Memories with a value below ``below`` are archived."""

    policy: str
    below: float


class CorrectionRow(TypedDict):
    """A correction that changed a memory or created it."""

    id: int
    memory_id: int
    replacement_id: int | None
    way: str
    reason: str
    created_at: float


class MemoryDecay(Verdict):
    """Response to the request ``decay`` for one memory: its facts, and how it decays if it is not used again."""

    memory: Memory
    state: str
    facts: Facts
    half_life: float | None
    patience: float
    due_in_days: int | None
    feedback: dict[str, int]
    effective_confidence: float
    corrections: list[CorrectionRow]
    curve: Curve
    below: float


class FadedMemory(Suspicion):
    """A memory that was archived because it had faded."""

    id: int
    kind: str
    summary: str
    archived_at: float
    reason: str


class FadedResult(TypedDict):
    """Response to the request ``faded``."""

    memories: list[FadedMemory]


class FadeResult(TypedDict):
    """Response to ``fade``: how many memories were checked, which were archived, how many wait for the next run."""

    looked: int
    archived: list[int]
    left: int
    seconds: float


class ResetDecayResult(TypedDict):
    """Response to the request ``reset_decay``: the number of memories whose decay was reset."""

    reset: int
