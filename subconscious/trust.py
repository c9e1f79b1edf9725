"""How far a memory can be trusted: a pure function; docs/protocol.md has it as a table.

Whose words they are sets the most that they can reach without a person. Reasons to doubt take it down a step each;
that it was said again and again takes back one of those that time and a weak capture gave it.
"""

from __future__ import annotations

from subconscious.model import Level, Memory, Origin, Trust

REACH = {Origin.USER: Trust.HIGH, Origin.ASSISTANT: Trust.MEDIUM, Origin.TOOL: Trust.LOW}
"""The most that words of an origin reach while no person has answered for them."""

SURE = 0.7
"""Confidence below which a memory is doubted: it would have been discarded at the gate."""
OFTEN = 3
"""Times said from which on a memory is no accident."""

ORDINARY = frozenset({Trust.VERIFIED, Trust.HIGH, Trust.MEDIUM})
"""What nobody needs to be told."""


def trust_of(memory: Memory, *, level: Level = Level.NONE, disputed: bool = False, stale: bool = False) -> Trust:
    """Weigh a memory: ``level`` is what the poisoning check says, ``disputed`` that another contradicts or replaces it.

    A person's word settles it, unless it looks like an attack that they may not have seen for one.
    """
    if level.rank >= Level.HIGH.rank or (level is Level.MEDIUM and not memory.verified):
        return Trust.SUSPECT
    if memory.verified:
        return Trust.VERIFIED
    faded = (memory.confidence < SURE) + stale
    forgiven = min(faded, int(memory.recurrence >= OFTEN))
    return _lowered(REACH[memory.origin], faded - forgiven + disputed + (level is Level.LOW))


def _lowered(trust: Trust, steps: int) -> Trust:
    """So many steps less, but no suspect: that takes more than doubt."""
    order = list(Trust)
    return order[min(order.index(trust) + steps, order.index(Trust.LOW))]
