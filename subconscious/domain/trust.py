"""Computes how far a memory can be trusted. Pure; docs/protocol.md has the rules as a table.

The origin of the text determines the highest trust that is possible without a person's verification. Each reason
to doubt lowers the trust by one step. Frequent repetition cancels one step for staleness or low confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from subconscious.domain.model import Level, Memory, Origin


class Trust(StrEnum):
    """How far a memory can be trusted. Values are listed from the most to the least trusted."""

    VERIFIED = "VERIFIED"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"
    SUSPECT = "SUSPECT"


@dataclass(frozen=True, slots=True)
class Repute:
    """A memory's reliability: its trust, the memories that conflict with it, the memories that replaced it.

    ``stale`` means that the memory has not been stated or used for a long time.
    """

    trust: Trust
    conflicts: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()
    stale: bool = False


REACH = {Origin.USER: Trust.HIGH, Origin.ASSISTANT: Trust.MEDIUM, Origin.TEAMMATE: Trust.LOW, Origin.TOOL: Trust.LOW}
"""The highest trust for each origin before a person has verified the memory."""

SURE = 0.7
"""The confidence below which a memory's trust is lowered; by default, the admission gate discards such candidates."""
OFTEN = 3
"""The number of times a memory must have been stated for the repetition to cancel one step of doubt."""


def trust_of(memory: Memory, *, level: Level = Level.NONE, disputed: bool = False, stale: bool = False) -> Trust:
    """Return the trust of a memory.

    ``level`` is the result of the poisoning check. ``disputed`` means that another memory contradicts or replaces the
    memory. A memory that a person has verified is trusted most, unless the text looks like an attack that the person
    may have missed.
    """
    if level.rank >= Level.HIGH.rank or (level is Level.MEDIUM and not memory.verified):
        return Trust.SUSPECT
    if memory.verified:
        return Trust.VERIFIED
    faded = (memory.confidence < SURE) + stale
    forgiven = min(faded, int(memory.recurrence >= OFTEN))
    return _lowered(REACH[memory.origin], faded - forgiven + disputed + (level is Level.LOW))


def _lowered(trust: Trust, steps: int) -> Trust:
    """Return a trust lowered by some steps, but not below LOW: doubt alone does not make a memory suspect."""
    order = list(Trust)
    return order[min(order.index(trust) + steps, order.index(Trust.LOW))]
