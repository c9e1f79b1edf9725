"""Decides at the end of each turn and each session whether answers used the memories shown to the session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from uuid import uuid4

from subconscious.domain.model import Memory, Origin, Role, Turn
from subconscious.recall import run_commands, usage
from subconscious.recall.recall_context import RecallContext
from subconscious.store import memories, surfaces, unconfirmed
from subconscious.store.surfaces import PROACTIVE_EVENTS, Unjudged
from subconscious.supersession import confirmation
from subconscious.transcripts import State, read_turns
from subconscious.transcripts.utterances import WRITING

LATEST_BYTES = 512 * 1024
"""The maximum number of bytes read at a transcript's end: earlier answers have been examined already."""

CLOCK = 2.0
"""How many seconds the times in a transcript may be behind the daemon's clock."""

GIVEN = 1000
"""The maximum number of records of memories shown to a session that are examined."""

_, TOUCHED, _ = PROACTIVE_EVENTS
"""The event with which a file brings memories."""

Judged = tuple[Unjudged, str]


async def judge(ctx: RecallContext, session_id: str, path: str, last_said: str = "", *, final: bool = False) -> int:
    """Decide whether the latest answers used the memories shown before them; return the number of decisions.

    A memory shown at the start of a session counts as unused only at the session's end (``final``); a lesson or a
    pinned memory never does. ``last_said`` is the last answer as the hook reported it: the transcript may not contain it yet.
    """
    waiting = await surfaces.unjudged(ctx.database, session_id) if ctx.settings.feedback else []
    if not waiting:
        return 0
    known = await memories.get_many(ctx.database, [one.memory_id for one in waiting])
    turns = await asyncio.to_thread(_latest, path)
    judged = await asyncio.to_thread(_weighed, waiting, known, turns, last_said, final)
    act = uuid4().hex
    async with ctx.database.write() as tx:
        for surface, how in judged:
            await surfaces.judge(tx, surface, session_id, bool(how), how, act)
    return len(judged)


async def conclude(ctx: RecallContext, session_id: str) -> list[int]:
    """Confirm or retire the unconfirmed memories that were shown to a finished session.

    Returns the ids of the confirmed memories, which have to be added to the index.
    """
    given = [one.memory_id for one in await surfaces.listing(ctx.database, session_id=session_id, limit=GIVEN)]
    open_ones = await unconfirmed.among(ctx.database, given)
    if not open_ones:
        return []
    async with ctx.database.write() as tx:
        found = [await confirmation.conclude(tx, memory.id) for memory in open_ones]
    return [number for number in found if number is not None]


def _latest(path: str) -> Sequence[Turn]:
    """Return the last turns of a transcript. They are compared and not stored."""
    try:
        begin = max(0, Path(path).stat().st_size - LATEST_BYTES) if path else 0
        return read_turns(Path(path), begin, State(), final=True).turns if path else ()
    except OSError:
        return ()


def _weighed(
    waiting: Iterable[Unjudged], known: dict[int, Memory], turns: Sequence[Turn], last_said: str, final: bool
) -> list[Judged]:
    """Pair shown memories with a description of how an answer used them, or "" if unused; skip undecided ones."""
    asked = "\n".join(turn.text for turn in turns if turn.role is Role.USER and turn.origin is Origin.USER)
    requests = usage.Said([(0.0, asked)])
    own = [turn for turn in turns if turn.role is Role.ASSISTANT and not turn.sidechain]
    talk = usage.Said(
        [*((turn.time, "\n".join((turn.text, *turn.files))) for turn in own), (inf, last_said[-LATEST_BYTES:])]
    )
    commands = [(turn.time, command) for turn in own for command in turn.commands]
    ran = usage.Said(commands)
    judged = []
    for surface in waiting:
        memory, since = known.get(surface.memory_id), surface.at - CLOCK
        if memory is None:
            continue
        due = _without_undue(memory, [one for one in commands if one[0] >= since], ran)
        if max(talk.latest, due.latest) < since:
            continue
        how = usage.used(memory, requests, (talk, due), since) or _acted_upon(memory, surface, asked, own)
        if how or surface.event in PROACTIVE_EVENTS or (final and not (memory.pinned or memory.kind == "lesson")):
            judged.append((surface, how))
    return judged


def _without_undue(memory: Memory, commands: Sequence[tuple[float, str]], ran: usage.Said) -> usage.Said:
    """Return ``ran``, or the words of ``commands`` without those that the memory names but does not tell to run."""
    undue = {command for _, command in commands if run_commands.is_undue(memory, command)}
    return usage.Said(one for one in commands if one[1] not in undue) if undue else ran


def _acted_upon(memory: Memory, surface: Unjudged, asked: str, own: Sequence[Turn]) -> str:
    """Return how tool calls used a statement of the user that the session had received; "" if they did not.

    What the session had run or changed before does not count. A statement that a file brought is not used by changes of
    that file.
    """
    if memory.origin is not Origin.USER:
        return ""
    before = [turn for turn in own if turn.time < surface.at - CLOCK]
    after = own[len(before) :]
    earlier = "\n".join((asked, *(command for turn in before for command in turn.commands)))
    if how := run_commands.ran(memory, earlier, (command for turn in after for command in turn.commands)):
        return how
    known = "\n".join((asked, *(file for turn in before for file in turn.files)))
    writing = [turn for turn in after if WRITING.intersection(turn.tools) and surface.event != TOUCHED]
    return run_commands.changed(memory, known, ((file, turn.cwd) for turn in writing for file in turn.files))
