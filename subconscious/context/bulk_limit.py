"""Protects against a clock that is wrong: upkeep that would change unusually much at once waits for confirmation.

A clock that jumps ten years ahead makes every memory old and every capture overdue. What happens rarely, and exactly
then, is that upkeep wants to archive or expire a large part of the store. It waits until three sessions have begun at
times that fit the clock as it is now. A clock that is right again brings the number down, and nothing has happened.
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
"""Rows that upkeep may always change at once: a person can look through them."""

SHARE = 0.1
"""Part of the whole that it may always change at once."""

SESSIONS = 3
"""Sessions that confirm the clock."""

RECENT = 7 * 86_400.0
"""Seconds for which a session confirms the clock: not those that began before it jumped."""


def is_bulk(affected: int, total: int) -> bool:
    """Whether this is more than upkeep usually has to do at once."""
    return affected > FEW and affected > SHARE * total


async def may_run(database: Database, name: str, affected: int, total: int) -> bool:
    """Return whether upkeep may change ``affected`` of ``total`` rows now; if not, record that it waits."""
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
        log.warning("upkeep (%s) would change %d of %d at once: it waits", name, affected, total)
    return runs


async def allow(database: Database) -> None:
    """A person lets what waits run."""
    async with database.write() as tx:
        await maintenance.allow_postponed(tx)
