"""How far a memory can be trusted: a pure function; docs/protocol.md has it as a table.

The origin of the words sets the highest trust that is possible without a person. Each reason to doubt lowers it by one
step; frequent repetition cancels one step of those for staleness or low confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from subconscious.domain.model import Level, Memory, Origin


class Trust(StrEnum):
    """How far a memory can be trusted, from most to least."""

    VERIFIED = "VERIFIED"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"
    SUSPECT = "SUSPECT"


@dataclass(frozen=True, slots=True)
class Repute:
    """Facts about a memory's reliability: its trust, memories that conflict with it, memories that replaced it.

    ``stale``: not said or used for a long time.
    """

    trust: Trust
    conflicts: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()
    stale: bool = False


REACH = {Origin.USER: Trust.HIGH, Origin.ASSISTANT: Trust.MEDIUM, Origin.TEAMMATE: Trust.LOW, Origin.TOOL: Trust.LOW}
"""The highest trust for each origin before a person has verified the memory."""

SURE = 0.7
"""Confidence below which a memory is doubted: the gate would have discarded it."""
OFTEN = 3
"""Number of times said from which repetition counts."""


def trust_of(memory: Memory, *, level: Level = Level.NONE, disputed: bool = False, stale: bool = False) -> Trust:
    """The trust of a memory.

    ``level`` is the result of the poisoning check; ``disputed``: another memory contradicts or replaces it. A person's
    verification settles it, unless the text looks like an attack that they may have missed.
    """
    if level.rank >= Level.HIGH.rank or (level is Level.MEDIUM and not memory.verified):
        return Trust.SUSPECT
    if memory.verified:
        return Trust.VERIFIED
    faded = (memory.confidence < SURE) + stale
    forgiven = min(faded, int(memory.recurrence >= OFTEN))
    return _lowered(REACH[memory.origin], faded - forgiven + disputed + (level is Level.LOW))


def _lowered(trust: Trust, steps: int) -> Trust:
    """Lower a trust by some steps, at most to LOW: doubt alone does not make a memory suspect."""
    order = list(Trust)
    return order[min(order.index(trust) + steps, order.index(Trust.LOW))]
