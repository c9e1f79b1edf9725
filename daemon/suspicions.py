"""Why memories and captures look poisoned, for the screens on which a person decides about them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from subconscious.model import Candidate, Evidence, Level, Memory, Strength, Verdict
from subconscious.poisoning import check
from subconscious.poisoning.gate import screen
from subconscious.store import captures, memories, poison

from .core import Core

Event = Mapping[str, Any]


def suspicion(capture: Mapping[str, Any]) -> str:
    """Why a capture looks poisoned, in a few words; "" where it does not."""
    if capture["level"] == Level.NONE:
        return ""
    why = "; ".join(f"{found['threat']}, {found['why']}" for found in capture["verdict"][:3])
    return f"suspicion {capture['level']}: {why}" if why else f"suspicion {capture['level']}"


def noted(why: str | None) -> dict[str, str]:
    """What an answer has besides about what looks poisoned; nothing about what does not."""
    return {"suspicion": why} if why else {}


async def of_memories(core: Core, found: Sequence[Memory]) -> dict[int, str]:
    """Why these memories look poisoned, by id: as their captures say, else as the latest check does.

    A person's approval does not end it, for the words are the same; a release from quarantine does.
    """
    ids = [memory.id for memory in found]
    known = {one["memory_id"]: suspicion(one) for one in await captures.suspected_of(core.database, ids)}
    flagged = await poison.levels(core.database, [number for number in ids if number not in known])
    unexplained = [memory for memory in found if memory.id in flagged]
    return known | await asyncio.to_thread(_explained, unexplained, flagged)


async def of_events(core: Core, events: Iterable[Event]) -> dict[tuple[str, str], str]:
    """Why the memories and captures that events are about look poisoned, by subject and id."""
    about = {(event["subject"], event["subject_id"]) for event in events}
    numbers = {name: [int(number) for subject, number in about if subject == name] for name in ("capture", "memory")}
    held = await memories.get_many(core.database, numbers["memory"])
    by_memory = await of_memories(core, list(held.values()))
    by_capture = {one["id"]: suspicion(one) for one in await captures.many(core.database, numbers["capture"])}
    told = {("memory", str(number)): why for number, why in by_memory.items()}
    return told | {("capture", str(number)): why for number, why in by_capture.items() if why}


def verdict_on(memory: Memory) -> Verdict:
    """Check a stored memory as its capture was checked."""
    return screen(as_candidate(memory), check)


def _explained(found: Sequence[Memory], levels: Mapping[int, Level]) -> dict[int, str]:
    """The reasons of levels on record; a level that today's rules do not give is told without one."""
    return {memory.id: _told(verdict_on(memory), levels[memory.id]) for memory in found}


def _told(verdict: Verdict, level: Level) -> str:
    return suspicion({"level": level, "verdict": [asdict(finding) for finding in verdict.findings]})


def as_candidate(memory: Memory) -> Candidate:
    """A stored memory as the check reads candidates."""
    return Candidate(
        kind=memory.kind,
        summary=memory.summary,
        content=memory.content,
        evidence=Evidence(memory.evidence, memory.turn_id, memory.transcript, memory.byte_start, memory.byte_end),
        origin=memory.origin,
        strength=Strength.IMPLIED,
        raw_confidence=memory.raw_confidence,
        extractor=memory.extractor,
        time=memory.said_at,
        scope=memory.scope,
        rationale=memory.rationale,
        sentiment=memory.sentiment,
        branch=memory.branch,
        tags=memory.tags,
        files=memory.files,
    )
