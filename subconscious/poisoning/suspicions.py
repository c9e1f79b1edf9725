"""Explains why memories and captures may be poisoned, for the person who decides about them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from subconscious.domain.model import Candidate, Evidence, Level, Memory, Strength, Verdict
from subconscious.poisoning import check
from subconscious.poisoning.gate import screen
from subconscious.store import captures, memories, poison
from subconscious.store.connect import Database
from subconscious.wire import memories as wire
from subconscious.wire.fields import fields_of
from subconscious.wire.history import Event, Suspicion

MAX_REASONS = 3


def suspicion(capture: Mapping[str, Any]) -> str:
    """Return the reasons why a capture may be poisoned, in a few words; "" if there are none."""
    if capture["level"] == Level.NONE:
        return ""
    reasons = dict.fromkeys(f"{found['threat']}, {found['why']}" for found in capture["verdict"])
    why = "; ".join(list(reasons)[:MAX_REASONS])
    return f"suspicion {capture['level']}: {why}" if why else f"suspicion {capture['level']}"


def noted(why: str | None) -> Suspicion:
    """Return a suspicion as a field to add to a row of a response; no field if ``why`` is empty."""
    return {"suspicion": why} if why else {}


async def of_memories(database: Database, found: Sequence[Memory]) -> dict[int, str]:
    """Return, by id, why memories may be poisoned: because of their captures; failing that, by the latest check.

    Memories without suspicion are left out. A person's approval does not remove the suspicion, because the words are
    unchanged; a release from quarantine does.
    """
    ids = [memory.id for memory in found]
    known = {one["memory_id"] or 0: suspicion(one) for one in await captures.suspected_of(database, ids)}
    flagged = await poison.levels(database, [number for number in ids if number not in known])
    unexplained = [memory for memory in found if memory.id in flagged]
    return known | await asyncio.to_thread(_explained, unexplained, flagged)


async def of_ids(database: Database, ids: Iterable[int]) -> dict[int, str]:
    """Return why the memories with these ids may be poisoned, by id."""
    found = await memories.get_many(database, list(ids))
    return await of_memories(database, list(found.values()))


async def with_suspicions(database: Database, found: Sequence[Memory]) -> list[wire.Memory]:
    """Return memories in the form of a response, with the reasons why they may be poisoned."""
    suspected = await of_memories(database, found)
    return [fields_of(wire.Memory, memory, **noted(suspected.get(memory.id))) for memory in found]


async def of_events(database: Database, events: Iterable[Event]) -> dict[tuple[str, str], str]:
    """Return why the memories and captures that events are about may be poisoned, by subject and id."""
    about = {(event["subject"], event["subject_id"]) for event in events}
    numbers = {name: [int(number) for subject, number in about if subject == name] for name in ("capture", "memory")}
    found = await memories.get_many(database, numbers["memory"])
    by_memory = await of_memories(database, list(found.values()))
    by_capture = {one["id"]: suspicion(one) for one in await captures.get_many(database, numbers["capture"])}
    reasons = {("memory", str(number)): why for number, why in by_memory.items()}
    return reasons | {("capture", str(number)): why for number, why in by_capture.items() if why}


def verdict_on(memory: Memory) -> Verdict:
    """Check a stored memory with the current rules, like a capture, and return the verdict."""
    return screen(as_candidate(memory), check)


def _explained(found: Sequence[Memory], levels: Mapping[int, Level]) -> dict[int, str]:
    """Return the suspicion by memory id: the stored level, with the reasons that the current rules give, if any."""
    return {memory.id: _with_level(verdict_on(memory), levels[memory.id]) for memory in found}


def of_verdict(verdict: Verdict | None) -> str:
    """Return why a text that is not stored yet may be poisoned; "" if nothing was found or it was not checked."""
    return _with_level(verdict, verdict.level) if verdict else ""


def _with_level(verdict: Verdict, level: Level) -> str:
    return suspicion({"level": level, "verdict": [asdict(finding) for finding in verdict.findings]})


def as_candidate(memory: Memory) -> Candidate:
    """Return a stored memory as a candidate, the form that the poisoning check needs."""
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
