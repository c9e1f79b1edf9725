"""Whether answers used what was given: looked at when a turn ends, and when its session does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from uuid import uuid4

from subconscious.flow import confirming
from subconscious.flow.mind import Mind
from subconscious.model import Memory, Origin, Role, Turn
from subconscious.store import memories, surface_outcomes, surfaces, unconfirmed
from subconscious.store.surface_outcomes import Open
from subconscious.store.surfaces import UNASKED
from subconscious.surfacing import echo
from subconscious.transcripts import State, read_turns

LATEST_BYTES = 512 * 1024
"""The end of a transcript that a turn's answer stands in; what was said before was judged before."""

CLOCK = 2.0
"""Seconds by which the client's times may be behind ours."""

GIVEN = 1000
"""Surfaces of one session that are looked through."""

Judged = tuple[Open, str]


async def judge(mind: Mind, session_id: str, path: str, last_said: str = "", *, final: bool = False) -> int:
    """Judge what was given before the latest answers; how many surfaces were judged.

    What a session began with has until its end. ``last_said`` is the answer's end as the hook has it: the transcript
    lags behind.
    """
    waiting = await surface_outcomes.unjudged(mind.database, session_id) if mind.settings.feedback else []
    if not waiting:
        return 0
    known = await memories.get_many(mind.database, [one.memory_id for one in waiting])
    turns = await asyncio.to_thread(_latest, path)
    judged = await asyncio.to_thread(_weighed, waiting, known, turns, last_said, final)
    act = uuid4().hex
    async with mind.database.write() as tx:
        for surface, how in judged:
            await surface_outcomes.judge(tx, surface, session_id, bool(how), how, act)
    return len(judged)


async def conclude(mind: Mind, session_id: str) -> list[int]:
    """Confirm or retire the unconfirmed memories that a session was given, once it is over and read to its end.

    Returns those that are in force now: the index has to learn of them.
    """
    given = [one.memory_id for one in await surfaces.listing(mind.database, session_id=session_id, limit=GIVEN)]
    open_ones = await unconfirmed.among(mind.database, given)
    if not open_ones:
        return []
    async with mind.database.write() as tx:
        found = [await confirming.conclude(tx, memory.id) for memory in open_ones]
    return [number for number in found if number is not None]


def _latest(path: str) -> Sequence[Turn]:
    """The last turns of a transcript; their words are compared here and kept nowhere."""
    try:
        begin = max(0, Path(path).stat().st_size - LATEST_BYTES) if path else 0
        return read_turns(Path(path), begin, State(), final=True).turns if path else ()
    except OSError:
        return ()


def _weighed(
    waiting: Iterable[Open], known: dict[int, Memory], turns: Sequence[Turn], last_said: str, final: bool
) -> list[Judged]:
    """Which surfaces were used, and how; "" for those that an answer passed over."""
    asked = "\n".join(turn.text for turn in turns if turn.role is Role.USER and turn.origin is Origin.USER)
    own = [turn for turn in turns if turn.role is Role.ASSISTANT and not turn.sidechain]
    judged = []
    for surface in waiting:
        memory = known.get(surface.memory_id)
        after = [" ".join((turn.heard, *turn.files)) for turn in own if turn.time >= surface.at - CLOCK]
        answer = "\n".join((*after, last_said[-LATEST_BYTES:])).strip()
        if memory is None or not answer:
            continue
        how = echo.used(memory, asked, answer)
        if how or surface.event in UNASKED or (final and not (memory.pinned or memory.kind == "lesson")):
            judged.append((surface, how))
    return judged
