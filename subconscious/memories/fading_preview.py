"""Previews which faded memories would be archived now and which next, and counts all memories by state."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from subconscious import decay
from subconscious.app import App
from subconscious.decay import DAY, POLICIES, Cohort, Facts, Member, Policy, Terms
from subconscious.memories.fading import curve, policy_of
from subconscious.store import fading, memories
from subconscious.wire import decay as wire
from subconscious.wire.fields import fields_of
from subconscious.wire.memories import memory_fields

MOST_EXAMINED = 8
"""How many memories are examined, at most, for each entry in the list of memories that fade next."""

VALID_FOR = 60.0
"""Seconds for which a preview is reused if the store does not change: memories age in days."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A preview of the archiving of faded memories.

    ``due`` are the most faded of the memories to archive now, ``total`` the number of all these. ``coming`` has
    the days until other memories are to be archived, by memory id, soonest first. ``active`` is the number of memories
    in use, ``states`` their number in each state.
    """

    due: Sequence[Member]
    total: int
    coming: dict[int, int]
    active: int
    states: dict[str, int]


class LatestStanding:
    """The latest preview with its parameters, kept because the web page requests the same preview repeatedly."""

    def __init__(self) -> None:
        self.key: tuple[Any, ...] = ()
        self.standing = Standing((), 0, {}, 0, {})


async def preview(app: App, project_id: str | None, now: float, limit: int) -> wire.Preview:
    """Return the memories that a run would archive now, with the reasons, and the states of all memories."""
    policy, terms = policy_of(app.recall_context().settings)
    standing = await _standing(app, project_id, now, limit)
    known = await memories.get_many(app.database, [one.id for one in standing.due] + list(standing.coming))
    return {
        "next": [
            {"memory": memory_fields(known[number]), "due_in_days": days}
            for number, days in standing.coming.items()
            if number in known
        ],
        "due": [
            {
                "memory": memory_fields(known[one.id]),
                "unused_days": max(0.0, (now - one.facts.alive_at) / DAY),
                **fields_of(wire.Verdict, one.verdict),
            }
            for one in standing.due
            if one.id in known
        ],
        "total": standing.total,
        "active": standing.active,
        "states": dict(standing.states),
        "curve": curve(policy, Facts("decision", now), now, terms),
    }


async def _standing(app: App, project_id: str | None, now: float, limit: int) -> Standing:
    """Return the preview; reuse the latest preview if it is recent and the store has not changed after it."""
    policy, terms = policy_of(app.recall_context().settings)
    latest: LatestStanding = app.services.setdefault(LatestStanding, LatestStanding())
    # The version is read before the facts: a change in between makes the next preview read again.
    key = (await app.database.version(), now // VALID_FOR, project_id, limit, policy, terms)
    if latest.key != key:
        cohorts = await fading.cohorts(app.database, project_id)
        standing = await asyncio.to_thread(stand, cohorts, policy, terms, now, limit)
        latest.key, latest.standing = key, standing
        return standing
    return latest.standing


def stand(cohorts: Sequence[Cohort], policy: Policy, terms: Terms, now: float, limit: int) -> Standing:
    """Return the preview for the memories of ``cohorts`` (groups of memories that differ only in their last use)."""
    due = [decay.count_due(policy, cohort, now, terms) for cohort in cohorts]
    lowest = merge(
        *(
            decay.in_order(policy, cohort, range(number), now, terms)
            for cohort, number in zip(cohorts, due, strict=True)
            if number
        ),
        key=itemgetter(0),
    )
    return Standing(
        [member for _, member in islice(lowest, limit)],
        sum(due),
        _coming(cohorts, due, policy, terms, now, limit),
        sum(len(cohort.members) for cohort in cohorts),
        # States don't depend on the policy of archiving.
        decay.count_states(POLICIES["composite"], cohorts, now, terms),
    )


def _coming(
    cohorts: Sequence[Cohort], due: Sequence[int], policy: Policy, terms: Terms, now: float, limit: int
) -> dict[int, int]:
    """Return the memories that become due next, by id, with the days until then, soonest first.

    Finding the exact day takes a search. So memories are examined in the order of the earliest day on which they can
    become due, until no other memory can become due earlier than those that were found.
    """
    rest = (
        decay.in_order(policy, cohort, range(number, len(cohort.members)), now, terms)
        for cohort, number in zip(cohorts, due, strict=True)
        if decay.can_decay(cohort.facts, terms)
    )
    coming: list[tuple[int, int]] = []
    for (earliest, *_), member in islice(merge(*rest, key=itemgetter(0)), limit * MOST_EXAMINED):
        if len(coming) >= limit and earliest > coming[limit - 1][0]:
            break
        days = decay.days_until_due(policy, member.facts, now, terms)
        if days is not None:
            insort(coming, (days, member.id))
    return {number: days for days, number in coming[:limit]}
