"""The poisoning check after the fact: looks again at what is stored, asks a model about what was flagged.

Bounded in each round; everything it does is an event, and nothing is deleted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import aiosqlite

from subconscious.model import Finding, Level, Memory, Threat, Verdict
from subconscious.poisoning import check, rules_version
from subconscious.poisoning.gate import screen, told
from subconscious.poisoning.second import TOLD, VERSION, second_look
from subconscious.providers import Ask
from subconscious.store import captures, consolidations, decisions, memories, merges, poison
from subconscious.store.capture_rows import QUARANTINED, Place

from .aside import LONGEST, QUIET, aside
from .core import Core
from .suspicions import as_candidate

log = logging.getLogger("subconscious.daemon")

CHECKED_A_ROUND = 100
CHECKED_AT_ONCE = 10
ASKED_A_ROUND = 4
LOOKED_AT = 100
"""Flagged notes that one round considers: those of sessions without a key are skipped."""
HELD = (Level.HIGH, Level.CRITICAL)


async def look_again(core: Core) -> int:
    """Check the memories that were never checked with the present rules; set the dangerous ones apart."""
    if not core.in_force(core.settings).poisoning:
        return 0
    found = await poison.unchecked(core.database, await asyncio.to_thread(rules_version), CHECKED_A_ROUND)
    gone: list[int] = []
    apart = 0
    for start in range(0, len(found), CHECKED_AT_ONCE):
        await aside(core, QUIET, LONGEST)
        judged = await asyncio.to_thread(_judge, found[start : start + CHECKED_AT_ONCE])
        changed: set[str | None] = set()
        async with core.database.write() as tx:
            for memory, verdict in judged:
                left, otherwise = await note_check(tx, memory, verdict)
                gone += left
                apart += bool(left)
                changed |= {memory.project_id} if otherwise else set()
        core.flagged |= changed
    if gone:
        await core.embedding.refresh(gone)
        log.warning("%d memories were set apart: `subconscious review --status quarantined`", apart)
    return apart


async def note_check(tx: aiosqlite.Connection, memory: Memory, verdict: Verdict) -> tuple[list[int], bool]:
    """Put a check on record; which memories leave or come back with the one that it sets apart, that one among them.

    And whether more or less was found than before: no event tells of that.
    """
    left = await _set_apart(tx, memory, verdict) if verdict.level in HELD else []
    # A check that failed has no rules; it must not be tried in every round.
    otherwise = await poison.note_checked(tx, memory.id, replace(verdict, rules=verdict.rules or rules_version()))
    return left, otherwise


def _judge(found: Sequence[Memory]) -> list[tuple[Memory, Verdict]]:
    return [(memory, screen(as_candidate(memory), check)) for memory in found]


async def _set_apart(tx: aiosqlite.Connection, memory: Memory, verdict: Verdict) -> list[int]:
    """Take a memory out of use until a person decides, and what sums it up with it; return what the indexes must learn.

    What was merged into it says it again, if it is harmless. Nothing where none of its captures is there to decide on.
    """
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    bound = await captures.of_memory(tx, memory.id)
    if not bound and memory.project_id is None:
        return []
    why = f"looked at again: {told(verdict)}"
    if bound:
        await decisions.quarantine(tx, bound[0], verdict, why)
    else:
        place = Place(str(memory.project_id), memory.session_id)
        await captures.insert_held(tx, as_candidate(memory), verdict, place, why, memory.id)
    await memories.archive(tx, memory, "daemon", why)
    fallen = await consolidations.fall(tx, [memory.id], "daemon", "it may be poisoned")
    gone = [memory.id, *fallen]
    await vectors.activate(tx, gone, False)
    back = [one for one in await merges.under(tx, [memory.id]) if screen(as_candidate(one)).level is Level.NONE]
    await merges.give_back(tx, back, "daemon", f"memory {memory.id}, which it was merged into, may be poisoned")
    return [*gone, *(one.id for one in back)]


async def ask_again(core: Core) -> int:
    """Ask a model about what was flagged and waits; without a model what was flagged waits as it is."""
    if not core.has_model or not core.in_force(core.settings).poisoning:
        return 0
    changed, looks = 0, SecondLooks(core)
    for capture in await captures.unseconded(core.database, VERSION, LOOKED_AT):
        verdict = await looks.take(capture["session_id"] or "", capture, verdict_of(capture))
        if verdict is not None:
            async with core.database.write() as tx:
                await _weigh(core, tx, capture["id"], verdict)
            changed += 1
    return changed + await _ask_about_stored(core)


class SecondLooks:
    """The questions of one round: a few, each with the key that holds for the session that it is about."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._silent: set[str] = set()
        self._answered = 0

    def open_to(self, session_id: str) -> Ask | None:
        """Return how to ask about a session, or None if this round has no question left for it."""
        if ASKED_A_ROUND in (self._answered, len(self._silent)) or session_id in self._silent:
            return None
        return self._core.ask_for(session_id)

    async def take(self, session_id: str, note: dict[str, Any], verdict: Verdict) -> Verdict | None:
        """Ask about one flagged note; return None if there is no answer in this round.

        A session that gets no answer, because it reached its cap for instance, must not block the others.
        """
        if (ask := self.open_to(session_id)) is None:
            return None
        found = await second_look(ask, note, verdict)
        if found is None:
            self._silent.add(session_id)
        else:
            self._answered += 1
        return found


async def _ask_about_stored(core: Core) -> int:
    """Ask about memories that a later look has flagged; what a model holds for dangerous is set apart."""
    gone: list[int] = []
    apart, looks = 0, SecondLooks(core)
    for memory in await poison.flagged(core.database, VERSION, LOOKED_AT):
        if looks.open_to(memory.session_id or "") is None:
            continue
        candidate = as_candidate(memory)
        note = {name: getattr(candidate, name) for name in TOLD} | {"evidence": memory.evidence}
        verdict = await looks.take(memory.session_id or "", note, await asyncio.to_thread(screen, candidate))
        if verdict is None:
            continue
        async with core.database.write() as tx:
            if verdict.level in HELD and (left := await _set_apart(tx, memory, verdict)):
                gone += left
                apart += 1
            otherwise = await poison.note_seconded(tx, memory.id, verdict.level.value, VERSION)
        core.flagged |= {memory.project_id} if otherwise else set()
    if gone:
        await core.embedding.refresh(gone)
    return apart


def verdict_of(capture: dict[str, Any]) -> Verdict:
    """The verdict that a capture was stored with."""
    findings = tuple(
        Finding(**one | {"threat": Threat(one["threat"]), "level": Level(one["level"])}) for one in capture["verdict"]
    )
    return Verdict(Level(capture["level"]), findings, capture["rules"])


async def _weigh(core: Core, tx: aiosqlite.Connection, capture_id: int, verdict: Verdict) -> None:
    """Let an opinion move a capture between queue and quarantine, unless a person was quicker."""
    capture = await captures.held(tx, capture_id)
    if capture["status"] not in ("review", QUARANTINED):
        return
    await decisions.rejudge(tx, capture_id, verdict, VERSION)
    held = verdict.level in HELD
    if held and capture["status"] == "review":
        await decisions.quarantine(tx, capture, verdict, told(verdict))
    elif not held and capture["status"] == QUARANTINED and capture["memory_id"] is None:
        days = core.settings.review_expiry_days
        await decisions.reopen(tx, capture, "review", days, "second look", told(verdict), actor="daemon")
