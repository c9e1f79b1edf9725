"""Archives memories that have faded, and describes the decay of a memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter, time
from uuid import uuid4

from subconscious import decay
from subconscious.app import App
from subconscious.context import bulk_limit
from subconscious.decay import DAY, POLICIES, Facts, Policy, Terms, Verdict
from subconscious.domain.model import Memory
from subconscious.settings.settings import Settings
from subconscious.store import corrections, events, fading, memories
from subconscious.store.connect import Database
from subconscious.wire import decay as wire
from subconscious.wire.fields import fields_of
from subconscious.wire.memories import memory_fields

log = logging.getLogger("subconscious.memories")

PAGE = 500
"""The number of memories that one query reads, with the properties that their decay depends on."""
BATCH = 100
"""The number of memories that are archived per transaction, so that other writers do not wait long."""

RUN_EVENT = ("fade", "store", "decay")
"""Action, subject and subject id of the event that records a completed run."""

MIN_INTERVAL = DAY / 2
"""The shortest time between two runs, in seconds. It prevents a nightly run soon after a manual one."""

CURVE_DAYS = 400


@dataclass(frozen=True, slots=True)
class FadingMemory:
    """A memory with its decay; ``due`` is true if the memory should be archived now."""

    id: int
    facts: Facts
    verdict: Verdict
    due: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run of archiving.

    ``looked`` is the number of examined memories, ``archived`` are the ids of the archived ones, ``left`` is the number
    of faded memories left for the next run, ``seconds`` the duration.
    """

    looked: int
    archived: tuple[int, ...]
    left: int
    seconds: float


def policy_of(settings: Settings) -> tuple[Policy, Terms]:
    """Return the archive policy, and the parameters of the decay formulas, that the settings define."""
    return POLICIES[settings.archive_policy], terms_of(settings)


def terms_of(settings: Settings) -> Terms:
    """Return the parameters of the decay formulas that the settings define."""
    return Terms(
        recency=settings.decay_recency,
        frequency=settings.decay_frequency,
        relevance=settings.decay_relevance,
        supersession=settings.decay_supersession,
        half_lives=settings.half_lives,
        below=settings.archive_below,
        patience=settings.archive_patience,
        rate=settings.ranking_decay,
        stale_days=settings.stale_days,
        stale_factor=settings.stale_factor,
    )


async def archive_faded(app: App, now: float) -> Report:
    """Archive faded memories, the most faded first, but no more than the setting ``archive_most``.

    Each batch is one transaction. After an interrupted run, the next run archives the rest.
    """
    started = perf_counter()
    looked, found = await _find_due(app, now)
    return await _archive_found(app, looked, found, now, started)


async def _find_due(app: App, now: float) -> tuple[int, list[FadingMemory]]:
    """Return the number of examined memories, and the memories to archive, the most faded first."""
    looked, found = 0, []
    async for faded in survey(app.database, app.recall_context().settings, now):
        looked += 1
        found += [faded] if faded.due else []
        await asyncio.sleep(0) if looked % PAGE == 0 else None
    found.sort(key=lambda memory_decay: (memory_decay.verdict.value, memory_decay.facts.alive_at))
    return looked, found


async def _archive_found(app: App, looked: int, found: Sequence[FadingMemory], now: float, started: float) -> Report:
    decay_terms, act = found[: app.recall_context().settings.archive_most], uuid4().hex
    archived: list[int] = []
    for batch in (decay_terms[start : start + BATCH] for start in range(0, len(decay_terms), BATCH)):
        archived += await _archive(app, [memory_decay.id for memory_decay in batch], now, act)
    async with app.database.write() as tx:
        await events.record(
            tx, *RUN_EVENT, reason=f"{len(archived)} of {looked} archived, {len(found) - len(decay_terms)} left"
        )
    return Report(looked, tuple(archived), len(found) - len(decay_terms), perf_counter() - started)


async def daily(app: App, now: float | None = None) -> Report | None:
    """Archive faded memories; return None if that is switched off, or if the last run was less than half a day ago.

    If so many memories have faded that the clock may be wrong, nothing is archived, and None is returned as well.
    """
    at, started = time() if now is None else now, perf_counter()
    if (
        not app.recall_context().settings.archive_faded
        or abs(at - await events.last_time(app.database, *RUN_EVENT)) < MIN_INTERVAL
    ):
        return None
    looked, found = await _find_due(app, at)
    if not await bulk_limit.may_run(app.database, bulk_limit.DECAY, len(found), looked):
        return None
    report = await _archive_found(app, looked, found, at, started)
    if report.archived:
        log.info("%d memories have faded and were archived, %d more are due", len(report.archived), report.left)
    return report


async def survey(database: Database, settings: Settings, now: float) -> AsyncIterator[FadingMemory]:
    """Yield each active memory with its decay, in the order of ids."""
    policy, decay_terms = policy_of(settings)
    after = 0
    while page := await fading.page(database, after, PAGE):
        for memory_decay in await asyncio.to_thread(_assessed, page, policy, decay_terms, now):
            yield memory_decay
        after = max(page)


def _assessed(page: Mapping[int, Facts], policy: Policy, decay_terms: Terms, now: float) -> list[FadingMemory]:
    verdicts = {number: decay.assess(policy, facts, now, decay_terms) for number, facts in page.items()}
    return [
        FadingMemory(number, facts, verdicts[number], decay.is_due(verdicts[number], facts, now, decay_terms))
        for number, facts in page.items()
    ]


async def _archive(app: App, ids: Sequence[int], now: float, act: str) -> list[int]:
    """Archive those memories that are still faded (some may have been used since the check); return their ids."""
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    policy, decay_terms = policy_of(app.recall_context().settings)
    due = {
        memory_decay.id: memory_decay
        for memory_decay in _assessed(await fading.facts(app.database, ids), policy, decay_terms, now)
        if memory_decay.due
    }
    known = await memories.get_many(app.database, list(due))
    async with app.database.write() as tx:
        done = [
            memory.id
            for memory in known.values()
            if await memories.archive(tx, memory, "daemon", archive_reason(due[memory.id].verdict), act)
        ]
        await vectors.activate(tx, done, False)
    await app.embedding.refresh(done)
    return done


def archive_reason(verdict: Verdict) -> str:
    """Return the reason for archiving a memory, for its history."""
    parts = ", ".join(f"{name} {value:.2f}" for name, value in verdict.factors.items()) or verdict.why
    return f"{fading.FADED}: {verdict.value:.2f} left ({parts})"


async def memory_decay(app: App, memory: Memory, now: float) -> wire.MemoryDecay:
    """Return a memory's decay, the facts it depends on, and its curve from its last use if it is not used again."""
    policy, decay_terms = policy_of(app.recall_context().settings)
    facts = (await fading.facts(app.database, [memory.id]))[memory.id]
    feedback_counts = (await corrections.counts(app.database, [memory.id])).get(memory.id, {})
    verdict = decay.assess(policy, facts, now, decay_terms)
    return {
        "memory": memory_fields(memory),
        "state": decay.state_of(_recalled(facts, now, decay_terms), archived=memory.archived_at is not None),
        **fields_of(wire.Verdict, verdict),
        "facts": fields_of(wire.Facts, facts),
        "half_life": decay_terms.half_life(facts.kind),
        "patience": decay.patience(facts, decay_terms),
        "due_in_days": decay.days_until_due(policy, facts, now, decay_terms) if memory.archived_at is None else None,
        "feedback": feedback_counts,
        "effective_confidence": decay.effective_confidence(memory.confidence, feedback_counts, pinned=memory.pinned),
        "corrections": await corrections.of_memory(app.database, memory.id),
        "curve": curve(policy, facts, facts.alive_at, decay_terms),
        "below": decay_terms.below,
    }


def _recalled(facts: Facts, now: float, decay_terms: Terms) -> float:
    """Return a memory's retention (0 to 1), which determines its state; it does not depend on the archive policy."""
    return decay.assess(POLICIES["composite"], facts, now, decay_terms).value


def curve(policy: Policy, facts: Facts, begin: float, decay_terms: Terms) -> wire.Curve:
    """Return a memory's decay values if it is not used again, as (days after ``begin``, value)."""
    days = range(0, CURVE_DAYS + 1, 5)
    return [(day, decay.assess(policy, facts, begin + day * DAY, decay_terms).value) for day in days]
