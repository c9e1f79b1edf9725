"""Which failures and habits a prompt or a file shows to matter; see `surfacing.bound`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from subconscious.capture.draft import PRACTISED
from subconscious.flow.fitness import is_heard
from subconscious.flow.mind import Mind
from subconscious.model import Memory
from subconscious.store import memories, responses
from subconscious.surfacing.bound import binding_of
from subconscious.surfacing.files import Touched

LOOKED_AT = 50
"""Memories of a project that may be bound, the most seen first."""

LEAST, MOST = 0.8, 0.99
"""Strength of what one session showed, and of what many did."""

_FILE_TYPE = re.compile(r"`\.\w{1,10}`")

Bound = list[tuple[Memory, float]]


async def bindable(mind: Mind, project_id: str) -> list[Memory]:
    """Return the memories of a project that are given only where something shows that they matter."""
    known = await memories.bindable(mind.database, project_id, LOOKED_AT)
    return [memory for memory in known if binding_of(memory) is not None]


async def fitting_prompt(mind: Mind, known: list[Memory], text: str) -> Bound:
    """Return those that a prompt shows to matter, each with how strongly.

    A failure that the prompt leads to comes each time, a habit rests after some sessions: it shows in the code by then.
    """
    fits = [one for one in known if (bound := binding_of(one)) and bound.fits_prompt(text)]
    habits = await _awake(mind, [one for one in fits if one.extractor == PRACTISED])
    return _each_once(one for one in fits if one.extractor != PRACTISED or one.id in habits)


async def fitting_file(mind: Mind, known: list[Memory], touched: Touched) -> Bound:
    """Return those that a file shows to matter, each with how strongly.

    Nearly every session reads or changes such a file, so what sessions leave unheeded rests, as it does at starts.
    """
    fits = [one for one in known if (bound := binding_of(one)) and bound.fits_file(touched)]
    awake = await _awake(mind, fits)
    return _each_once(one for one in fits if one.id in awake)


async def _awake(mind: Mind, fits: list[Memory]) -> set[int]:
    """Return the ids of those that do not rest."""
    feedback = mind.settings.feedback and fits
    heard = await responses.of_memories(mind.database, [one.id for one in fits]) if feedback else {}
    return {one.id for one in fits if is_heard(one, heard.get(one.id, responses.NONE))}


def _each_once(found: Iterable[Memory]) -> Bound:
    """Of those that differ in the type of files alone, the first: what helps with ``.ts`` helps with ``.tsx``."""
    first: dict[str, Memory] = {}
    for memory in found:
        first.setdefault(_FILE_TYPE.sub("`.*`", memory.content), memory)
    return [(memory, _strength(memory)) for memory in first.values()]


def _strength(memory: Memory) -> float:
    """The more sessions showed it, the likelier it is needed again."""
    return MOST - (MOST - LEAST) / max(1, memory.recurrence)
