"""Protects against a wrong clock: maintenance that would change unusually many rows waits for confirmation.

A clock that jumps ten years ahead makes every memory old and every capture overdue. Maintenance rarely has to archive
or expire a large part of the store. If it has to, it first waits until three sessions have begun at times that agree
with the present clock. If the clock is corrected in this time, no row has been changed.
"""

from __future__ import annotations

import logging
from time import time

from subconscious.store import maintenance, sessions
from subconscious.store.connect import Database
from subconscious.store.maintenance import Postponed

log = logging.getLogger("subconscious.context")

DECAY = "decay"
REVIEW = "review"

FEW = 20
"""The number of rows that maintenance may always change at once: so few that a person can review them."""

SHARE = 0.1
"""The share (0 to 1) of all rows that maintenance may always change at once."""

SESSIONS = 3
"""The number of sessions that have to begin to confirm the clock."""

RECENT = 7 * 86_400.0
"""Only sessions of the last week (in seconds) confirm the clock; older ones may have begun before it jumped."""


def is_bulk(affected: int, total: int) -> bool:
    """Return whether ``affected`` rows are more than maintenance may always change at once."""
    return affected > FEW and affected > SHARE * total


async def may_run(database: Database, name: str, affected: int, total: int) -> bool:
    """Return whether maintenance may change ``affected`` of ``total`` rows now; if not, record that it waits."""
    found, now = await maintenance.get_postponed(database, name), time()
    if not is_bulk(affected, total):
        if found is not None:
            async with database.write() as tx:
                await maintenance.delete_postponed(tx, name)
        return True
    # A time ahead of now was written by a clock that has been set back since: the wait begins anew.
    since = found.since if found is not None and found.since <= now else now
    confirmed = await sessions.count_started(database, max(since, now - RECENT), now) >= SESSIONS
    runs = confirmed or (found is not None and found.allowed)
    new = Postponed(name, now if runs else since, affected, total, waits=not runs)
    if new != found:
        async with database.write() as tx:
            await maintenance.save_postponed(tx, new)
    if not runs and (found is None or not found.waits):
        log.warning(
            "maintenance (%s) waits: it would change %d of %d rows at once, perhaps because the system clock is wrong."
            " If the clock is right, run: subconscious maintenance run",
            name,
            affected,
            total,
        )
    return runs


async def allow(database: Database) -> None:
    """Allow postponed maintenance to run in spite of its size, because a person requested it."""
    async with database.write() as tx:
        await maintenance.allow_postponed(tx)
