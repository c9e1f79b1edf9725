"""What has faded goes out of use, and what sessions work on stays."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, time
from typing import Any
from uuid import uuid4

from subconscious import decay
from subconscious.capture import wording
from subconscious.capture.examined import examined_text
from subconscious.decay import DAY, POLICIES, Facts, Policy, Terms, Verdict
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import Judged
from subconscious.model import Memory, Origin, Turn
from subconscious.search.words import names, terms
from subconscious.settings import Settings
from subconscious.store import corrections, events, fading, memories
from subconscious.store.connect import Database

from . import bulk_upkeep
from .core import Core

log = logging.getLogger("subconscious.daemon")

PAGE = 200
"""Memories whose facts are read at once."""
BATCH = 100
"""Memories that are archived in one transaction: nobody else waits long for theirs."""

RUN = ("fade", "store", "decay")
"""Action, subject and its id of the event that says that a run has come to its end."""

AGAIN = DAY / 2
"""The nightly job says when it is time; this only keeps what was done by hand from being done twice."""

CURVE_DAYS = 400


@dataclass(frozen=True, slots=True)
class Faded:
    """A memory with what is left of it."""

    id: int
    facts: Facts
    verdict: Verdict
    due: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What a run has done: how many it looked at, which it archived, how many are left for the next one."""

    looked: int
    archived: tuple[int, ...]
    left: int
    seconds: float


def rules(settings: Settings) -> tuple[Policy, Terms]:
    """The policy by which memories fade into the archive, and its terms."""
    return POLICIES[settings.archive_policy], Terms.of(settings)


async def archive_faded(core: Core, now: float) -> Report:
    """Archive what has faded, the most faded first, and no more at once than a person may want to look through.

    Each batch is a transaction of its own. A run that dies midway has nothing to resume: what it archived is no longer
    looked at, and the next run finds the rest.
    """
    begun = perf_counter()
    looked, found = await _find_due(core, now)
    return await _archive_found(core, looked, found, now, begun)


async def _find_due(core: Core, now: float) -> tuple[int, list[Faded]]:
    """How many memories were looked at, and those to archive, the most faded first."""
    looked, found = 0, []
    async for faded in survey(core.database, core.mind().settings, now):
        looked += 1
        found += [faded] if faded.due else []
        await asyncio.sleep(0) if looked % PAGE == 0 else None
    found.sort(key=lambda one: (one.verdict.value, one.facts.alive_at))
    return looked, found


async def _archive_found(core: Core, looked: int, found: Sequence[Faded], now: float, begun: float) -> Report:
    chosen, act = found[: core.mind().settings.archive_most], uuid4().hex
    archived: list[int] = []
    for batch in (chosen[start : start + BATCH] for start in range(0, len(chosen), BATCH)):
        archived += await _archive(core, [one.id for one in batch], now, act)
    async with core.database.write() as tx:
        await events.record(tx, *RUN, reason=f"{len(archived)} of {looked} archived, {len(found) - len(chosen)} left")
    return Report(looked, tuple(archived), len(found) - len(chosen), perf_counter() - begun)


async def daily(core: Core, now: float | None = None) -> Report | None:
    """Run once a day, if a person wants it to; None where nothing was due, or so much that the clock may be wrong."""
    at, begun = time() if now is None else now, perf_counter()
    if not core.mind().settings.archive_faded or abs(at - await events.last(core.database, *RUN)) < AGAIN:
        return None
    looked, found = await _find_due(core, at)
    if not await bulk_upkeep.may_run(core, bulk_upkeep.DECAY, len(found), looked):
        return None
    report = await _archive_found(core, looked, found, at, begun)
    if report.archived:
        log.info("%d memories have faded and were archived, %d are left", len(report.archived), report.left)
    return report


async def survey(
    database: Database, settings: Settings, now: float, project_id: str | None = None
) -> AsyncIterator[Faded]:
    """What is left of each active memory, in the order of their ids."""
    policy, chosen = rules(settings)
    after = 0
    while page := await fading.page(database, after, PAGE, project_id):
        for one in await asyncio.to_thread(_judged, page, policy, chosen, now):
            yield one
        after = max(page)


def _judged(page: Mapping[int, Facts], policy: Policy, chosen: Terms, now: float) -> list[Faded]:
    return [
        Faded(number, facts, decay.assess(policy, facts, now, chosen), decay.due(policy, facts, now, chosen))
        for number, facts in page.items()
    ]


async def _archive(core: Core, ids: Sequence[int], now: float, act: str) -> list[int]:
    """Archive those that are still due: one may have been used since it was looked at."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    policy, chosen = rules(core.mind().settings)
    due = {one.id: one for one in _judged(await fading.facts(core.database, ids), policy, chosen, now) if one.due}
    known = await memories.get_many(core.database, list(due))
    async with core.database.write() as tx:
        done = [
            memory.id
            for memory in known.values()
            if await memories.archive(tx, memory, "daemon", told(due[memory.id].verdict), act)
        ]
        await vectors.activate(tx, done, False)
    await core.embedding.refresh(done)
    return done


def told(verdict: Verdict) -> str:
    """Why a memory goes, for its history."""
    parts = ", ".join(f"{name} {value:.2f}" for name, value in verdict.factors.items()) or verdict.why
    return f"{fading.FADED}: {verdict.value:.2f} left ({parts})"


async def touched(mind: Mind, project_id: str, turns: Sequence[Turn], judged: Iterable[Judged]) -> list[int]:
    """The memories whose files or topics these turns worked on."""
    if not mind.settings.capture:
        return []
    # In a thread, and of each message what capture examines: a pasted megabyte would hold up all answers.
    files, topics = await asyncio.to_thread(_worked_on, turns, judged)
    return await fading.about(mind.database, project_id, files, topics) if files or topics else []


def _worked_on(turns: Sequence[Turn], judged: Iterable[Judged]) -> tuple[set[str], set[str]]:
    """Return the files and topics that turns are about."""
    spoken = [examined_text(turn.text) for turn in turns if turn.origin is Origin.USER]
    topics = {word for text in spoken for word in (*terms(text), *names(text))}
    topics.update(tag.casefold() for candidate, _ in judged for tag in candidate.tags)
    return {file for turn in turns for file in turn.files}.union(*map(wording.files, spoken)), topics


async def one(core: Core, memory: Memory, now: float) -> dict[str, Any]:
    """All that decay knows of one memory, and how it will go on if nobody touches it."""
    policy, chosen = rules(core.mind().settings)
    facts = (await fading.facts(core.database, [memory.id]))[memory.id]
    said = (await corrections.counts(core.database, [memory.id])).get(memory.id, {})
    verdict = decay.assess(policy, facts, now, chosen)
    return {
        "memory": asdict(memory),
        "state": decay.state_of(_recalled(facts, now, chosen), archived=memory.archived_at is not None),
        **_plain(verdict),
        "facts": asdict(facts),
        "half_life": chosen.half_life(facts.kind),
        "patience": decay.patience(facts, chosen),
        "due_in_days": decay.days_until_due(policy, facts, now, chosen) if memory.archived_at is None else None,
        "feedback": said,
        "effective_confidence": decay.effective(memory.confidence, said, pinned=memory.pinned),
        "corrections": await corrections.of(core.database, memory.id),
        "curve": curve(policy, facts, facts.alive_at, chosen),
        "below": chosen.below,
    }


async def preview(core: Core, project_id: str | None, now: float, limit: int) -> dict[str, Any]:
    """What a run would archive now, and why; how the others are."""
    settings = core.mind().settings
    _, chosen = rules(settings)
    found = [faded async for faded in survey(core.database, settings, now, project_id)]
    due = sorted((faded for faded in found if faded.due), key=lambda faded: faded.verdict.value)
    states = [decay.state_of(_recalled(faded.facts, now, chosen)) for faded in found]
    known = await memories.get_many(core.database, [faded.id for faded in due[:limit]])
    return {
        "due": [
            {"memory": asdict(known[faded.id]), "unused_days": _unused(faded.facts, now), **_plain(faded.verdict)}
            for faded in due[:limit]
            if faded.id in known
        ],
        "total": len(due),
        "active": len(found),
        "states": {name: states.count(name) for name, _ in decay.STATES},
        "curve": curve(rules(settings)[0], Facts("decision", now), now, chosen),
    }


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {"value": verdict.value, "factors": dict(verdict.factors), "why": verdict.why}


def _recalled(facts: Facts, now: float, chosen: Terms) -> float:
    """States go by how likely a memory would come to mind, whatever policy archives."""
    return decay.assess(POLICIES["composite"], facts, now, chosen).value


def _unused(facts: Facts, now: float) -> float:
    return max(0.0, (now - facts.alive_at) / DAY)


def curve(policy: Policy, facts: Facts, begin: float, chosen: Terms) -> list[tuple[int, float]]:
    """What is left by the day, if nobody touches it."""
    days = range(0, CURVE_DAYS + 1, 5)
    return [(day, decay.assess(policy, facts, begin + day * DAY, chosen).value) for day in days]
